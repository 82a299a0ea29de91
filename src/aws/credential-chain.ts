/** The places AWS programs look for credentials, in the order operators know. */
import type { Transport } from "../runtime/http.ts";
import { wholeAnswer } from "../runtime/whole-answer.ts";
import type { World } from "../runtime/world.ts";
import { type Credentials, CredentialsUnavailable } from "./credentials.ts";
import type { Metadata } from "./metadata.ts";
import { profileCredentials } from "./shared-files.ts";

export interface ChainOptions {
  readonly world: World;
  readonly transport: Transport;
  readonly metadata: Metadata;
  readonly assumeWithToken: (role: WebIdentityRole, signal: AbortSignal) => Promise<Credentials>;
}

export interface WebIdentityRole {
  readonly roleArn: string;
  readonly sessionName: string;
  readonly token: string;
}

type Place = readonly [name: string, look: (options: ChainOptions, signal: AbortSignal) => Promise<Credentials | undefined>];

const places: readonly Place[] = [
  ["AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", fromEnvironment],
  ["AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN", fromWebIdentity],
  ["the shared config and credentials files", ({ world }) => profileCredentials(world)],
  ["AWS_CONTAINER_CREDENTIALS_FULL_URI and _RELATIVE_URI", fromContainer],
  ["the instance's role", fromInstanceRole],
];

/** The first credentials found. A place that is set up but fails ends the search: going on would hide the mistake. */
export async function findCredentials(options: ChainOptions, signal: AbortSignal): Promise<Credentials> {
  for (const [name, look] of places) {
    try {
      const found = await look(options, signal);
      if (found !== undefined) return found;
    } catch (cause) {
      if (signal.aborted) throw cause;
      throw new CredentialsUnavailable(`cannot get AWS credentials from ${name}: ${(cause as Error).message}`, { cause });
    }
  }
  throw new CredentialsUnavailable(`no AWS credentials: looked for ${places.map(([name]) => name).join(", ")}`);
}

async function fromEnvironment({ world: { environment } }: ChainOptions): Promise<Credentials | undefined> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken } = environment;
  // A profile asked for by name is meant, even when keys lie around.
  if (environment.AWS_PROFILE || !accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
}

async function fromWebIdentity({ world, assumeWithToken }: ChainOptions, signal: AbortSignal): Promise<Credentials | undefined> {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: roleArn, AWS_ROLE_SESSION_NAME: name } = world.environment;
  if (!file || !roleArn) return undefined;
  const token = Buffer.from(await world.files.read(file))
    .toString("utf8")
    .trim();
  return assumeWithToken({ roleArn, token, sessionName: name || `fairlead-${world.clock.now()}` }, signal);
}

async function fromContainer({ world, transport }: ChainOptions, signal: AbortSignal): Promise<Credentials | undefined> {
  const { AWS_CONTAINER_CREDENTIALS_FULL_URI: full, AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative } = world.environment;
  if (!full && !relative) return undefined;
  const url = relative ? new URL(relative, "http://169.254.170.2") : new URL(full!);
  if (url.protocol !== "https:" && !containerHosts.test(url.hostname)) {
    throw new Error(`${url.origin} is neither HTTPS nor an address of this host: keys would travel in the clear`);
  }
  const { AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile, AWS_CONTAINER_AUTHORIZATION_TOKEN: token } = world.environment;
  const authorization = tokenFile
    ? Buffer.from(await world.files.read(tokenFile))
        .toString("utf8")
        .trim()
    : token;
  const limits = { clock: world.clock, limitMs: 5_000, what: `GET ${url.origin}`, signal };
  const answer = await wholeAnswer(transport, { method: "GET", url, headers: authorization ? { authorization } : {} }, limits);
  if (answer.status !== 200) throw new Error(`${url.origin} answered ${answer.status}`);
  return keysOf(answer.body);
}

const containerHosts = /^(localhost|127(\.\d+){3}|\[::1\]|169\.254\.170\.(2|23)|\[fd00:ec2::23\])$/;

async function fromInstanceRole({ metadata }: ChainOptions, signal: AbortSignal): Promise<Credentials | undefined> {
  const role = (await metadata.get("meta-data/iam/security-credentials/", signal))?.trim().split("\n")[0];
  if (!role) throw new Error("no role is attached to the instance");
  const keys = await metadata.get(`meta-data/iam/security-credentials/${role}`, signal);
  if (keys === undefined) throw new Error(`no keys for role ${role}`);
  return keysOf(keys);
}

/** The JSON that the container endpoint and the metadata service answer with. */
function keysOf(json: string): Credentials {
  let parsed: Partial<Record<"AccessKeyId" | "SecretAccessKey" | "Token" | "Expiration" | "Code", string>>;
  try {
    parsed = JSON.parse(json) as typeof parsed;
  } catch {
    // Without the parser's own words: they quote the text, which may hold keys.
    throw new Error("the answer is not valid JSON");
  }
  const { AccessKeyId, SecretAccessKey, Token, Expiration, Code } = parsed;
  if (!AccessKeyId || !SecretAccessKey) throw new Error(`the answer holds no keys (Code ${Code ?? "absent"})`);
  const expiresAt = Date.parse(Expiration ?? "");
  return {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    ...(Token ? { sessionToken: Token } : {}),
    ...(Number.isNaN(expiresAt) ? {} : { expiresAt }),
  };
}
