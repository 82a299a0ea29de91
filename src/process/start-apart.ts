/** Starts parts of a process that do not depend on each other: one that cannot be started does not take the others along. */
import { type Backoff, backOffMs } from "../runtime/back-off.ts";
import type { HealthChecks } from "../runtime/health.ts";
import type { Log } from "../runtime/log.ts";
import { messageOf } from "../runtime/message-of.ts";
import { jittered, sleep, type World } from "../runtime/world.ts";

export interface StartApart {
  readonly world: World;
  readonly log: Log;
  readonly health: HealthChecks;
  /** Ends the tries. */
  readonly signal: AbortSignal;
}

const pauses: Backoff = { baseMs: 5_000, maxMs: 300_000 };

/**
 * Starts one part. Resolves when it is started, or when the first try has failed: the log and `/readyz` then name it, and it is
 * tried again until it can be started. Rejects only when the signal aborts.
 */
export async function startApart(name: string, start: () => Promise<void>, apart: StartApart): Promise<void> {
  const { health, signal } = apart;
  let problem = await failureOf(name, start, 1, apart);
  if (problem === undefined) return;
  health.add({ name: `${name}-start`, probes: ["readyz"], problem: () => problem });
  void (async () => {
    for (let tries = 2; problem !== undefined; tries++) {
      await sleep(apart.world.clock, jittered(apart.world.random, backOffMs(pauses, tries - 1), 0.2), signal);
      problem = await failureOf(name, start, tries, apart);
    }
  })().catch(() => {});
}

/** Why it cannot be started; undefined when it is. */
async function failureOf(
  name: string,
  start: () => Promise<void>,
  tries: number,
  { log, signal }: StartApart,
): Promise<string | undefined> {
  try {
    await start();
    if (tries > 1) log.info(`started "${name}" after all`, { tries });
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    log.error(`cannot start "${name}"; everything else goes on, and it is tried again`, { error, tries });
    return messageOf(error);
  }
}
