/**
 * Joins what many ask for at the same moment into the fewest calls, and answers each on its own.
 *
 *     instance("i-1") ─┐                                    ┌─ i-1: described
 *     instance("i-2") ─┼─ one call with 3 ids → bad id i-2 ─┼─ i-2: not found
 *     instance("i-3") ─┘  one call with 2 ids → answered  ──┴─ i-3: described
 */
import type { Urgency } from "../runtime/controller.ts";
import type { Clock } from "../runtime/world.ts";
import { unlessAborted } from "./abort.ts";

export interface CoalescerOptions<Item, Value> {
  readonly clock: Clock;
  /** Two items with the same key are one. */
  readonly keyOf: (item: Item) => string;
  /** Only items of one group can share a call. */
  readonly groupOf?: (item: Item) => string;
  /** The most items one call may carry. */
  readonly most: number;
  /** How long the first waits for others, where nobody minds waiting longer than usual. */
  readonly windowMs?: number;
  /** Makes the call. An item that is missing from the answer gets undefined. */
  readonly fetch: (items: readonly Item[], options: FetchOptions) => Promise<ReadonlyMap<string, Value>>;
  /**
   * The keys of the items an error is about; none when it is about some, but does not say which. Undefined when all
   * share it, as they do a throttle: then nothing is sent again.
   */
  readonly keysInError?: (error: unknown, keys: readonly string[]) => readonly string[] | undefined;
}

export interface FetchOptions {
  readonly urgency: Urgency;
  /** Aborts when no caller is waiting for the answer any more. */
  readonly signal: AbortSignal;
}

/** How long the first usually waits for others. Long enough for one burst of events, too short for anybody to notice. */
const usualWindowMs = 2;
/** Calls under way at once; what comes meanwhile gathers for the next. */
const maxInFlight = 4;
/** Of these, calls that no user waits for: they may wait long for their budget, and one place stays free for those who do. */
const maxBackground = maxInFlight - 1;
/** Resends after an error that names the culprits, before looking for them by halves. */
const maxResends = 2;

type Result<Value> = { readonly value: Value | undefined } | { readonly error: unknown };

interface Pending<Item, Value> {
  readonly item: Item;
  readonly group: string;
  urgency: Urgency;
  waiting: number;
  readonly promise: Promise<Value | undefined>;
  readonly settle: (result: Result<Value>) => void;
  abandoned: () => void;
}

export class Coalescer<Item, Value> {
  readonly #options: CoalescerOptions<Item, Value>;
  /** Asked for, not yet on its way. */
  readonly #gathering = new Map<string, Pending<Item, Value>>();
  readonly #inFlight = { user: 0, background: 0 };
  #windowOpen = false;

  constructor(options: CoalescerOptions<Item, Value>) {
    this.#options = options;
  }

  /** The value for one item; undefined when the answer does not have it. Rejects with the error that is about this item. */
  get(item: Item, urgency: Urgency, signal: AbortSignal): Promise<Value | undefined> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const group = this.#options.groupOf?.(item) ?? "";
    const key = `${group}\n${this.#options.keyOf(item)}`;
    let pending = this.#gathering.get(key);
    if (pending === undefined) {
      pending = newPending(item, group, urgency);
      this.#gathering.set(key, pending);
    } else if (urgency === "user") pending.urgency = "user";
    const joined = pending;
    joined.waiting++;
    const leave = () => {
      if (--joined.waiting === 0) joined.abandoned();
    };
    signal.addEventListener("abort", leave, { once: true });
    this.#openWindow();
    return unlessAborted(signal, joined.promise).finally(() => signal.removeEventListener("abort", leave));
  }

  #openWindow(): void {
    if (this.#gathering.size >= this.#options.most) this.#dispatch();
    if (this.#windowOpen || this.#gathering.size === 0) return;
    this.#windowOpen = true;
    this.#options.clock.after(this.#options.windowMs ?? usualWindowMs, () => {
      this.#windowOpen = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    const count = this.#inFlight;
    while (count.user + count.background < maxInFlight) {
      const first = this.#first();
      if (first === undefined) return;
      const batch = this.#takeBatch(first.group);
      if (batch.length === 0) continue;
      const urgency = batch.some((pending) => pending.urgency === "user") ? "user" : "background";
      count[urgency]++;
      void this.#run(batch, urgency).finally(() => {
        count[urgency]--;
        if (!this.#windowOpen) this.#dispatch();
      });
    }
  }

  /** What goes next: the oldest that a user waits for, else the oldest, if the background may have another call. */
  #first(): Pending<Item, Value> | undefined {
    let oldest: Pending<Item, Value> | undefined;
    for (const pending of this.#gathering.values()) {
      if (pending.urgency === "user") return pending;
      oldest ??= pending;
    }
    return this.#inFlight.background < maxBackground ? oldest : undefined;
  }

  /** The items of a group, those that users wait for first, as many as one call may carry. */
  #takeBatch(group: string): Pending<Item, Value>[] {
    const entries = [...this.#gathering].filter(([, pending]) => pending.group === group);
    const ordered = [
      ...entries.filter(([, { urgency }]) => urgency === "user"),
      ...entries.filter(([, { urgency }]) => urgency !== "user"),
    ];
    const taken = ordered.slice(0, this.#options.most);
    for (const [key] of taken) this.#gathering.delete(key);
    return taken.map(([, pending]) => pending).filter(({ waiting }) => waiting > 0);
  }

  async #run(batch: readonly Pending<Item, Value>[], urgency: Urgency): Promise<void> {
    const abandoned = new AbortController();
    let alive = batch.length;
    for (const pending of batch) {
      pending.abandoned = () => {
        if (--alive === 0) abandoned.abort(new Error("no caller is waiting for the answer any more"));
      };
    }
    await this.#answer(batch, { urgency, signal: abandoned.signal }, 0);
  }

  async #answer(batch: readonly Pending<Item, Value>[], options: FetchOptions, resends: number): Promise<void> {
    const { keyOf, fetch, keysInError } = this.#options;
    const items = batch.map(({ item }) => item);
    try {
      const values = await fetch(items, options);
      for (const pending of batch) pending.settle({ value: values.get(keyOf(pending.item)) });
    } catch (error) {
      const named = batch.length > 1 ? keysInError?.(error, items.map(keyOf)) : undefined;
      if (named === undefined) {
        for (const pending of batch) pending.settle({ error });
        return;
      }
      const failed = new Set(named);
      const rest = batch.filter((pending) => !failed.has(keyOf(pending.item)));
      for (const pending of batch) if (failed.has(keyOf(pending.item))) pending.settle({ error });
      if (rest.length === 0) return;
      if (rest.length < batch.length && resends < maxResends) return this.#answer(rest, options, resends + 1);
      // The error does not help to find them, or there is no end to them: halves, so that the good ones get through.
      const middle = Math.ceil(rest.length / 2);
      for (const half of [rest.slice(0, middle), rest.slice(middle)]) {
        if (half.length > 0) await this.#answer(half, options, resends);
      }
    }
  }
}

function newPending<Item, Value>(item: Item, group: string, urgency: Urgency): Pending<Item, Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value | undefined>();
  // Whoever waits sees the rejection; when all have left, nobody needs to.
  promise.catch(() => {});
  return {
    item,
    group,
    urgency,
    waiting: 0,
    promise,
    settle: (result) => ("error" in result ? reject(result.error) : resolve(result.value)),
    abandoned() {},
  };
}
