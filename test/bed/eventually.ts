/** Waiting for a condition, never for a while. */
import { setTimeout as pause } from "node:timers/promises";

/** Calls `check` until it no longer throws and gives what it gave; when the time is over, fails with its last failure. */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = 15_000): Promise<T> {
  const began = performance.now();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() - began > withinMs) {
        if (error instanceof Error) error.message = `not within ${withinMs} ms: ${error.message}`;
        throw error;
      }
    }
    await pause(25);
  }
}
