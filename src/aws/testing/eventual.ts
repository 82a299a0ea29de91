/** Lets virtual time pass until the work is done. */
import type { VirtualWorld } from "../../sandbox/virtual-clock.ts";

export async function eventual<T>(world: VirtualWorld, work: Promise<T>, limitMs = 600_000): Promise<T> {
  let settled = false;
  const finished = work.finally(() => {
    settled = true;
  });
  // Whoever awaits it sees the rejection; until then it is not unhandled.
  finished.catch(() => {});
  await world.runUntil(() => settled, limitMs);
  return finished;
}
