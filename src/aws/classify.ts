/** From whatever an attempt at a call threw to its class: AWS's codes and those of sockets, in one table. */
import { AwsError, type ErrorClass } from "./errors.ts";
import { type ServiceName, serviceFacts } from "./services.ts";

/** What the call was and what came back, as far as anything did. */
export interface Attempted {
  readonly service: ServiceName;
  readonly action: string;
  readonly region: string;
  readonly writes: boolean;
  /** Whether the request had been handed to the network. */
  readonly sent: boolean;
  /** How far AWS's clock is ahead of the one the request was signed with, if its answer told. */
  readonly skewMs?: number;
}

/** Turns whatever an attempt threw into an `AwsError`. */
export function classify(error: unknown, attempted: Attempted): AwsError {
  if (error instanceof AwsError) return error;
  const raw = error as RawError;
  const code = codeOf(raw);
  const status = raw.$metadata?.httpStatusCode;
  const kind = classOf(code, status, raw.message ?? "", attempted.skewMs);
  const message = withoutSecrets(raw.message || code);
  return new AwsError(
    {
      class: kind,
      code,
      service: attempted.service,
      action: attempted.action,
      region: attempted.region,
      message,
      ...(status === undefined ? {} : { status }),
      ...(raw.$metadata?.requestId === undefined ? {} : { requestId: raw.$metadata.requestId }),
      ...(kind === "denied" ? { iamAction: iamActionOf(message, attempted) } : {}),
      mayHaveHappened: attempted.writes && attempted.sent && kind === "transient" && !neverArrived.has(code),
    },
    { cause: withoutBody(raw) },
  );
}

interface RawError {
  readonly name?: string;
  readonly code?: string;
  readonly Code?: string;
  readonly message?: string;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
}

const neverArrived: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "PROXY_REFUSED",
]);

const classes: Readonly<Partial<Record<ErrorClass, readonly string[]>>> = {
  throttled: [
    "Throttling",
    "ThrottlingException",
    "ThrottledException",
    "RequestThrottledException",
    "RequestThrottled",
    "TooManyRequestsException",
    "RequestLimitExceeded",
    "BandwidthLimitExceeded",
    "SlowDown",
    "PriorRequestNotComplete",
    "EC2ThrottledException",
    "TransactionInProgressException",
    "DependencyThrottle",
    "ProvisionedThroughputExceededException",
  ],
  denied: ["UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "OptInRequired", "Blocked"],
  credentials: [
    "AuthFailure",
    "InvalidClientTokenId",
    "UnrecognizedClientException",
    "SignatureDoesNotMatch",
    "InvalidSignatureException",
    "IncompleteSignature",
    "MissingAuthenticationToken",
    "InvalidIdentityToken",
    "CredentialsUnavailable",
  ],
  "expired-credentials": ["ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"],
  "clock-skew": ["RequestTimeTooSkewed", "RequestInTheFuture"],
  transient: [
    "InternalError",
    "InternalFailure",
    "InternalServerError",
    "ServiceUnavailable",
    "ServiceUnavailableException",
    "Unavailable",
    "RequestTimeout",
    "RequestTimeoutException",
    "IDPCommunicationError",
    "ServerException",
    "TimedOut",
    "AbortError",
    "ECONNRESET",
    "EPIPE",
    "ETIMEDOUT",
    "UND_ERR_SOCKET",
    "UND_ERR_HEADERS_TIMEOUT",
    "UND_ERR_BODY_TIMEOUT",
    "ScanFailed",
    ...neverArrived,
  ],
  conflict: [
    "ResourceAlreadyAssociated",
    "IncorrectState",
    "IncorrectInstanceState",
    "IdempotentParameterMismatch",
    // The state of the thing forbids it, whoever asks: deletion protection, an attachment that AWS manages.
    "OperationNotPermitted",
    "OperationNotPermittedException",
  ],
  dependency: ["DependencyViolation"],
  unsupported: ["UnsupportedOperation", "Unsupported", "UnsupportedOperationException", "UnknownOperationException", "InvalidAction"],
  "limit-exceeded": [
    "LimitExceededException",
    "ResourceLimitExceeded",
    "InsufficientFreeAddressesInSubnet",
    "InsufficientInstanceCapacity",
  ],
  "not-found": ["InvalidInstance", "WAFNonexistentItemException"],
};

const classByCode: ReadonlyMap<string, ErrorClass> = new Map(
  Object.entries(classes).flatMap(([kind, codes]) => codes.map((code) => [code, kind as ErrorClass] as const)),
);

/** Families of codes, tried in order when the code itself is not listed. */
const classByPattern: readonly (readonly [RegExp, ErrorClass])[] = [
  [/NotFound(Exception|Fault)?$|\.Unknown$|NoSuch/, "not-found"],
  [/Duplicate|AlreadyExists|InUse/, "conflict"],
  [/LimitExceeded|QuotaExceeded|^TooMany/, "limit-exceeded"],
  [/Malformed|^Invalid|^Missing|^Validation|^Unknown|Combination|Conflict/, "invalid"],
];

function classOf(code: string, status: number | undefined, message: string, skewMs: number | undefined): ErrorClass {
  const kind = classByCode.get(code) ?? classByPattern.find(([pattern]) => pattern.test(code))?.[1];
  if (kind === "credentials" || kind === "expired-credentials") {
    // AWS answers a wrongly dated signature with any of these codes; its own clock tells which it was.
    const skewed = Math.abs(skewMs ?? 0) > 4 * 60_000 || /signature (expired|not yet current)/i.test(message);
    return skewed ? "clock-skew" : kind;
  }
  if (kind !== undefined) return kind;
  if (status === 429) return "throttled";
  if (status !== undefined && status >= 500) return "transient";
  return "unknown";
}

function codeOf(raw: RawError): string {
  if (typeof raw.Code === "string") return raw.Code;
  if (typeof raw.code === "string") return raw.code;
  return raw.name ?? "Error";
}

/** AWS names the action it missed, which may be another than the one called (tags on create); else it is the one called. */
function iamActionOf(message: string, attempted: Attempted): string {
  const named = /(?:perform:?|for action:?)\s+([a-z0-9-]+:[A-Za-z]+)/.exec(message)?.[1];
  return named ?? `${serviceFacts(attempted.service).iam}:${attempted.action}`;
}

/**
 * A refused signature is answered with the canonical request, session token included; a refused call with an encoded
 * copy of the policies. Neither belongs in a log.
 */
function withoutSecrets(message: string): string {
  return message
    .replace(/\s*(The Canonical String|Encoded authorization failure message:).*$/s, "")
    .replace(/\n.*$/s, "")
    .slice(0, 1000);
}

/** The original, without the parts that may hold an answer's body or a request's headers. */
function withoutBody(raw: RawError): Error | undefined {
  return raw instanceof Error && !("$metadata" in raw) ? raw : undefined;
}
