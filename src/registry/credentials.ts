/**
 * The node's own AWS credentials, from the sources AWS's tools ask, in their order: environment, web identity, shared
 * profile, container endpoint, instance role. The first that is configured decides; its failure is not papered over by
 * the next.
 */
import type { Transport } from "../runtime/http.ts";
import type { World } from "../runtime/world.ts";
import { assumeRole } from "./assume-role.ts";
import type { Caller } from "./call.ts";
import { messageOf, PluginFailure } from "./errors.ts";
import { fetchText, type Metadata } from "./metadata.ts";
import { hasCredentials, type SharedProfile } from "./profile.ts";
import type { Credentials } from "./sign.ts";

export interface FoundCredentials {
  readonly credentials: Credentials;
  /** Where they came from, for the log. */
  readonly source: string;
}

export interface CredentialSources {
  readonly caller: Caller;
  /** Reaches this machine's own endpoints; never through a proxy. */
  readonly direct: Transport;
  readonly metadata: Metadata | undefined;
  readonly profile: SharedProfile;
  /** Where and in which region a role is assumed. */
  readonly sts: { readonly url: () => Promise<URL>; readonly region: () => Promise<string> };
}

/** The credentials of the first configured source. Throws `PluginFailure` that lists what was asked. */
export async function nodeCredentials(sources: CredentialSources): Promise<FoundCredentials> {
  const { environment } = sources.caller.world;
  if (environment.AWS_ACCESS_KEY_ID && environment.AWS_SECRET_ACCESS_KEY) {
    return {
      source: "environment",
      credentials: {
        accessKeyId: environment.AWS_ACCESS_KEY_ID,
        secretAccessKey: environment.AWS_SECRET_ACCESS_KEY,
        ...(environment.AWS_SESSION_TOKEN ? { sessionToken: environment.AWS_SESSION_TOKEN } : {}),
      },
    };
  }
  if (environment.AWS_WEB_IDENTITY_TOKEN_FILE && environment.AWS_ROLE_ARN) return await fromTokenFile(sources);
  if (hasCredentials(sources.profile)) {
    // SSO, chains of roles and external processes are the SDK's to know; it is loaded for whoever uses them.
    const { credentialsOfProfile } = await import("./shared-profile.ts");
    return await attempt(`profile ${sources.profile.name}`, () => credentialsOfProfile(sources));
  }
  const endpoint = containerEndpoint(environment);
  if (endpoint !== undefined) return await attempt("container endpoint", () => fromContainer(endpoint, sources));
  if (sources.metadata === undefined) throw noCredentials("the instance metadata service is switched off (AWS_EC2_METADATA_DISABLED)");
  return await fromInstanceRole(sources.metadata, sources.caller);
}

async function fromTokenFile({ caller, sts }: CredentialSources): Promise<FoundCredentials> {
  const { environment } = caller.world;
  const path = environment.AWS_WEB_IDENTITY_TOKEN_FILE!;
  const roleArn = environment.AWS_ROLE_ARN!;
  const token = await attempt("web identity", () => textFile(caller.world, path));
  const sessionName = environment.AWS_ROLE_SESSION_NAME || "ecr-credential-provider";
  return { source: `web identity ${roleArn}`, credentials: await assumeRole({ roleArn, sessionName, token }, await sts.url(), caller) };
}

interface ContainerEndpoint {
  readonly url: URL;
  /** Sent along only where it cannot leave the machine unencrypted. */
  readonly authorization: { readonly file?: string; readonly token?: string };
}

const containerHosts = ["localhost", "127.0.0.1", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"];

function containerEndpoint(environment: World["environment"]): ContainerEndpoint | undefined {
  const relative = environment.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI;
  const text = relative ? `http://169.254.170.2${relative}` : environment.AWS_CONTAINER_CREDENTIALS_FULL_URI;
  if (!text) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && !containerHosts.includes(url.hostname) && !url.hostname.startsWith("127."))) {
    throw noCredentials("AWS_CONTAINER_CREDENTIALS_FULL_URI must be https, or an address of this machine or its container agent");
  }
  const file = environment.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
  const token = environment.AWS_CONTAINER_AUTHORIZATION_TOKEN;
  return { url, authorization: { ...(file ? { file } : {}), ...(token ? { token } : {}) } };
}

async function fromContainer({ url, authorization }: ContainerEndpoint, { caller, direct }: CredentialSources): Promise<FoundCredentials> {
  const token = authorization.file === undefined ? authorization.token : (await textFile(caller.world, authorization.file)).trim();
  const send = url.protocol === "https:" ? caller.send : direct;
  const text = await fetchText(send, caller, "GET", url, token === undefined ? {} : { authorization: token }, "container endpoint");
  return { source: "container endpoint", credentials: readCredentials(text) };
}

async function fromInstanceRole(metadata: Metadata, caller: Caller): Promise<FoundCredentials> {
  const root = "/latest/meta-data/iam/security-credentials/";
  let role: string | undefined;
  try {
    role = (await metadata.get(root)).split("\n", 1)[0]?.trim();
    if (!role) throw new Error("the instance has no role");
    return { source: `instance role ${role}`, credentials: readCredentials(await metadata.get(root + encodeURIComponent(role))) };
  } catch (error) {
    if (caller.deadline.aborted) throw noCredentials(`no EC2 IMDS role found, the time limit ran out: ${messageOf(error)}`, error);
    const what = role ? `cannot read EC2 IMDS role ${role}` : "no EC2 IMDS role found";
    throw noCredentials(`${what}, ${messageOf(error)}`, error);
  }
}

/** The credentials document that the container endpoint and the metadata service share. */
function readCredentials(text: string): Credentials {
  let document: Readonly<Record<string, unknown>>;
  try {
    document = JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    throw new Error("the answer is not JSON");
  }
  const { Code: code, AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Token: sessionToken } = document ?? {};
  if (code !== undefined && code !== "Success") throw new Error(`the answer says ${String(code).slice(0, 100)}`);
  if (typeof accessKeyId !== "string" || typeof secretAccessKey !== "string") throw new Error("the answer holds no credentials");
  return { accessKeyId, secretAccessKey, ...(typeof sessionToken === "string" ? { sessionToken } : {}) };
}

async function textFile(world: World, path: string): Promise<string> {
  try {
    return Buffer.from(await world.files.read(path)).toString("utf8");
  } catch (cause) {
    throw new Error(`cannot read ${path}`, { cause });
  }
}

async function attempt<T>(source: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PluginFailure) throw error;
    throw noCredentials(`${source}: ${messageOf(error)}`, error);
  }
}

function noCredentials(detail: string, cause?: unknown): PluginFailure {
  return new PluginFailure("NoCredentials", `failed to refresh cached credentials, ${detail}`, {
    cause,
    hint: "Give the instance a role, or set credentials in the provider's env in kubelet's configuration.",
  });
}
