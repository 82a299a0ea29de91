/** Starts what `--controllers` selects and this build carries. */
import type { Controllers, RunningController } from "../../runtime/controllers.ts";
import type { HealthChecks } from "../../runtime/health.ts";
import type { Log } from "../../runtime/log.ts";
import { jittered, sleep, type World } from "../../runtime/world.ts";
import type { ControllerContext, ControllerTable, Enabled } from "./context.ts";
import { type CanonicalName, canonicalNames, controllerNames, isSelected } from "./controller-names.ts";
import { ControllersFailed } from "./errors.ts";
import type { Options } from "./flags.ts";
import { routesSkipped } from "./validate.ts";

/** What starting takes. */
export interface StartOptions {
  readonly table: ControllerTable;
  readonly options: Options;
  readonly world: World;
  readonly log: Log;
  readonly controllers: Controllers;
  readonly health: HealthChecks;
  readonly signal: AbortSignal;
  contextFor(name: CanonicalName): ControllerContext;
  /** Told when a controller turns out to be unable to work. */
  onFailure(error: ControllersFailed): void;
}

/** The selected controllers, those left out with the reason in the log. */
export function selectedControllers(table: ControllerTable, options: Options, log: Log): CanonicalName[] {
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
    if (!table[name]) log.warn(`"${name}" is selected, but this build does not carry it: nothing does its work`);
    return table[name] !== undefined;
  });
}

/** Makes and starts these controllers one after the other, with a health check for each. */
export async function startControllers(names: readonly CanonicalName[], start: StartOptions): Promise<void> {
  const { world, options, signal } = start;
  for (const [index, name] of names.entries()) {
    const intervalMs = options["controller-start-interval"];
    if (index > 0 && intervalMs > 0) await sleep(world.clock, jittered(world.random, intervalMs, 1), signal);
    await startOne(name, start);
  }
}

async function startOne(name: CanonicalName, start: StartOptions): Promise<void> {
  const { table, log, controllers, health, onFailure } = start;
  let enabled: Enabled | undefined;
  try {
    enabled = await table[name]?.(start.contextFor(name));
  } catch (cause) {
    throw new ControllersFailed(name, cause);
  }
  if (!enabled || enabled.kind === "skip") {
    log.warn(`Skipping "${name}"`, { why: enabled?.why });
    return;
  }
  const { metric, queue } = controllerNames[name];
  const running = enabled.controllers.map(({ controller, names }) =>
    controllers.start(controller, { managed: metric ?? null, queue, ...names }),
  );
  log.info(`Started "${name}"`);
  for (const { synced } of running) synced.catch((cause: unknown) => onFailure(new ControllersFailed(name, cause)));
  // A line for each controller, as the reference has it. It never fails: a controller that AWS throttles is slow, and a
  // new process would only start over. A stuck event loop answers no probe, and a stuck election has a check of its own.
  health.add({ name, problem: () => undefined });
  health.add({ name: `${name}-synced`, probes: ["readyz"], problem: () => running.map(waiting).find((found) => found !== undefined) });
}

function waiting(controller: RunningController): string | undefined {
  const { waitingFor } = controller.progress();
  return waitingFor.length === 0 ? undefined : `waits for ${waitingFor.join(", ")}`;
}
