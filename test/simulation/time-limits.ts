import { sleep } from "../../src/runtime/world.ts";
import type { Machine } from "./machine.ts";
import type { Scene } from "./scene.ts";

/** For what happens in no time but in several turns. */
const toleranceMs = 100;

/**
 * Breaks the history when work is not over at its time limit, answered or failed. The time in which its machine stands still
 * does not count, and what ran on a machine that crashed never ends.
 */
export async function endsInTime(scene: Scene, machine: Machine, limitMs: number, what: string, work: Promise<unknown>): Promise<void> {
  const { clock } = scene.world;
  const [startedAt, stalledBefore] = [clock.monotonic(), machine.stalledMs];
  const leftMs = () => limitMs + toleranceMs + machine.stalledMs - stalledBefore - (clock.monotonic() - startedAt);
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  // At least a millisecond: less may be too little for the clock to move.
  while (leftMs() > 0) await sleep(clock, Math.max(1, leftMs()));
  if (!isOver && machine.alive) scene.history.broken("what has a time limit ends by it", `${what} goes on after ${limitMs} ms`);
}
