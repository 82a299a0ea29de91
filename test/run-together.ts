/**
 * Runs the given test files in this one process and tells its parent what came of each test. A process a file costs more
 * than most unit tests do; those that touch nothing outside of them can share one.
 */
import { run } from "node:test";

export interface Outcome {
  readonly kind: "pass" | "fail" | "skip";
  readonly name: string;
  readonly where: string;
  /** How long it took. */
  readonly ms: number;
  /** Why it failed or was skipped. */
  readonly why?: string;
}

/** What a test event says, or undefined for what is no test. A file that fails with its tests is not counted again. */
export function outcomeOf(kind: "pass" | "fail", data: TestEvent, files: readonly string[]): Outcome | undefined {
  if (data.details.type === "suite") return undefined;
  const isFile = data.nesting === 0 && files.some((file) => data.name.endsWith(file));
  const { name } = data;
  const where = `${data.file ?? "?"}:${data.line ?? "?"}`;
  const ms = data.details.duration_ms ?? 0;
  if (kind === "pass") {
    if (isFile) return undefined;
    if (data.skip === undefined) return { kind, name, where, ms };
    return { kind: "skip", name, where, ms, why: typeof data.skip === "string" && data.skip !== "" ? data.skip : "no reason given" };
  }
  const error = data.details.error;
  if (isFile && error?.failureType === "subtestsFailed") return undefined;
  const cause: unknown = error?.cause ?? error;
  return { kind, name, where, ms, why: cause instanceof Error ? (cause.stack ?? String(cause)) : String(cause) };
}

/** As much of the test runner's events as is read here. */
export interface TestEvent {
  readonly name: string;
  readonly nesting: number;
  readonly file?: string;
  readonly line?: number;
  readonly skip?: string | boolean;
  readonly details: { readonly type?: string; readonly duration_ms?: number; readonly error?: Error & { readonly failureType?: string } };
}

if (import.meta.main) {
  const files = process.argv.slice(2);
  const events = run({ files, isolation: "none" });
  const tell = (outcome: Outcome | undefined) => outcome && process.send?.(outcome);
  events.on("test:pass", (data) => tell(outcomeOf("pass", data as TestEvent, files)));
  events.on("test:fail", (data) => tell(outcomeOf("fail", data as TestEvent, files)));
  for await (const _ of events);
  // What failed has been told; any other status than 0 now means that this process did not come to its end.
  process.exitCode = 0;
  process.disconnect?.();
}
