import { EventLoopTurns } from "./event-loop-turns.ts";
import type { Clock } from "./world.ts";

/** A stretch of the event loop has no more than one call to AWS carries, so that what they ask is still joined. */
const maxPieces = 200;

/** Does the work for every item, at most `limit` at once, and lets everybody else have a turn in between. */
export async function forEachConcurrently<T>(
  clock: Clock,
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const turns = new EventLoopTurns(clock, maxPieces);
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      await turns.next();
      if (next < items.length) await work(items[next++]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}
