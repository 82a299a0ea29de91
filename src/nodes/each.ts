import { type Clock, sleep } from "../runtime/world.ts";

/** How long one pass over many Nodes may keep the event loop to itself. */
const stretchMs = 10;
/** So many count as a stretch in any case: what one call to AWS carries, so that their questions are still joined. */
const stretchItems = 200;

/** Does the work for every item, so many at once, and lets everybody else have a turn in between. */
export async function each<T>(clock: Clock, items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  let since = clock.monotonic();
  let begun = 0;
  let breath: Promise<void> | undefined;
  const breathe = () => {
    breath ??= sleep(clock, 0).then(() => {
      breath = undefined;
      since = clock.monotonic();
      begun = 0;
    });
    return breath;
  };
  const worker = async () => {
    while (next < items.length) {
      if (begun >= stretchItems || clock.monotonic() - since >= stretchMs) {
        await breathe();
        continue;
      }
      begun++;
      await work(items[next++]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
