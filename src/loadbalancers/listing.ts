/** Everything of one kind, listed once for all who ask, and read one by one where we have written since. */
import { neverAborted, unlessAborted } from "../aws/abort.ts";
import type { Ask } from "../aws/ask.ts";
import type { Clock } from "../runtime/world.ts";

export interface ListingOptions<V> {
  readonly clock: Clock;
  readonly nameOf: (item: V) => string;
  list(ask: Ask): Promise<readonly V[]>;
  one(name: string, ask: Ask): Promise<V | undefined>;
}

/** How old what is told may be. */
export interface Ages {
  /** That there is no such thing. Nobody else gives the names we look for, so this may be old. */
  readonly absentMs: number;
  readonly presentMs: number;
}

interface Load<V> {
  readonly items: Promise<Map<string, V>>;
  readonly askedAt: number;
  /** How many writes had been made when it was begun: it shows those. */
  readonly writes: number;
}

/** So many single reads in a minute; what more is asked for is read in one list, which serves all. */
const maxSingleReads = 5;
const singleReadsMs = 60_000;

/** A write, and on whose behalf. */
interface Touch {
  readonly number: number;
  readonly by: string | undefined;
}

/** One read of one thing that is under way. */
interface Reading<V> {
  readonly item: Promise<V | undefined>;
  readonly writes: number;
}

export class Listing<V> {
  readonly #options: ListingOptions<V>;
  /** By name, the last write. */
  readonly #touched = new Map<string, Touch>();
  readonly #readings = new Map<string, Reading<V>>();
  #load: Load<V> | undefined;
  #writes = 0;
  /** When single reads were made since the list was begun. */
  #singles: number[] = [];

  constructor(options: ListingOptions<V>) {
    this.#options = options;
  }

  /** The one of this name. */
  async get(name: string, ages: Ages, ask: Ask): Promise<V | undefined> {
    while (this.#shows(name)) {
      const load = this.#current(Math.max(ages.absentMs, ages.presentMs), ask);
      const item = (await unlessAborted(ask.signal, load.items)).get(name);
      // Somebody has begun another list meanwhile: that one is the better witness.
      if (load !== this.#load) continue;
      const limit = item === undefined ? ages.absentMs : ages.presentMs;
      if (this.#shows(name) && this.#isFresh(load, limit)) return item;
      break;
    }
    if (!this.#isListCheaper(1)) return this.#single(name, ask);
    return (await unlessAborted(ask.signal, this.#start(ask).items)).get(name);
  }

  /** All of them, none older than said. What was written for others than `by` counts as it is in the list. */
  async all(maxAgeMs: number, ask: Ask, by?: string): Promise<readonly V[]> {
    for (;;) {
      const unread = this.#unread(by);
      const load = unread.length > 0 && this.#isListCheaper(unread.length) ? this.#start(ask) : this.#current(maxAgeMs, ask);
      const items = new Map(await unlessAborted(ask.signal, load.items));
      if (load !== this.#load) continue;
      const names = unread.filter((name) => !this.#shows(name));
      const singles = await Promise.all(names.map(async (name) => [name, await this.#single(name, ask)] as const));
      for (const [name, item] of singles) {
        if (item === undefined) items.delete(name);
        else items.set(name, item);
      }
      return [...items.values()];
    }
  }

  /** All of them as they were listed, whatever was written since: for questions to which our writes make no difference. */
  async listed(maxAgeMs: number, ask: Ask): Promise<readonly V[]> {
    return [...(await unlessAborted(ask.signal, this.#current(maxAgeMs, ask).items)).values()];
  }

  /** It was written to, perhaps on behalf of one whom alone it concerns: what the list says of it does not count any more. */
  touch(name: string, by?: string): void {
    this.#touched.set(name, { number: ++this.#writes, by });
  }

  /** Whether what the list says, or will say, of this name is true to our last write. */
  #shows(name: string): boolean {
    const touch = this.#touched.get(name);
    return touch === undefined || (this.#load !== undefined && touch.number <= this.#load.writes);
  }

  /** Names written to since the list was begun, as far as they concern this one. */
  #unread(by: string | undefined): string[] {
    const concerns = (touch: Touch) => by === undefined || touch.by === undefined || touch.by === by;
    return [...this.#touched].filter(([name, touch]) => concerns(touch) && !this.#shows(name)).map(([name]) => name);
  }

  /** Whether reading so many one by one, after those of the last minute or before those that are due, is worth a list. */
  #isListCheaper(count: number): boolean {
    const since = this.#options.clock.monotonic() - singleReadsMs;
    this.#singles = this.#singles.filter((at) => at > since);
    return this.#singles.length + count > maxSingleReads || this.#unread(undefined).length > maxSingleReads;
  }

  /** Reads one, and puts it into the list in the place of what was there. Those who ask meanwhile share it. */
  #single(name: string, ask: Ask): Promise<V | undefined> {
    const running = this.#readings.get(name);
    if (running !== undefined && (this.#touched.get(name)?.number ?? 0) <= running.writes) return unlessAborted(ask.signal, running.item);
    const { clock, one } = this.#options;
    this.#singles.push(clock.monotonic());
    const writes = this.#writes;
    const item = one(name, { ...ask, signal: neverAborted }).then((found) => this.#put(name, found, writes));
    const reading: Reading<V> = { item, writes };
    this.#readings.set(name, reading);
    const ended = () => {
      if (this.#readings.get(name) === reading) this.#readings.delete(name);
    };
    item.then(ended, ended);
    return unlessAborted(ask.signal, item);
  }

  async #put(name: string, item: V | undefined, writes: number): Promise<V | undefined> {
    const load = this.#load;
    // A list that was begun after a later write knows better.
    if (load === undefined || load.writes > writes) return item;
    // Whoever asked for one thing is not failed by a list of all of them.
    const items = await load.items.catch(() => undefined);
    if (items !== undefined && (this.#touched.get(name)?.number ?? 0) <= writes) {
      this.#touched.delete(name);
      if (item === undefined) items.delete(name);
      else items.set(name, item);
    }
    return item;
  }

  #isFresh({ askedAt }: Load<V>, maxAgeMs: number): boolean {
    return this.#options.clock.monotonic() - askedAt <= maxAgeMs;
  }

  #current(maxAgeMs: number, ask: Ask): Load<V> {
    return this.#load !== undefined && this.#isFresh(this.#load, maxAgeMs) ? this.#load : this.#start(ask);
  }

  /** Shared by all who ask meanwhile, so none of them may end it. */
  #start(ask: Ask): Load<V> {
    const { clock, list, nameOf } = this.#options;
    const writes = this.#writes;
    const items = list({ ...ask, signal: neverAborted }).then((found) => new Map(found.map((item) => [nameOf(item), item])));
    const load: Load<V> = { items, askedAt: clock.monotonic(), writes };
    this.#load = load;
    this.#singles = [];
    items.then(
      () => {
        if (this.#load === load) for (const [name, { number }] of this.#touched) if (number <= writes) this.#touched.delete(name);
      },
      () => {
        if (this.#load === load) this.#load = undefined;
      },
    );
    return load;
  }
}
