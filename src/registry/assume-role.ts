/** `AssumeRoleWithWebIdentity`: a pod's token, or a token file, for the credentials of a role. The call is not signed. */
import { messageOf } from "../runtime/message-of.ts";
import { AwsRefusal, type Caller, callAws } from "./call.ts";
import { PluginFailure } from "./errors.ts";
import type { Credentials } from "./sign.ts";

export interface WebIdentity {
  readonly roleArn: string;
  readonly sessionName: string;
  readonly token: string;
}

/** The credentials of the role. Fails closed: whoever asked for a role never gets another's credentials from here. */
export async function assumeRole(identity: WebIdentity, url: URL, caller: Caller): Promise<Credentials> {
  const body = new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: identity.roleArn,
    RoleSessionName: identity.sessionName,
    WebIdentityToken: identity.token,
  }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded", host: url.host };
  try {
    const { body: answer } = await callAws(
      { operation: "STS: AssumeRoleWithWebIdentity", url, body, headers: () => headers, readError: xmlError },
      caller,
    );
    return readCredentials(answer);
  } catch (error) {
    const code = error instanceof PluginFailure && error.code === "DeadlineExceeded" ? error.code : "AssumeRoleFailed";
    throw new PluginFailure(code, `failed to assume role: ${messageOf(error)}`, { cause: error, hint: hintFor(error, identity.roleArn) });
  }
}

function readCredentials(xml: string): Credentials {
  const block = element(xml, "Credentials") ?? "";
  const [accessKeyId, secretAccessKey, sessionToken] = ["AccessKeyId", "SecretAccessKey", "SessionToken"].map((name) =>
    element(block, name),
  );
  if (!accessKeyId || !secretAccessKey || !sessionToken) {
    throw new PluginFailure("BadAnswer", "operation error STS: AssumeRoleWithWebIdentity, the answer holds no credentials");
  }
  return { accessKeyId, secretAccessKey, sessionToken };
}

function xmlError(body: string): { readonly code: string; readonly message: string } {
  const error = element(body, "Error") ?? "";
  return { code: element(error, "Code") ?? "UnknownError", message: element(error, "Message") ?? "no message" };
}

/** The text of the first element of this name. STS's answers are flat and without attributes; no parser is needed for them. */
function element(xml: string, name: string): string | undefined {
  const start = xml.indexOf(`<${name}>`);
  const end = xml.indexOf(`</${name}>`, start);
  if (start < 0 || end < 0) return undefined;
  const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
  const text = xml.slice(start + name.length + 2, end).trim();
  return text.includes("<") ? text : text.replace(/&(lt|gt|amp|quot|apos);/g, (_, entity: string) => entities[entity]!);
}

function hintFor(error: unknown, roleArn: string): string {
  const cause = error instanceof PluginFailure ? error.cause : undefined;
  const code = cause instanceof AwsRefusal ? cause.code : "";
  if (code === "InvalidIdentityToken") return "Is the cluster's issuer registered as an OIDC provider in IAM, with the token's audience?";
  if (code === "ExpiredTokenException") return "The pod's token has expired; kubelet sends a fresh one with the next pull.";
  return `The trust policy of ${roleArn} must allow sts:AssumeRoleWithWebIdentity to this service account.`;
}
