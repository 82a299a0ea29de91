/** What a CSI call is refused with. The codes decide what the sidecars do next, so they are chosen, never defaulted. */

/** The gRPC status codes in use. */
export const codes = {
  Canceled: 1,
  InvalidArgument: 3,
  DeadlineExceeded: 4,
  NotFound: 5,
  AlreadyExists: 6,
  PermissionDenied: 7,
  ResourceExhausted: 8,
  FailedPrecondition: 9,
  Aborted: 10,
  OutOfRange: 11,
  Unimplemented: 12,
  Internal: 13,
} as const;

export type CodeName = keyof typeof codes;

/** A refusal with its gRPC code and the text that ends up in an Event of the claim. */
export class CsiError extends Error {
  override readonly name = "CsiError";
  readonly code: CodeName;
  constructor(code: CodeName, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The caller's mistake: asking again will not help. */
export function invalidArgument(message: string): CsiError {
  return new CsiError("InvalidArgument", message);
}

/** What went wrong, in one line. */
export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The error under a heading, with its own code unless another one is named. */
export function wrapped(heading: string, error: unknown, code?: CodeName): CsiError {
  const own = error instanceof CsiError ? error.code : "Internal";
  return new CsiError(code ?? own, `${heading}: ${textOf(error)}`, { cause: error });
}
