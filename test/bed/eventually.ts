/** Waiting for a condition, never for a while. */
import { setTimeout as pause } from "node:timers/promises";

/** Pauses grow with the wait: who waits for seconds need not burn the time of those who are waited for. */
const pauseMs = { min: 25, max: 100, ofWait: 0.1 };

/** Calls `check` until it no longer throws and gives what it gave; when the time is over, fails with its last failure. */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = 15_000): Promise<T> {
  const began = performance.now();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() - began > withinMs) {
        throw error instanceof Error ? late(error, withinMs) : error;
      }
    }
    await pause(Math.min(pauseMs.max, Math.max(pauseMs.min, (performance.now() - began) * pauseMs.ofWait)));
  }
}

/** The same error, so that its diff stays; reporters print the stack, which repeats the message. */
function late(error: Error, withinMs: number): Error {
  const message = `not within ${withinMs} ms: ${error.message}`;
  error.stack = error.stack?.replace(error.message, () => message);
  error.message = message;
  return error;
}
