/** `~/.aws/credentials` and `~/.aws/config`: keys are read here; single sign-on, processes and role chains are the SDK's business. */
import { join } from "node:path";
import type { World } from "../runtime/world.ts";
import type { Credentials } from "./credentials.ts";

/** The credentials of the profile in use; undefined when there is no such profile and none was asked for by name. */
export async function profileCredentials(world: World): Promise<Credentials | undefined> {
  const { environment } = world;
  const home = environment.HOME ?? environment.USERPROFILE ?? "/";
  const name = environment.AWS_PROFILE || "default";
  const [keys, config] = await Promise.all([
    readSections(world, environment.AWS_SHARED_CREDENTIALS_FILE || join(home, ".aws", "credentials")),
    readSections(world, environment.AWS_CONFIG_FILE || join(home, ".aws", "config")),
  ]);
  const profile = { ...(config.get(`profile ${name}`) ?? config.get(name)), ...keys.get(name) };
  const { aws_access_key_id: accessKeyId, aws_secret_access_key: secretAccessKey, aws_session_token: sessionToken } = profile;
  if (accessKeyId && secretAccessKey && !profile.role_arn) {
    return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
  }
  if (indirect.some((key) => profile[key])) return fromSdk(name);
  if (environment.AWS_PROFILE) throw new Error(`profile ${name} does not exist or holds no credentials`);
  return undefined;
}

const indirect = ["role_arn", "sso_session", "sso_start_url", "credential_process", "web_identity_token_file", "login_session"];

async function fromSdk(profile: string): Promise<Credentials> {
  const { defaultProvider } = await import("@aws-sdk/credential-provider-node");
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = await defaultProvider({ profile, ec2MetadataV1Disabled: true })();
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    ...(expiration === undefined ? {} : { expiresAt: expiration.getTime() }),
  };
}

async function readSections(world: World, path: string): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  let content: string;
  try {
    content = Buffer.from(await world.files.read(path)).toString("utf8");
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return new Map();
    throw error;
  }
  const sections = new Map<string, Record<string, string>>();
  let section: Record<string, string> | undefined;
  for (const line of content.split(/\r?\n/)) {
    const header = /^\s*\[\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (header !== undefined) {
      section = sections.get(header) ?? {};
      sections.set(header, section);
      continue;
    }
    const [, key, value] = /^\s*([^#;=\s][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined && section !== undefined) section[key] = value;
  }
  return sections;
}
