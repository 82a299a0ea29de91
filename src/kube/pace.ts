import type { Clock } from "../runtime/world.ts";
import { sleep } from "../runtime/world.ts";

/** Longer than this in one go and a lease renewal or a probe would notice. */
const stretchMs = 10;

/** Runs pieces of work; to be awaited after each: it lets everybody else run when the pieces have taken long enough. */
export function paced(clock: Clock): (work: () => void) => Promise<void> | undefined {
  let workedMs = 0;
  return (work) => {
    const startedAt = clock.monotonic();
    work();
    workedMs += clock.monotonic() - startedAt;
    if (workedMs < stretchMs) return undefined;
    workedMs = 0;
    return sleep(clock, 0);
  };
}
