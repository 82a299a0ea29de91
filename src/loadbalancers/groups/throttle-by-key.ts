import type { Clock } from "../../runtime/world.ts";

/** Tells of a key at once, but not again within this time: whatever is said of it meanwhile is told together at its end. */
export function throttleByKey(clock: Clock, ms: number, tell: (key: string) => void): (key: string) => void {
  const toldAt = new Map<string, number>();
  const due = new Set<string>();
  const tellNow = (key: string) => {
    due.delete(key);
    toldAt.set(key, clock.monotonic());
    tell(key);
  };
  return (key) => {
    if (due.has(key)) return;
    due.add(key);
    const rest = (toldAt.get(key) ?? Number.NEGATIVE_INFINITY) + ms - clock.monotonic();
    if (rest <= 0) tellNow(key);
    else clock.after(rest, () => tellNow(key));
  };
}
