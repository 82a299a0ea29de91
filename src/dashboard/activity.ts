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
/** So many lines of each table are told: the rest is too little to look at. */
const most = 25;

interface Counted {
  calls: number;
  throttled: number;
  failed: number;
}

/** By period, by name. */
type Counts = Map<number, Map<string, Counted>>;

export class CallHistory {
  /** The newest call that was counted of each process. */
  readonly #counted = new Map<string, number>();
  readonly #actions: Counts = new Map();
  readonly #causes: Counts = new Map();

  /**
   * Counts what is new in the latest calls of a process. They end one after the other, so the time of the end tells them
   * apart. `aheadMs` is how far its clock is ahead of ours.
   */
  add(process: string, calls: readonly CallRecord[], aheadMs = 0): void {
    const known = this.#counted.get(process) ?? 0;
    for (const call of calls) {
      if (call.at <= known) continue;
      const period = Math.floor((call.at - aheadMs) / periodMs);
      count(this.#actions, period, `${call.service}:${call.action}`, call.outcome);
      count(this.#causes, period, causeOf(call.cause), call.outcome);
    }
    this.#counted.set(process, Math.max(known, calls.at(-1)?.at ?? 0));
  }

  /** Of the latest periods; what is older is forgotten. */
  activity(now: number): Activity {
    const first = Math.floor(now / periodMs) - periods + 1;
    return { from: first * periodMs, periodMs, actions: tallies(this.#actions, first), causes: tallies(this.#causes, first) };
  }
}

/** What it is about is dropped (`service shop/web`, `rules of node security group sg-1`): causes are few, objects are many. */
function causeOf(cause: string): string {
  return cause.replace(/ (\S*\/.*|\S*\d\S*)$/, "");
}

function count(into: Counts, period: number, name: string, outcome: CallRecord["outcome"]): void {
  const names = into.get(period) ?? new Map<string, Counted>();
  into.set(period, names);
  const counted = names.get(name) ?? { calls: 0, throttled: 0, failed: 0 };
  names.set(name, counted);
  counted.calls++;
  if (outcome === "throttled") counted.throttled++;
  else if (outcome !== "ok" && outcome !== "cancelled") counted.failed++;
}

function tallies(counts: Counts, first: number): readonly Tally[] {
  const of = new Map<string, Counted & { readonly name: string; readonly over: number[] }>();
  for (const [period, names] of counts) {
    if (period < first) counts.delete(period);
    if (period < first || period >= first + periods) continue;
    for (const [name, { calls, throttled, failed }] of names) {
      const tally = of.get(name) ?? { name, calls: 0, throttled: 0, failed: 0, over: Array.from({ length: periods }, () => 0) };
      of.set(name, tally);
      tally.calls += calls;
      tally.throttled += throttled;
      tally.failed += failed;
      tally.over[period - first] = calls;
    }
  }
  return [...of.values()].sort((a, b) => b.calls - a.calls || (a.name < b.name ? -1 : 1)).slice(0, most);
}
