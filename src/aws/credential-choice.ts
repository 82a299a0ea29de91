/**
 * Which of the places credentials can come from is used: the default chain of AWS's SDK for Go, for every program of ours.
 *
 *     AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY      keys
 *     AWS_WEB_IDENTITY_TOKEN_FILE                      web identity
 *     the profile says where they come from            that, alone
 *     AWS_CONTAINER_CREDENTIALS_RELATIVE_URI           container
 *     AWS_CONTAINER_CREDENTIALS_FULL_URI               container
 *     nothing of this                                  the instance's role
 *
 * The first that is set up decides: its failure is never papered over by a later one, which may be somebody else's.
 * Loads nothing: the credential provider starts with it.
 */
import type { Credentials } from "./credentials.ts";
import type { SharedProfile } from "./shared-profile.ts";

export type CredentialChoice =
  | { readonly kind: "keys"; readonly source: string; readonly credentials: Credentials }
  | { readonly kind: "web-identity"; readonly tokenFile: string; readonly roleArn: string; readonly sessionName: string | undefined }
  | { readonly kind: "profile"; readonly profile: SharedProfile }
  | { readonly kind: "container"; readonly url: URL; readonly token: string | undefined; readonly tokenFile: string | undefined }
  | { readonly kind: "instance-role" };

/** The place that the environment and the profile in use choose. Throws where what they say cannot work. */
export function chooseCredentials(environment: Readonly<Record<string, string | undefined>>, profile: SharedProfile): CredentialChoice {
  const own = keys(
    environment.AWS_ACCESS_KEY_ID || environment.AWS_ACCESS_KEY,
    environment.AWS_SECRET_ACCESS_KEY || environment.AWS_SECRET_KEY,
    environment.AWS_SESSION_TOKEN,
  );
  if (own !== undefined) return { kind: "keys", source: "environment", credentials: own };
  const tokenFile = environment.AWS_WEB_IDENTITY_TOKEN_FILE;
  if (tokenFile) {
    const roleArn = environment.AWS_ROLE_ARN;
    if (!roleArn) throw new Error("AWS_WEB_IDENTITY_TOKEN_FILE is set and AWS_ROLE_ARN is not");
    return { kind: "web-identity", tokenFile, roleArn, sessionName: environment.AWS_ROLE_SESSION_NAME };
  }
  return ofProfile(profile) ?? ofContainer(environment) ?? { kind: "instance-role" };
}

/** Settings that make a profile a source of credentials, beside keys of its own. */
const indirect = [
  "role_arn",
  "source_profile",
  "credential_source",
  "credential_process",
  "web_identity_token_file",
  "sso_session",
  "sso_start_url",
  "sso_account_id",
  "sso_region",
  "sso_role_name",
  "login_session",
];

function ofProfile(profile: SharedProfile): CredentialChoice | undefined {
  const { values, name } = profile;
  const own = keys(values.aws_access_key_id, values.aws_secret_access_key, values.aws_session_token);
  if (own !== undefined && values.role_arn === undefined) return { kind: "keys", source: `profile ${name}`, credentials: own };
  const assumable = values.source_profile ?? values.credential_source ?? (own === undefined ? values.web_identity_token_file : undefined);
  if (values.role_arn !== undefined && assumable === undefined) {
    throw new Error(`profile ${name} names a role and nothing to assume it with: add source_profile or credential_source`);
  }
  return indirect.some((key) => values[key] !== undefined) ? { kind: "profile", profile } : undefined;
}

const agents = /^(localhost|127(\.\d+){3}|\[::1\]|169\.254\.170\.(2|23)|\[fd00:ec2::23\])$/;

function ofContainer(environment: Readonly<Record<string, string | undefined>>): CredentialChoice | undefined {
  const relative = environment.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI;
  const text = relative ? `http://169.254.170.2${relative}` : environment.AWS_CONTAINER_CREDENTIALS_FULL_URI;
  if (!text) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && !agents.test(url.hostname))) {
    throw new Error(
      "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither HTTPS nor an address of this host or its container agent: keys would travel in the clear",
    );
  }
  const { AWS_CONTAINER_AUTHORIZATION_TOKEN: token, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile } = environment;
  return { kind: "container", url, token: token || undefined, tokenFile: tokenFile || undefined };
}

function keys(accessKeyId?: string, secretAccessKey?: string, sessionToken?: string): Credentials | undefined {
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
}

/** The keys in the document that the container endpoint and the metadata service answer with. */
export function keysOfDocument(json: string): Credentials {
  let document: Readonly<Record<string, unknown>>;
  try {
    document = JSON.parse(json) as Readonly<Record<string, unknown>>;
  } catch {
    // Without the parser's own words: they quote the text, which may hold keys.
    throw new Error("the answer is not JSON");
  }
  const { Code: code, AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration: expiration } = document ?? {};
  if (code !== undefined && code !== "Success") throw new Error(`the answer says ${String(code).slice(0, 100)}`);
  if (typeof id !== "string" || typeof secret !== "string") throw new Error("the answer holds no credentials");
  const expiresAt = Date.parse(typeof expiration === "string" ? expiration : "");
  return {
    accessKeyId: id,
    secretAccessKey: secret,
    ...(typeof token === "string" && token !== "" ? { sessionToken: token } : {}),
    ...(Number.isNaN(expiresAt) ? {} : { expiresAt }),
  };
}
