import { type Clock, sleep } from "../runtime/world.ts";

/** How long one pass over many Nodes may keep the event loop to itself. */
const stretchMs = 10;
/** On a clock that stands still while work is done, so many count as a stretch. */
const stretchItems = 100;

/** Does the work for every item, so many at once, and lets everybody else have a turn in between. */
export async function each<T>(clock: Clock, items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  let since = clock.monotonic();
  let done = 0;
  let breath: Promise<void> | undefined;
  const breathe = () => {
    breath ??= sleep(clock, 0).then(() => {
      breath = undefined;
      since = clock.monotonic();
      done = 0;
    });
    return breath;
  };
  const worker = async () => {
    while (next < items.length) {
      const item = items[next++]!;
      await work(item);
      if (++done >= stretchItems || clock.monotonic() - since >= stretchMs) await breathe();
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
