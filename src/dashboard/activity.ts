/** AWS calls over time, by action and by cause, gathered from what the processes remember of their latest calls. */
import type { CallRecord } from "../aws/ledger.ts";

export interface Tally {
  /** `ec2:DescribeInstances`, or who wanted it. */
  readonly name: string;
  readonly calls: number;
  readonly throttled: number;
  readonly failed: number;
  /** Calls in each of the latest periods, the newest last. */
  readonly over: readonly number[];
}

export interface Activity {
  /** The beginning of the oldest period, in milliseconds since the epoch. */
  readonly from: number;
  readonly periodMs: number;
  readonly actions: readonly Tally[];
  readonly causes: readonly Tally[];
}

const periodMs = 10_000;
const periods = 60;

interface Counted {
  calls: number;
  throttled: number;
  failed: number;
  readonly over: Map<number, number>;
}

export class CallHistory {
  /** The newest call that was counted of each process. */
  readonly #counted = new Map<string, number>();
  readonly #actions = new Map<string, Counted>();
  readonly #causes = new Map<string, Counted>();

  /** Counts what is new in the latest calls of a process. They end one after the other, so the time of the end tells them apart. */
  add(process: string, calls: readonly CallRecord[]): void {
    const known = this.#counted.get(process) ?? 0;
    for (const call of calls) {
      if (call.at <= known) continue;
      count(this.#actions, `${call.service}:${call.action}`, call);
      // What it is about is dropped (`service shop/web`): causes are few, objects are many.
      count(this.#causes, call.cause.replace(/ \S*\/.*$/, ""), call);
    }
    this.#counted.set(process, Math.max(known, calls.at(-1)?.at ?? 0));
  }

  activity(now: number): Activity {
    const last = Math.floor(now / periodMs);
    const tallies = (of: ReadonlyMap<string, Counted>) =>
      [...of].map(([name, counted]) => tally(name, counted, last)).sort((a, b) => b.calls - a.calls || (a.name < b.name ? -1 : 1));
    return { from: (last - periods + 1) * periodMs, periodMs, actions: tallies(this.#actions), causes: tallies(this.#causes) };
  }
}

function count(into: Map<string, Counted>, name: string, { at, outcome }: CallRecord): void {
  const counted = into.get(name) ?? { calls: 0, throttled: 0, failed: 0, over: new Map<number, number>() };
  into.set(name, counted);
  counted.calls++;
  if (outcome === "throttled") counted.throttled++;
  else if (outcome !== "ok" && outcome !== "cancelled") counted.failed++;
  const period = Math.floor(at / periodMs);
  counted.over.set(period, (counted.over.get(period) ?? 0) + 1);
  if (counted.over.size > 2 * periods) for (const old of counted.over.keys()) if (old < period - periods) counted.over.delete(old);
}

function tally(name: string, { calls, throttled, failed, over }: Counted, last: number): Tally {
  return { name, calls, throttled, failed, over: Array.from({ length: periods }, (_, n) => over.get(last - periods + 1 + n) ?? 0) };
}
