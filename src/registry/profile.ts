/** The settings of one profile of the AWS configuration files. */
import type { World } from "../runtime/world.ts";
import { PluginFailure } from "./errors.ts";

export interface SharedProfile {
  readonly name: string;
  readonly configFile: string | undefined;
  readonly credentialsFile: string | undefined;
  /** Keys of a nested group are written `group.key`; those of the profile's `services` section too. */
  readonly values: Readonly<Record<string, string>>;
}

/** Keys that make a profile a source of credentials. */
const credentialKeys = [
  "aws_access_key_id",
  "role_arn",
  "credential_process",
  "credential_source",
  "web_identity_token_file",
  "sso_session",
  "sso_start_url",
  "login_session",
];

/** Whether the profile says where credentials come from. */
export function hasCredentials(profile: SharedProfile): boolean {
  return credentialKeys.some((key) => profile.values[key] !== undefined);
}

/** Reads the profile the environment chooses. Missing files are empty; a profile chosen by name must exist. */
export async function readProfile(world: World): Promise<SharedProfile> {
  const { environment } = world;
  const home = environment.HOME;
  const configFile = environment.AWS_CONFIG_FILE || (home ? `${home}/.aws/config` : undefined);
  const credentialsFile = environment.AWS_SHARED_CREDENTIALS_FILE || (home ? `${home}/.aws/credentials` : undefined);
  const chosen = environment.AWS_PROFILE || environment.AWS_DEFAULT_PROFILE;
  const name = chosen || "default";

  const texts = await Promise.all([textOf(world, configFile), textOf(world, credentialsFile)]);
  const [config, credentials] = texts.map(parseIni) as [Sections, Sections];
  const found = [config[`profile ${name}`], name === "default" ? config.default : undefined, credentials[name]];
  if (chosen && found.every((section) => section === undefined)) {
    throw new PluginFailure("BadSettings", `failed to get shared config profile, ${chosen}`, {
      hint: "AWS_PROFILE must name a profile of AWS_CONFIG_FILE or AWS_SHARED_CREDENTIALS_FILE; kubelet often runs without HOME.",
    });
  }
  const values: Record<string, string> = Object.assign({}, ...found);
  return { name, configFile, credentialsFile, values: { ...config[`services ${values.services}`], ...values } };
}

async function textOf(world: World, path: string | undefined): Promise<string> {
  if (path === undefined) return "";
  try {
    return Buffer.from(await world.files.read(path)).toString("utf8");
  } catch (error) {
    const code = (error as { readonly code?: unknown }).code;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES") return "";
    throw new PluginFailure("BadSettings", `cannot read ${path}`, { cause: error });
  }
}

type Sections = Record<string, Record<string, string> | undefined>;

function parseIni(text: string): Sections {
  const sections: Sections = {};
  let section: Record<string, string> | undefined;
  let group = "";
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*([#;]|$)/.test(line)) continue;
    const title = /^\[([^\]]*)\]/.exec(line)?.[1];
    if (title !== undefined) {
      section = sections[title.trim().replace(/\s+/g, " ")] ??= {};
      group = "";
      continue;
    }
    const [, indent = "", key = "", value = ""] = /^(\s*)([^=\s]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (section === undefined || key === "") continue;
    if (indent === "") group = value === "" ? `${key.toLowerCase()}.` : "";
    if (value !== "") section[`${indent === "" ? "" : group}${key.toLowerCase()}`] = value;
  }
  return sections;
}
