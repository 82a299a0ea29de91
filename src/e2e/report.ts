/** The report of a run, to be attached to an issue: it names no account, and no secrets. */
import { redactLines } from "../runtime/redact.ts";
import { notIncluded } from "./cases.ts";
import type { Report } from "./run.ts";

export interface About {
  readonly version: string;
  readonly commit: string;
  /** Version of the API server. */
  readonly server: string;
  readonly region: string;
}

/** The report in the form that is asked for. What AWS refused and what is left carries ARNs, and so the account's number. */
export function printedReport(report: Report, about: About, form: "text" | "json"): string {
  const text = form === "json" ? `${JSON.stringify({ ...about, ...report }, undefined, 2)}\n` : reportText(report, about);
  return redactLines(text.replaceAll(/\b\d{12}\b/g, "<account>"));
}

function reportText({ run, outcomes, warnings, denied, left }: Report, { version, commit, server, region }: About): string {
  const count = (result: string) => outcomes.filter((outcome) => outcome.result === result).length;
  const rows = outcomes.map(
    ({ name, result, seconds, why, checks }) => `| ${[name, result, `${seconds} s`, why || checks].map(cell).join(" | ")} |`,
  );
  return [
    `# fairlead e2e, run ${run}`,
    "",
    `Fairlead ${version} (${commit}), Kubernetes ${server}, ${region}.`,
    `${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped.`,
    "",
    "| Case | Result | Time | |",
    "|---|---|---|---|",
    ...rows,
    "",
    ...section("Denied by AWS", denied, (action) => `${action}: see docs/reference/permissions.md, or run \`fairlead doctor\``),
    ...section("Warnings of the controllers", warnings),
    ...section(
      "Not included",
      Object.entries(notIncluded).map(([name, why]) => `${name}: ${why}`),
    ),
    left.length === 0 ? "Nothing is left of this run." : "## LEFT BEHIND: please remove it",
    ...left.map((what) => `- ${what}`),
    "",
  ].join("\n");
}

function section(title: string, lines: readonly string[], text: (line: string) => string = (line) => line): readonly string[] {
  return lines.length === 0 ? [] : [`## ${title}`, "", ...lines.map((line) => `- ${text(line)}`), ""];
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
