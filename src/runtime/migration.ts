/**
 * Leader migration: while controllers move from one program to another, those that both can run are under a second
 * lease, which only one of the two programs holds. A file says which.
 */
import { parseDocument } from "yaml";
import type { Files } from "./world.ts";

export interface MigrationConfig {
  /** The name of the second lease. */
  readonly leaderName: string;
  readonly controllerLeaders: readonly ControllerLeader[];
}

export interface ControllerLeader {
  readonly name: string;
  /** The program that runs it, or `*` for whichever holds the second lease. */
  readonly component: string;
}

/** The file cannot be read, is not of the specified form, or asks for what no longer exists. */
export class MigrationConfigInvalid extends Error {
  override readonly name = "MigrationConfigInvalid";
}

/** What is migrated when no file is given. Its names are historical: `lockOf` knows today's. */
export const defaultMigration: MigrationConfig = {
  leaderName: "cloud-provider-extraction-migration",
  controllerLeaders: ["route-controller", "service-controller", "cloud-node-lifecycle-controller"].map((name) => ({
    name,
    component: "*",
  })),
};

/** A controller and every name it is known by: the canonical one, aliases, and those it had in other programs. */
export interface KnownController {
  readonly name: string;
  readonly alsoKnownAs: readonly string[];
}

/** Under which lease a controller runs in this program, if it does. */
export type Lock = "main" | "migration" | "not here";

/** Listed for this program or for any: under the second lease; listed for another: not here; not listed: the main lease. */
export function lockOf(controller: KnownController, component: string, config: MigrationConfig): Lock {
  const names = [controller.name, ...controller.alsoKnownAs];
  const entry = config.controllerLeaders.find(({ name }) => names.includes(name));
  if (entry === undefined) return "main";
  return entry.component === "*" || entry.component === component ? "migration" : "not here";
}

/** Names that the file gives to this program, or to any, and that no controller here has: most likely misspelt. */
export function unknownNames(config: MigrationConfig, component: string, controllers: readonly KnownController[]): string[] {
  const known = new Set(controllers.flatMap(({ name, alsoKnownAs }) => [name, ...alsoKnownAs]));
  return config.controllerLeaders
    .filter((entry) => (entry.component === "*" || entry.component === component) && !known.has(entry.name))
    .map(({ name }) => name);
}

/** Reads `--leader-migration-config`. */
export async function readMigrationConfig(files: Files, path: string): Promise<MigrationConfig> {
  let content: Uint8Array;
  try {
    content = await files.read(path);
  } catch (cause) {
    throw new MigrationConfigInvalid(
      `unable to read leader migration configuration from ${JSON.stringify(path)}: ${(cause as Error).message}`,
      {
        cause,
      },
    );
  }
  return parseMigrationConfig(Buffer.from(content).toString("utf8"));
}

/** Parses the file's text, YAML or JSON, strictly. */
export function parseMigrationConfig(text: string): MigrationConfig {
  const file = decode(text);
  const version = versionOf(file);
  const unknown = unknownFields(file, version);
  if (unknown.length > 0)
    throw invalid(`strict decoding error: ${unknown.map((field) => `unknown field ${JSON.stringify(field)}`).join(", ")}`);
  const config: MigrationConfig = {
    leaderName: textOf(file, "leaderName", ""),
    controllerLeaders: entriesOf(file).map((entry, index) => ({
      name: textOf(entry, "name", `controllerLeaders[${index}].`),
      component: textOf(entry, "component", `controllerLeaders[${index}].`),
    })),
  };
  const lock = version.hasLock ? textOf(file, "resourceLock", "") : "leases";
  const problems = problemsOf(config, lock);
  if (problems.length > 0) throw invalid(`failed to parse leader migration configuration: [${problems.join(", ")}]`);
  if (lock === "endpoints") throw invalid("error creating lock: endpoints lock is removed, migrate to leases");
  return config;
}

const group = "controllermanager.config.k8s.io";
const kind = "LeaderMigrationConfiguration";

interface Version {
  /** Later versions imply leases. */
  readonly hasLock: boolean;
}

const versions: Readonly<Record<string, Version>> = {
  [`${group}/v1`]: { hasLock: false },
  [`${group}/v1beta1`]: { hasLock: true },
  [`${group}/v1alpha1`]: { hasLock: true },
};

type Fields = Readonly<Record<string, unknown>>;

function decode(text: string): Fields {
  const document = parseDocument(text, { uniqueKeys: true, prettyErrors: true });
  const [problem] = document.errors;
  if (problem !== undefined)
    throw invalid(`couldn't parse the leader migration configuration as YAML or JSON: ${problem.message.split("\n")[0]}`);
  const value: unknown = document.toJS();
  if (!isFields(value)) throw invalid(`Object 'Kind' is missing in ${JSON.stringify(text.slice(0, 100))}`);
  return value;
}

function versionOf(file: Fields): Version {
  const { apiVersion, kind: given } = file;
  if (typeof given !== "string" || given === "") throw invalid("Object 'Kind' is missing in the leader migration configuration");
  if (typeof apiVersion !== "string" || apiVersion === "")
    throw invalid("Object 'apiVersion' is missing in the leader migration configuration");
  const version = Object.hasOwn(versions, apiVersion) ? versions[apiVersion] : undefined;
  if (version === undefined || given !== kind) {
    throw invalid(
      `no kind ${JSON.stringify(given)} is registered for version ${JSON.stringify(apiVersion)} (expected ${kind} in ${Object.keys(versions).join(", ")})`,
    );
  }
  return version;
}

function unknownFields(file: Fields, { hasLock }: Version): string[] {
  const known = ["apiVersion", "kind", "leaderName", "controllerLeaders", ...(hasLock ? ["resourceLock"] : [])];
  return [
    ...Object.keys(file).filter((name) => !known.includes(name)),
    ...entriesOf(file).flatMap((entry, index) =>
      Object.keys(entry)
        .filter((name) => name !== "name" && name !== "component")
        .map((name) => `controllerLeaders[${index}].${name}`),
    ),
  ];
}

function entriesOf(file: Fields): readonly Fields[] {
  const list = file.controllerLeaders ?? [];
  if (!Array.isArray(list) || !list.every(isFields)) throw invalid("controllerLeaders must be a list of objects with name and component");
  return list;
}

function textOf(fields: Fields, name: string, prefix: string): string {
  const value = fields[name] ?? "";
  if (typeof value !== "string") throw invalid(`${prefix}${name} must be a string, but is ${JSON.stringify(value)}`);
  return value;
}

function problemsOf(config: MigrationConfig, lock: string): string[] {
  const problems: string[] = [];
  if (config.leaderName === "") problems.push("leaderName: Required value: leaderName must be set for LeaderMigrationConfiguration");
  if (lock !== "leases" && lock !== "endpoints") {
    problems.push(`resourceLock: Invalid value: ${JSON.stringify(lock)}: resource Lock must be one of 'leases' or 'endpoints'`);
  }
  for (const [index, { name, component }] of config.controllerLeaders.entries()) {
    if (component === "") problems.push(`controllerLeaders[${index}].component: Required value: component must be set`);
    if (name === "") problems.push(`controllerLeaders[${index}].name: Required value: name must be set`);
  }
  return problems;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(message: string): MigrationConfigInvalid {
  return new MigrationConfigInvalid(message);
}
