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

const remedies: Readonly<Record<ErrorClass, string>> = {
  "not-found": "",
  throttled: "AWS limits how often this may be called; it is retried more slowly",
  denied: "",
  conflict: "",
  dependency: "something else still uses it",
  "limit-exceeded": "ask AWS to raise the quota, or remove what is not needed",
  invalid: "",
  unsupported: "this region or resource does not offer it",
  transient: "it is retried",
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
  "deletion protection is on for it: turn it off (attribute deletion_protection.enabled=false) to have it deleted";
