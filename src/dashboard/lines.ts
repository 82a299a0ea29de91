/** What the page shows of a process's log: not the fields, which may be long, but the reason or the error in them. */
import type { RecentLine } from "../runtime/recent-lines.ts";

export interface ShownLine extends Omit<RecentLine, "fields"> {
  /** Why it was done, or what went wrong. */
  readonly why: string;
}

const longest = 1_000;

export function shownLine({ id, at, level, message, fields }: RecentLine): ShownLine {
  return { id, at, level, message: message.slice(0, longest), why: textOf(fields.why ?? fields.error ?? "").slice(0, longest) };
}

function textOf(value: unknown): string {
  if (typeof value === "object" && value !== null) return "message" in value ? String(value.message) : JSON.stringify(value);
  return String(value);
}
