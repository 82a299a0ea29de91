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

/** So many single reads are made before the whole list is read anew. */
const mostSingleReads = 5;

export class Listing<V> {
  readonly #options: ListingOptions<V>;
  /** By name, the number of the last write. */
  readonly #touched = new Map<string, number>();
  #load: Load<V> | undefined;
  #writes = 0;

  constructor(options: ListingOptions<V>) {
    this.#options = options;
  }

  /** The one of this name. */
  async get(name: string, ages: Ages, ask: Ask): Promise<V | undefined> {
    if (this.#touched.has(name)) return this.#single(name, ask);
    const item = (await this.#items(Math.max(ages.absentMs, ages.presentMs), ask)).get(name);
    const limit = item === undefined ? ages.absentMs : ages.presentMs;
    return this.#touched.has(name) || !this.#fresh(limit) ? this.#single(name, ask) : item;
  }

  /** All of them, none older than said. */
  async all(maxAgeMs: number, ask: Ask): Promise<readonly V[]> {
    if (this.#unread().length > mostSingleReads) this.#load = this.#start(ask);
    const items = new Map(await this.#items(maxAgeMs, ask));
    await Promise.all(
      this.#unread().map(async (name) => {
        const item = await this.#single(name, ask);
        if (item === undefined) items.delete(name);
        else items.set(name, item);
      }),
    );
    return [...items.values()];
  }

  /** All of them as they were listed, whatever was written since: for questions to which our writes make no difference. */
  async listed(maxAgeMs: number, ask: Ask): Promise<readonly V[]> {
    return [...(await this.#items(maxAgeMs, ask)).values()];
  }

  /** It was written to: what the list says of it does not count any more. */
  touch(name: string): void {
    this.#touched.set(name, ++this.#writes);
  }

  /** Reads one, and puts it into the list in the place of what was there. */
  async #single(name: string, ask: Ask): Promise<V | undefined> {
    const writes = this.#writes;
    const item = await this.#options.one(name, ask);
    const items = await this.#load?.items;
    if (items !== undefined && (this.#touched.get(name) ?? 0) <= writes) {
      this.#touched.delete(name);
      if (item === undefined) items.delete(name);
      else items.set(name, item);
    }
    return item;
  }

  /** Names written to since the list was begun. */
  #unread(): string[] {
    const since = this.#load?.writes ?? 0;
    return [...this.#touched].filter(([, at]) => at > since).map(([name]) => name);
  }

  #fresh(maxAgeMs: number): boolean {
    return this.#load !== undefined && this.#options.clock.monotonic() - this.#load.askedAt <= maxAgeMs;
  }

  #items(maxAgeMs: number, ask: Ask): Promise<ReadonlyMap<string, V>> {
    if (this.#load === undefined || !this.#fresh(maxAgeMs)) this.#load = this.#start(ask);
    return unlessAborted(ask.signal, this.#load.items);
  }

  /** Shared by all who ask meanwhile, so none of them may end it. */
  #start(ask: Ask): Load<V> {
    const { clock, list, nameOf } = this.#options;
    const writes = this.#writes;
    const items = list({ ...ask, signal: neverAborted }).then((found) => new Map(found.map((item) => [nameOf(item), item])));
    const load: Load<V> = { items, askedAt: clock.monotonic(), writes };
    items.then(
      () => {
        if (this.#load === load) for (const [name, at] of this.#touched) if (at <= writes) this.#touched.delete(name);
      },
      () => {
        if (this.#load === load) this.#load = undefined;
      },
    );
    return load;
  }
}
