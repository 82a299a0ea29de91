/** The commit that something is built from. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

export interface Stamp {
  readonly commit: string;
  /** When the commit was made, ISO 8601: what stands for "now" in whatever is built, so that the same sources give the same bytes. */
  readonly date: string;
}

/** That of the repository; "unknown" outside of git. */
export function stamp(): Stamp {
  const git = (...args: readonly string[]) => execFileSync("git", ["-C", root, ...args], { encoding: "utf8" }).trim();
  try {
    return { commit: git("rev-parse", "HEAD"), date: new Date(git("log", "-1", "--format=%cI")).toISOString() };
  } catch {
    return { commit: "unknown", date: new Date(0).toISOString() };
  }
}

/** Seconds since 1970 of a stamp, as tar and buildah want it. */
export function epochOf({ date }: Stamp): number {
  return Math.floor(Date.parse(date) / 1000);
}
