/**
 * While a world is simulated nobody in it may reach for the machine's own clock, chance or timers.
 *
 * What our code reaches for directly is refused and breaks the history. Libraries that cannot be told otherwise are given
 * the world's own instead, so that they are as deterministic as the rest.
 */
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { seededRandom } from "../../src/sandbox/seeded-random.ts";
import type { VirtualWorld } from "../../src/sandbox/virtual-clock.ts";

/** Forbids the originals until the returned function is called. */
export function forbidOriginals(world: VirtualWorld, onReach: (what: string) => void): () => void {
  const random = seededRandom(0x0b1);
  const undo: (() => void)[] = [];
  const swap = <T extends object, K extends keyof T>(holder: T, name: K, make: (original: T[K]) => T[K]) => {
    const original = holder[name];
    holder[name] = make(original);
    undo.push(() => {
      holder[name] = original;
    });
  };
  const guarded = <R>(what: string, instead: () => R): R => {
    const culprit = reachedFromOurCode();
    if (culprit === undefined) return instead();
    onReach(`${what} from ${culprit}`);
    throw new Error(`${what} was called inside a simulated world, from ${culprit}`);
  };

  const RealDate = Date;
  class WorldDate extends RealDate {
    constructor(...given: [] | [value: number | string | Date]) {
      super(...((given.length === 0 ? [guarded("new Date()", () => world.clock.now())] : given) as [number]));
    }
    static override now(): number {
      return guarded("Date.now", () => world.clock.now());
    }
  }
  swap(globalThis, "Date", () => WorldDate as DateConstructor);
  swap(Math, "random", () => () => guarded("Math.random", () => random.number()));
  swap(performance, "now", () => () => guarded("performance.now", () => world.clock.monotonic()));
  const refuse = (what: string) => () =>
    guarded<never>(what, () => {
      throw new Error(`${what} was called inside a simulated world, by a library`);
    });
  swap(globalThis, "setTimeout", () => refuse("setTimeout") as unknown as typeof setTimeout);
  swap(globalThis, "setInterval", () => refuse("setInterval") as unknown as typeof setInterval);
  swap(globalThis, "setImmediate", () => refuse("setImmediate") as unknown as typeof setImmediate);
  swap(AbortSignal, "timeout", () => refuse("AbortSignal.timeout"));
  swap(
    crypto,
    "randomBytes",
    () => ((length: number) => guarded("randomBytes", () => Buffer.from(random.bytes(length)))) as typeof crypto.randomBytes,
  );
  swap(crypto, "randomUUID", () => refuse("randomUUID"));
  syncBuiltinESMExports();
  return () => {
    for (const restore of undo.reverse()) restore();
    syncBuiltinESMExports();
  };
}

/** The file of ours that called, when no library stands between it and the original. */
function reachedFromOurCode(): string | undefined {
  const frames = new Error("where").stack?.split("\n").slice(1) ?? [];
  const caller = frames.find((frame) => !frame.includes("/test/simulation/originals.ts") && !frame.includes("(node:"));
  if (caller === undefined || caller.includes("/node_modules/")) return undefined;
  return caller.replace(/^\s*at /, "").replace(/file:\/\/.*\/(src|test)\//, "$1/");
}
