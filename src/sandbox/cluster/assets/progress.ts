/** Says every now and then how far a slow preparation is. */
import type { World } from "../../../runtime/world.ts";

/** Calls `say` with `line(elapsed)` now and every 15 seconds, until the returned function is called. */
export function sayProgress(world: World, say: (line: string) => void, line: (elapsed: string) => string): () => void {
  const began = world.clock.monotonic();
  let cancel = () => {};
  const tell = () => {
    say(line(elapsed(world.clock.monotonic() - began)));
    cancel = world.clock.after(15_000, tell);
  };
  tell();
  return () => cancel();
}

/** `1m05s` */
export function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, "0")}s`;
}
