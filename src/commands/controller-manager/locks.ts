/** Which lease each controller runs under. */
import type { Log } from "../../runtime/log.ts";
import { defaultMigration, lockOf, type MigrationConfig, readMigrationConfig, unknownNames } from "../../runtime/migration.ts";
import type { Files } from "../../runtime/world.ts";
import { type CanonicalName, controllerNames } from "./controller-names.ts";
import type { Options } from "./flags.ts";

const component = "cloud-controller-manager";
const known = Object.values(controllerNames).map(({ name, alias, historical }) => ({ name, alsoKnownAs: [alias, ...historical] }));

/** The migration that flags ask for; undefined when this process takes part in none. */
export async function loadMigration(files: Files, options: Options, log: Log): Promise<MigrationConfig | undefined> {
  if (!options["enable-leader-migration"] || !options["leader-elect"]) return undefined;
  const path = options["leader-migration-config"];
  const migration = path === "" ? defaultMigration : await readMigrationConfig(files, path);
  for (const name of unknownNames(migration, component, known)) {
    log.warn(`leader migration names controller "${name}", which this program does not have`);
  }
  return migration;
}

/** The controllers by lease. Those that a migration gives to another program are left out, with a line in the log. */
export function byLock(names: readonly CanonicalName[], migration: MigrationConfig | undefined, log: Log) {
  const locks: Record<"main" | "migration", CanonicalName[]> = { main: [], migration: [] };
  for (const name of names) {
    const { alias, historical } = controllerNames[name];
    const lock = migration ? lockOf({ name, alsoKnownAs: [alias, ...historical] }, component, migration) : "main";
    if (lock === "not here") log.info(`"${name}" is not started: leader migration gives it to another program`);
    else locks[lock].push(name);
  }
  return locks;
}
