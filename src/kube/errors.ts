/** What can go wrong between us and the API server, classified once. Everybody else matches the class. */

/** The classes of refusal, and of silence. */
export type ApiErrorReason =
  | "bad-request"
  | "unauthorized"
  | "forbidden"
  | "not-found"
  | "not-allowed"
  | "already-exists"
  | "conflict"
  /** The resourceVersion or continue token asked for is no longer kept. */
  | "gone"
  | "too-large"
  | "unsupported-media-type"
  | "invalid"
  | "too-many-requests"
  | "internal"
  | "unavailable"
  /** The server, or we, stopped waiting. A write may or may not have happened. */
  | "timeout"
  /** No answer at all: refused, reset, name not resolved, certificate not trusted. */
  | "unreachable"
  | "unknown";

/** A field of the object that the server found wrong, or another detail of a refusal. */
export interface StatusCause {
  readonly reason?: string;
  readonly field?: string;
  readonly message?: string;
}

/** A request to the API server that did not succeed. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly reason: ApiErrorReason;
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** What was asked: `patch nodes/ip-10-0-0-1`. */
  readonly asked: string;
  /** The server's own words. */
  readonly said: string;
  readonly causes: readonly StatusCause[];
  readonly retryAfterMs: number | undefined;

  constructor(details: {
    readonly reason: ApiErrorReason;
    readonly status: number;
    readonly asked: string;
    readonly said: string;
    readonly causes?: readonly StatusCause[];
    readonly retryAfterMs?: number;
    readonly cause?: unknown;
  }) {
    const status = details.status === 0 ? "" : ` (${details.status})`;
    super(`${details.asked}: ${details.said}${status}`, details.cause === undefined ? undefined : { cause: details.cause });
    this.reason = details.reason;
    this.status = details.status;
    this.asked = details.asked;
    this.said = details.said;
    this.causes = details.causes ?? [];
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** Whether this is the API server's refusal for one of these reasons: `isApiError(error, "not-found", "gone")`. */
export function isApiError(error: unknown, ...reasons: readonly ApiErrorReason[]): error is ApiError {
  return error instanceof ApiError && (reasons.length === 0 || reasons.includes(error.reason));
}

/** The `Status` object the server sends with every refusal, as far as we read it. */
export interface Status {
  readonly kind?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly retryAfterSeconds?: number; readonly causes?: readonly StatusCause[] };
}

const bySaidReason: Readonly<Record<string, ApiErrorReason>> = {
  BadRequest: "bad-request",
  Unauthorized: "unauthorized",
  Forbidden: "forbidden",
  NotFound: "not-found",
  MethodNotAllowed: "not-allowed",
  NotAcceptable: "unsupported-media-type",
  AlreadyExists: "already-exists",
  Conflict: "conflict",
  Gone: "gone",
  Expired: "gone",
  RequestEntityTooLarge: "too-large",
  UnsupportedMediaType: "unsupported-media-type",
  Invalid: "invalid",
  TooManyRequests: "too-many-requests",
  InternalError: "internal",
  ServiceUnavailable: "unavailable",
  Timeout: "timeout",
  ServerTimeout: "timeout",
};

const byStatus: Readonly<Record<number, ApiErrorReason>> = {
  400: "bad-request",
  401: "unauthorized",
  403: "forbidden",
  404: "not-found",
  405: "not-allowed",
  406: "unsupported-media-type",
  409: "conflict",
  410: "gone",
  413: "too-large",
  415: "unsupported-media-type",
  422: "invalid",
  429: "too-many-requests",
  500: "internal",
  502: "unavailable",
  503: "unavailable",
  504: "timeout",
};

function said(reason: string | undefined): ApiErrorReason | undefined {
  return reason !== undefined && Object.hasOwn(bySaidReason, reason) ? bySaidReason[reason] : undefined;
}

/** The error of a `Status`, whether it came as an HTTP answer or inside a watch. */
export function statusError(asked: string, httpStatus: number, status: Status, retryAfterMs?: number): ApiError {
  const inDetails = status.details?.retryAfterSeconds;
  return new ApiError({
    reason: said(status.reason) ?? byStatus[httpStatus] ?? "unknown",
    status: httpStatus,
    asked,
    said: status.message ?? status.reason ?? "no reason given",
    causes: status.details?.causes,
    retryAfterMs: retryAfterMs ?? (inDetails ? inDetails * 1000 : undefined),
  });
}

/** The error of an HTTP answer that is not a success; its body may be a `Status`, plain text, or a proxy's page. */
export function answerError(asked: string, httpStatus: number, headers: Readonly<Record<string, string>>, body: string): ApiError {
  const seconds = Number(headers["retry-after"]);
  return statusError(asked, httpStatus, parsedStatus(body), Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined);
}

function parsedStatus(body: string): Status {
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === "object" && parsed !== null && (parsed as Status).kind === "Status") return parsed as Status;
  } catch {
    // Not from the API server itself: its text is all there is.
  }
  const text = body.trim().replace(/\s+/g, " ");
  return { message: text === "" ? "no reason given" : text.slice(0, 300) };
}
