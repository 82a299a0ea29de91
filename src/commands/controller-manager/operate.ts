/** The controller manager as a process: from its options to what `process/` runs. */

import { CloudUnusable, ConfigurationFailed } from "../../process/errors.ts";
import { apiServerAccess, electionTimings } from "../../process/flags.ts";
import type { LeadershipOptions } from "../../process/leadership.ts";
import { type Network, operate as operateProcess } from "../../process/operate.ts";
import type { ControllerEntry, Program } from "../../process/program.ts";
import { openSecurePort } from "../../process/secure-port.ts";
import type { Host } from "../../runtime/host.ts";
import type { Log } from "../../runtime/log.ts";
import type { Logs } from "../../runtime/logs.ts";
import { messageOf } from "../../runtime/message-of.ts";
import type { CloudConfig } from "./cloud-config.ts";
import { configz, leaseName } from "./configz.ts";
import type { ControllerTable } from "./context.ts";
import { type CanonicalName, canonicalNames, controllerNames, isSelected } from "./controller-names.ts";
import type { Options } from "./flags.ts";
import { loadCloudConfig } from "./load-cloud-config.ts";
import { byLock, loadMigration } from "./locks.ts";
import { routesSkipped } from "./validate.ts";

/** In Events, metrics and the user agent. */
const component = "cloud-controller-manager";

/** What one life of the controller manager is made from. */
export interface Operation {
  readonly options: Options;
  /** As reported, which the user may have overridden. */
  readonly version: string;
  readonly host: Host;
  readonly logs: Logs;
  readonly table: ControllerTable;
  readonly network: Network;
  /** Asks for a graceful end. */
  readonly stop: AbortSignal;
}

/** Runs until asked to stop, which is done gracefully; rejects with what made it end otherwise. */
export async function operate({ options, version, host, logs, table, network, stop }: Operation): Promise<void> {
  const { config, program, leadership } = await configure(options, table, host);
  await operateProcess({
    version,
    host,
    network,
    stop,
    kube: { component, ...apiServerAccess(options) },
    aws: config.aws,
    leadership,
    serve: (health) => openSecurePort(host, options, { logs, health, configuration: () => configz(options) }),
    programs: [program],
    minResyncMs: options["min-resync-period"],
  });
}

/** What the controller manager is in a process, its own or one that it shares. */
export interface ConfiguredManager {
  readonly config: CloudConfig;
  readonly program: Program;
  readonly leadership: Omit<LeadershipOptions, "client">;
}

/** Everything that its files say, before anything is waited for: a mistake in them will not pass. `given`: a cloud config that was read already. */
export async function configure(options: Options, table: ControllerTable, host: Host, given?: CloudConfig): Promise<ConfiguredManager> {
  const { log, world } = host;
  const migration = await loadMigration(world.files, options, log).catch((cause: unknown) => {
    throw new ConfigurationFailed(messageOf(cause), { cause });
  });
  const config =
    given ??
    (await loadCloudConfig(host, options).catch((cause: unknown) => {
      throw new CloudUnusable(cause);
    }));
  const selected = byLock(selectedControllers(table, options, log), migration, log);
  const entry = (name: CanonicalName): ControllerEntry => ({
    ...controllerNames[name],
    make: async (context) =>
      (await table[name]?.({ ...context, config, options })) ?? { kind: "skip", why: "this build does not include it" },
  });
  const home = { namespace: options["leader-elect-resource-namespace"], name: leaseName(options) };
  const timings = electionTimings(options);
  const elects = options["leader-elect"];
  return {
    config,
    program: {
      component,
      controllers: selected.main.map(entry),
      migrated: selected.migration.map(entry),
      startIntervalMs: options["controller-start-interval"],
    },
    leadership: {
      leases: elects ? [{ ...home, timings }] : [],
      // A dry run holds its own Lease and no other.
      ...(elects && migration && !options["dry-run"] && { migration: { namespace: home.namespace, name: migration.leaderName, timings } }),
      home,
      dryRun: options["dry-run"],
    },
  };
}

/** The selected controllers, those left out with the reason in the log. */
function selectedControllers(table: ControllerTable, options: Options, log: Log): CanonicalName[] {
  return canonicalNames.filter((name) => {
    if (!isSelected(name, options.controllers)) {
      log.info(`"${name}" is disabled`);
      return false;
    }
    const skipped = name === "node-route-controller" ? routesSkipped(options) : undefined;
    if (skipped !== undefined) {
      log.warn(skipped);
      log.warn(`Skipping "${name}"`);
      return false;
    }
    if (!table[name]) log.warn(`"${name}" is selected, but this build does not include it: its work is not done`);
    return table[name] !== undefined;
  });
}
