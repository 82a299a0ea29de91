/** What came of a test, as the runner tells it. */

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
