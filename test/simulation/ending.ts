/** How a history ends: the faults stop, everything comes to order and stays in it, and when its users are gone nothing is left. */
import type { VirtualWorld } from "../../src/sandbox/virtual-clock.ts";
import type { History } from "./history.ts";

export interface EndingScene {
  readonly world: VirtualWorld;
  readonly history: History;
  /** When a replica last changed something, in virtual milliseconds. */
  readonly lastChangeAt: number;
  /** What is wrong, were it final. */
  differences(): readonly string[];
  /** What is left of users who are all gone. */
  leftovers(): readonly string[];
}

export interface EndingTimes {
  /** So long is waited for order. */
  readonly patienceMs: number;
  /** So long without a change, and the work is done. */
  readonly restMs: number;
  /** So long everything is left alone then. */
  readonly quietMs: number;
}

/** Waits until what is wanted exists, and then watches that nothing is touched any more. */
export async function comeToOrder(scene: EndingScene, { patienceMs, restMs, quietMs }: EndingTimes): Promise<void> {
  const { world, history } = scene;
  await until(scene, patienceMs, () => scene.differences().length === 0 && world.clock.monotonic() - scene.lastChangeAt > restMs);
  for (const difference of scene.differences()) history.broken("what is wanted exists, and nothing else", difference);
  // What went last may have gone this moment, and what hangs on it goes a second later.
  const quietFrom = world.clock.monotonic() + 5_000;
  await world.advance(quietMs);
  if (scene.lastChangeAt > quietFrom) history.broken("what is in order is left alone", `something was changed at ${scene.lastChangeAt}`);
  for (const difference of scene.differences()) history.broken("order lasts", difference);
}

/** Waits until nothing is left. */
export async function comeToNothing(scene: EndingScene, { patienceMs }: Pick<EndingTimes, "patienceMs">): Promise<void> {
  await until(scene, patienceMs, () => scene.leftovers().length === 0);
  for (const left of scene.leftovers()) scene.history.broken("nothing is left", left);
}

async function until({ world }: EndingScene, patienceMs: number, predicate: () => boolean): Promise<void> {
  for (let waited = 0; waited < patienceMs && !predicate(); waited += 5_000) await world.advance(5_000);
}
