/** Starts the controllers of a program. */
import type { Controllers, RunningController } from "../runtime/controllers.ts";
import type { HealthChecks } from "../runtime/health.ts";
import type { Log } from "../runtime/log.ts";
import { jittered, sleep, type World } from "../runtime/world.ts";
import { ControllersFailed } from "./errors.ts";
import type { ControllerEntry, Enabled, ProcessContext } from "./program.ts";
import { startApart } from "./start-apart.ts";

/** What starting takes. */
export interface StartOptions {
  /** The program, in metrics. */
  readonly manager: string;
  /** Pause between the starts of two controllers. */
  readonly intervalMs: number;
  readonly world: World;
  readonly log: Log;
  readonly controllers: Controllers;
  readonly health: HealthChecks;
  readonly signal: AbortSignal;
  contextFor(entry: ControllerEntry): ProcessContext;
  /** One that cannot be made is tried again while the others run; otherwise starting fails with it. */
  readonly apart: boolean;
  /** Told when a controller turns out to be unable to work. */
  onFailure(error: ControllersFailed): void;
}

/** Makes and starts these controllers one after the other, with a health check for each. */
export async function startControllers(entries: readonly ControllerEntry[], start: StartOptions): Promise<void> {
  const { world, intervalMs, signal } = start;
  for (const [index, entry] of entries.entries()) {
    if (index > 0 && intervalMs > 0) await sleep(world.clock, jittered(world.random, intervalMs, 1), signal);
    if (start.apart) await startApart(entry.name, () => startOne(entry, start), start);
    else await startOne(entry, start);
  }
}

async function startOne(entry: ControllerEntry, start: StartOptions): Promise<void> {
  const { manager, log, controllers, health, onFailure } = start;
  const { name, metric, queue } = entry;
  let enabled: Enabled;
  try {
    enabled = await entry.make(start.contextFor(entry));
  } catch (cause) {
    throw new ControllersFailed(name, cause);
  }
  // Nobody would stop what is started after all others were told to stop.
  start.signal.throwIfAborted();
  if (enabled.kind === "skip") {
    log.warn(`Skipping "${name}"`, { why: enabled.why });
    return;
  }
  const running = enabled.controllers.map(({ controller, names }) =>
    controllers.start(controller, { manager, managed: metric ?? null, queue, ...names }),
  );
  log.info(`Started "${name}"`);
  for (const { synced } of running) synced.catch((cause: unknown) => onFailure(new ControllersFailed(name, cause)));
  // A line for each controller, as the reference has it. It never fails: a controller that AWS throttles is slow, and a
  // new process would only start over. A stuck event loop answers no probe, and a stuck election has a check of its own.
  health.add({ name, problem: () => undefined });
  const { problem } = enabled;
  if (problem !== undefined) health.add({ name: `${name}-source`, probes: ["readyz"], problem });
  health.add({ name: `${name}-synced`, probes: ["readyz"], problem: () => running.map(waiting).find((found) => found !== undefined) });
}

function waiting(controller: RunningController): string | undefined {
  const { waitingFor } = controller.progress();
  return waitingFor.length === 0 ? undefined : `waits for ${waitingFor.join(", ")}`;
}
