/** What goes wrong with a call to AWS, said once: everybody else matches the class, never a string. */
import { messageOf } from "../runtime/message-of.ts";
import { type ServiceName, serviceFacts } from "./services.ts";

export type ErrorClass =
  | "not-found"
  | "throttled"
  | "denied"
  | "conflict"
  | "dependency"
  | "limit-exceeded"
  | "invalid"
  | "unsupported"
  | "transient"
  | "clock-skew"
  | "expired-credentials"
  | "credentials"
  | "unknown";

export interface Failure {
  readonly class: ErrorClass;
  /** AWS's own code, or the code of the socket error. */
  readonly code: string;
  readonly service: ServiceName;
  readonly action: string;
  readonly region: string;
  readonly message: string;
  readonly status?: number;
  readonly requestId?: string;
  /** For a denied call: what the policy has to allow. */
  readonly iamAction?: string;
  /** The call may have been carried out although no answer came: look before doing it again. */
  readonly mayHaveHappened?: boolean;
}

/** A call to AWS failed for good. The message says what was tried, what AWS said, and what to do about it. */
export class AwsError extends Error {
  override readonly name = "AwsError";
  readonly class: ErrorClass;
  readonly code: string;
  readonly service: ServiceName;
  readonly action: string;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly iamAction: string | undefined;
  readonly mayHaveHappened: boolean;
  /** What AWS said, without our words around it. */
  readonly detail: string;

  constructor(failure: Failure, options?: ErrorOptions) {
    super(sentence(failure), options);
    this.class = failure.class;
    this.code = failure.code;
    this.service = failure.service;
    this.action = failure.action;
    this.status = failure.status;
    this.requestId = failure.requestId;
    this.iamAction = failure.iamAction;
    this.mayHaveHappened = failure.mayHaveHappened ?? false;
    this.detail = failure.message;
  }
}

/** Whether it is an `AwsError`, of one of these classes if any are named. */
export function isAwsError(error: unknown, ...classes: readonly ErrorClass[]): error is AwsError {
  return error instanceof AwsError && (classes.length === 0 || classes.includes(error.class));
}

/** What counts as the same thing failing again: not the words, which carry times and request ids. */
export function causeOf(error: unknown): string {
  if (isAwsError(error)) return `${error.action} ${error.code}`;
  return messageOf(error);
}

/** The failed call behind an error, however it was wrapped. */
export function awsErrorIn(error: unknown): AwsError | undefined {
  for (let inner = error; inner instanceof Error; inner = inner.cause) if (isAwsError(inner)) return inner;
  return undefined;
}

/** What an error says, but for what differs at each try. */
export function sameFailure(error: unknown): string {
  const text = withoutRequestIds(messageOf(error));
  const aws = awsErrorIn(error);
  return aws === undefined ? text : text.replace(withoutRequestIds(aws.message), causeOf(aws));
}

/** A text of ours without the ids that no two tries have in common. */
export function withoutRequestIds(text: string): string {
  return text.replaceAll(/ \[request id [^\]]*\]/g, "");
}

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
  "not-found": ["InvalidInstance"],
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

const remedies: Readonly<Record<ErrorClass, string>> = {
  "not-found": "",
  throttled: "AWS limits how often this may be called; it is tried again more slowly",
  denied: "",
  conflict: "",
  dependency: "something else still uses it",
  "limit-exceeded": "ask AWS to raise the quota, or remove what is not needed",
  invalid: "",
  unsupported: "this region or resource does not offer it",
  transient: "it is tried again",
  "clock-skew": "this machine's clock is wrong: check its time synchronisation",
  "expired-credentials": "the credentials have expired and no newer ones could be obtained",
  credentials: "AWS does not accept the credentials: check the role or the keys this process is given",
  unknown: "",
};

function sentence(failure: Failure): string {
  const what = `${serviceFacts(failure.service).iam}:${failure.action} in ${failure.region}`;
  const remedy = remedyFor(failure);
  const uncertain = failure.mayHaveHappened ? "; it may have been carried out" : "";
  const id = failure.requestId === undefined ? "" : ` [request id ${failure.requestId}]`;
  return `${what}: ${failure.code}: ${failure.message}${uncertain}${remedy === "" ? "" : `; ${remedy}`}${id}`;
}

function remedyFor({ class: kind, code, message, iamAction }: Failure): string {
  if (kind === "denied") return `allow ${iamAction} in the policy of the role this process runs as`;
  if (code.startsWith("OperationNotPermitted") && /deletion protection/i.test(message)) return protectedFromDeletion;
  return remedies[kind];
}

const protectedFromDeletion =
  "deletion protection is switched on for it: switch it off (attribute deletion_protection.enabled=false) to have it deleted";
