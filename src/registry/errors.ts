/** Why the plugin could not answer. Every message is fit for the kubelet's log: no token, key or password is ever in one. */
import { messageOf } from "../runtime/message-of.ts";

/** A stable name for each kind of failure, for machines that read the log. */
export type FailureCode =
  | "BadArguments"
  | "BadSettings"
  | "BadRequest"
  | "BadImage"
  | "BadRole"
  | "NoRegion"
  | "NoCredentials"
  | "AssumeRoleFailed"
  | "CallFailed"
  | "BadAnswer"
  | "DeadlineExceeded"
  | "Unexpected";

export class PluginFailure extends Error {
  override readonly name = "PluginFailure";
  readonly code: FailureCode;
  /** What the operator can do about it. */
  readonly hint: string | undefined;
  constructor(code: FailureCode, message: string, options: { readonly cause?: unknown; readonly hint?: string } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
  }
}

/** The failure as it is, or wrapped when it is one nobody foresaw. */
export function asFailure(error: unknown): PluginFailure {
  if (error instanceof PluginFailure) return error;
  return new PluginFailure("Unexpected", messageOf(error), { cause: error });
}

/** Text from outside made fit for one log line. */
export function oneLine(text: string, limit = 500): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not reach a log.
  const line = text.replace(/[\s\x00-\x1f\x7f]+/g, " ").trim();
  return line.length > limit ? `${line.slice(0, limit)}…` : line;
}
