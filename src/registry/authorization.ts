/** `GetAuthorizationToken`, private and public: the call that turns AWS credentials into a registry login. */
import { type AwsAnswer, AwsRefusal, type Caller, callAws } from "./call.ts";
import { PluginFailure } from "./errors.ts";
import { type Credentials, signed } from "./sign.ts";

export interface AuthorizationToken {
  readonly token: string;
  /** Seconds since the epoch. */
  readonly expiresAt: number | undefined;
  readonly requestId: string;
  readonly attempts: number;
}

export interface RegistryApi {
  readonly kind: "private" | "public";
  readonly url: URL;
  readonly region: string;
}

const facts = {
  private: {
    service: "ecr",
    target: "AmazonEC2ContainerRegistry_V20150921",
    operation: "ECR: GetAuthorizationToken",
    action: "ecr:GetAuthorizationToken",
  },
  public: {
    service: "ecr-public",
    target: "SpencerFrontendService",
    operation: "ECR PUBLIC: GetAuthorizationToken",
    action: "ecr-public:GetAuthorizationToken and sts:GetServiceBearerToken",
  },
} as const;

/** Asks ECR for a token on behalf of the owner of these credentials. */
export async function getAuthorizationToken(api: RegistryApi, credentials: Credentials, caller: Caller): Promise<AuthorizationToken> {
  const { service, target, operation } = facts[api.kind];
  const body = "{}";
  const headers = { "content-type": "application/x-amz-json-1.1", "x-amz-target": `${target}.GetAuthorizationToken` };
  const answer = await callAws(
    {
      operation,
      url: api.url,
      body,
      headers: (nowMs) => signed(api.url, headers, body, credentials, { service, region: api.region }, nowMs, caller.platform.hashing),
      readError: jsonError,
    },
    caller,
  ).catch((error: unknown) => {
    throw withHint(error, api.kind);
  });
  return readAnswer(answer, api.kind);
}

/** How errors of the call are headed; credentials are fetched on its behalf, so their errors are too. */
export function operationOf(kind: RegistryApi["kind"]): string {
  return facts[kind].operation;
}

function readAnswer(answer: AwsAnswer, kind: RegistryApi["kind"]): AuthorizationToken {
  const bad = (message: string) => new PluginFailure("BadAnswer", message);
  let document: unknown;
  try {
    document = JSON.parse(answer.body);
  } catch {
    throw bad(`operation error ${facts[kind].operation}, deserialization failed, RequestID: ${answer.requestId}: the answer is not JSON`);
  }
  if (document === null || typeof document !== "object" || Array.isArray(document)) throw bad("response output from ECR was nil");
  const data = (document as { readonly authorizationData?: unknown }).authorizationData;
  const first: unknown = kind === "private" && Array.isArray(data) ? data[0] : kind === "public" && !Array.isArray(data) ? data : undefined;
  if (first === undefined || first === null || typeof first !== "object") throw bad("authorization data was empty");
  const { authorizationToken: token, expiresAt } = first as { readonly authorizationToken?: unknown; readonly expiresAt?: unknown };
  if (token === undefined || token === null) throw bad("authorization token in response was nil");
  if (typeof token !== "string") throw bad("deserialization failed: authorizationToken must be a string");
  if (expiresAt !== undefined && expiresAt !== null && typeof expiresAt !== "number") {
    throw bad("deserialization failed: expiresAt must be a number of seconds");
  }
  return { token, expiresAt: expiresAt ?? undefined, requestId: answer.requestId, attempts: answer.attempts };
}

/** The error of an answer in AWS's JSON protocol. */
export function jsonError(body: string, headers: Readonly<Record<string, string>>): { readonly code: string; readonly message: string } {
  let document: Readonly<Record<string, unknown>> = {};
  try {
    const parsed: unknown = JSON.parse(body);
    if (parsed !== null && typeof parsed === "object") document = parsed as Readonly<Record<string, unknown>>;
  } catch {
    // A proxy's error page, perhaps. The status says enough, and what the page holds is nobody's business.
  }
  const name = headers["x-amzn-errortype"] ?? document.__type ?? document.code ?? "UnknownError";
  const code = String(name).replace(/^.*#/, "").replace(/:.*$/, "").slice(0, 100);
  const message = document.message ?? document.Message;
  return { code, message: typeof message === "string" ? message : "no message" };
}

function withHint(error: unknown, kind: RegistryApi["kind"]): unknown {
  const cause = error instanceof PluginFailure ? error.cause : undefined;
  if (!(error instanceof PluginFailure) || !(cause instanceof AwsRefusal) || !cause.code.includes("AccessDenied")) return error;
  // AWS names the one it missed, as a rule: the public login takes two.
  const missed = /perform:? ([a-z0-9-]+:\w+)/.exec(cause.message)?.[1] ?? facts[kind].action;
  return new PluginFailure(error.code, error.message, {
    cause,
    hint: `Allow ${missed} to the role these credentials belong to.`,
  });
}
