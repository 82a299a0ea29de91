/**
 * One profile of `~/.aws/config` and `~/.aws/credentials`, read as AWS's SDK for Go reads it. Loads nothing: the credential
 * provider starts with it.
 */
import type { World } from "../runtime/world.ts";

export interface SharedProfile {
  readonly name: string;
  readonly configFile: string | undefined;
  readonly credentialsFile: string | undefined;
  /** Keys of a nested group are written `group.key`; those of the profile's `services` section too. */
  readonly values: Readonly<Record<string, string>>;
}

/** The profile that was chosen cannot be used. */
export class ProfileInvalid extends Error {
  override readonly name = "ProfileInvalid";
}

/** Reads the profile the environment chooses. A file that cannot be opened is empty; what AWS_PROFILE names must exist. */
export async function readSharedProfile(world: World): Promise<SharedProfile> {
  const { environment } = world;
  const home = environment.HOME || environment.USERPROFILE;
  const configFile = environment.AWS_CONFIG_FILE || (home ? `${home}/.aws/config` : undefined);
  const credentialsFile = environment.AWS_SHARED_CREDENTIALS_FILE || (home ? `${home}/.aws/credentials` : undefined);
  const name = environment.AWS_PROFILE || environment.AWS_DEFAULT_PROFILE || "default";

  const texts = await Promise.all([textOf(world, configFile), textOf(world, credentialsFile)]);
  const [config, credentials] = texts.map(parseProfiles) as [Sections, Sections];
  const found = [config[`profile ${name}`] ?? (name === "default" ? config.default : undefined), credentials[name]];
  const last = found[1] ?? found[0];
  if (environment.AWS_PROFILE && last === undefined) throw new ProfileInvalid(`failed to get shared config profile, ${name}`);
  if (last !== undefined && (last.aws_access_key_id === undefined) !== (last.aws_secret_access_key === undefined)) {
    throw new ProfileInvalid(`partial credentials found for profile ${name}: it needs aws_access_key_id and aws_secret_access_key`);
  }
  const values: Record<string, string> = Object.assign({}, ...found);
  return { name, configFile, credentialsFile, values: { ...config[`services ${values.services}`], ...values } };
}

async function textOf(world: World, path: string | undefined): Promise<string> {
  if (path === undefined) return "";
  try {
    return Buffer.from(await world.files.read(path)).toString("utf8");
  } catch (cause) {
    const { code } = cause as { readonly code?: unknown };
    if (code === "EISDIR" || code === "EIO") throw new ProfileInvalid(`cannot read ${path}: ${code}`, { cause });
    // Missing, or closed to us: Go's SDK goes on as if the file were empty, and so do programs set up with it.
    return "";
  }
}

export type Sections = Record<string, Record<string, string> | undefined>;

/** The sections of such a file. Keys are in lower case, values without quotes and comments. */
export function parseProfiles(text: string): Sections {
  const sections: Sections = Object.create(null);
  let section: Record<string, string> | undefined;
  let group = "";
  for (const line of text.split(/\r?\n/)) {
    if (/^[ \t]*([#;]|$)/.test(line)) continue;
    const title = /^\s*\[(.*)\]\s*$/.exec(line.replace(/[#;].*/, ""))?.[1];
    if (title !== undefined) {
      section = sections[title.trim().replace(/[ \t]+/, " ")] ??= Object.create(null) as Record<string, string>;
      group = "";
      continue;
    }
    // A comment after a value needs a blank before it: secret keys and URLs may hold either sign.
    const [, indent = "", key = "", value = ""] = /^([ \t]*)([^=:]*?)\s*[=:]\s*(.*?)\s*$/.exec(line.replace(/[ \t][#;].*/, "")) ?? [];
    if (section === undefined || key === "") continue;
    const nested = indent !== "" && group !== "";
    if (!nested) group = value === "" ? `${key.toLowerCase()}.` : "";
    if (value !== "") section[`${nested ? group : ""}${key.toLowerCase()}`] = value.replace(/^(["'])(.*)\1$/, "$2");
  }
  return sections;
}
