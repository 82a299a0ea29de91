/** Everything is read again once in a while; the first time soon after the start, one after the other. */
import type { Source } from "../runtime/controller.ts";
import { type Clock, sleep } from "../runtime/world.ts";

/** What was not read at the start is read within this time. */
const verifyMs = 60 * 60_000;

/** `onDue` is told of each key before it is enqueued. */
export function resync(clock: Clock, periodMs: number, keys: () => readonly string[], onDue: (key: string) => void): Source {
  return {
    name: "resync",
    start: async (enqueue, signal) => {
      const look = (key: string) => {
        onDue(key);
        enqueue(key, "background");
      };
      const rounds = async () => {
        const first = Math.min(verifyMs, periodMs);
        await sleep(clock, first / 2, signal);
        const all = keys();
        for (const key of all) {
          look(key);
          await sleep(clock, first / 2 / all.length, signal);
        }
        for (;;) {
          await sleep(clock, periodMs, signal);
          for (const key of keys()) look(key);
        }
      };
      // Rejects when it is asked to end.
      void rounds().catch(() => {});
    },
  };
}
