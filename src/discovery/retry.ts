/** How writes to the cluster are tried again. */
import { backOffMs } from "../runtime/back-off.ts";
import type { Host } from "../runtime/host.ts";
import { messageOf } from "../runtime/message-of.ts";
import { jittered, sleep, within } from "../runtime/world.ts";

const attempts = 15;
const pauses = { baseMs: 3_000, maxMs: 30_000 };

/** All attempts have failed; the message is that of the last. */
export class RetriesExhausted extends Error {
  override readonly name = "RetriesExhausted";
  constructor(cause: unknown) {
    super(`${messageOf(cause)}: exceeded retry limit`, { cause });
  }
}

/**
 * Tries up to fifteen times, whatever the error: a role or a definition may be corrected meanwhile. Each attempt has a time
 * limit of its own, and the signal ends a pause at once.
 */
export async function retrying<T>(
  { world, log }: Host,
  what: string,
  limitMs: number,
  signal: AbortSignal,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await within(world.clock, limitMs, what, signal, attempt);
    } catch (error) {
      signal.throwIfAborted();
      log.error(`cannot ${what}`, { attempt: tried, of: attempts, error });
      if (tried === attempts) throw new RetriesExhausted(error);
      const pauseMs = Math.round(jittered(world.random, backOffMs(pauses, tried), 0.5));
      log.info("trying again", { what, afterMs: pauseMs });
      await sleep(world.clock, pauseMs, signal);
    }
  }
}
