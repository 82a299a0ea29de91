/** Findings as a person and as a program read them. */
import type { Finding, Level } from "./finding.ts";

/** A table; each remedy on a line of its own below what it mends. */
export function asTable(findings: readonly Finding[]): string {
  const width = Math.max("CHECK".length, ...findings.map(({ check }) => check.length)) + 2;
  const row = (check: string, status: string, what: string) => `${check.padEnd(width)}${status.padEnd(9)}${what}\n`;
  const rows = findings.map(
    ({ check, level, what, remedy }) => row(check, level, what) + (remedy ? `${" ".repeat(width + 9)}→ ${remedy}\n` : ""),
  );
  return `${row("CHECK", "STATUS", "WHAT")}${rows.join("")}\n${summary(findings)}\n`;
}

/** One JSON object: the counts, and the findings as they are. */
export function asJson(findings: readonly Finding[]): string {
  const counts = { ok: count(findings, "ok"), warning: count(findings, "warning"), problem: count(findings, "problem") };
  return `${JSON.stringify({ counts, findings }, undefined, 2)}\n`;
}

function summary(findings: readonly Finding[]): string {
  const [problems, warnings] = [count(findings, "problem"), count(findings, "warning")];
  if (problems + warnings === 0) return "All is well.";
  return [problems > 0 ? plural(problems, "problem") : "", warnings > 0 ? plural(warnings, "warning") : ""].filter(Boolean).join(", ");
}

function plural(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}

function count(findings: readonly Finding[], level: Level): number {
  return findings.filter((finding) => finding.level === level).length;
}
