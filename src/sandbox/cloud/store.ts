/**
 * The state of the account: tables of immutable records. Because a record is replaced and never changed, a snapshot is a
 * copy of references, a stale read is a look at the record before, and two snapshots can be compared.
 */
import type { Time } from "./time.ts";

/** All tables of one account. */
export class Store {
  readonly #time: Time;
  readonly #tables = new Map<string, Table<object>>();
  /** Operations see the state as of this moment while a stale read is being served. */
  #asOf: number | undefined;
  #undo: (() => void)[] | undefined;
  /** How far back stale reads may go. Nothing is remembered while it is 0. */
  remember = 0;

  constructor(time: Time) {
    this.#time = time;
  }

  /** The table of that name, the same one each time. */
  table<T extends object>(name: string): Table<T> {
    let table = this.#tables.get(name);
    if (table === undefined) {
      table = new Table<object>(this);
      this.#tables.set(name, table);
    }
    return table as unknown as Table<T>;
  }

  /** Runs a read as if it had come at that moment. */
  asOf<T>(moment: number | undefined, read: () => T): T {
    this.#asOf = moment;
    try {
      return read();
    } finally {
      this.#asOf = undefined;
    }
  }

  /** Runs a change whole or not at all: what it did before it threw is undone. */
  attempt<T>(change: () => T): T {
    const undo: (() => void)[] = [];
    this.#undo = undo;
    try {
      return change();
    } catch (error) {
      for (const step of undo.reverse()) step();
      throw error;
    } finally {
      this.#undo = undefined;
    }
  }

  /** Says how to take back what was just done outside the tables, should the change it belongs to fail. */
  undoable(step: () => void): void {
    this.#undo?.push(step);
  }

  /** The moment reads are served from; undefined for the present. */
  get moment(): number | undefined {
    return this.#asOf;
  }

  now(): number {
    return this.#time.now();
  }

  /** Everything there is, by table and id. */
  snapshot(): Snapshot {
    const tables = [...this.#tables].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(tables.map(([name, table]) => [name, Object.fromEntries(table.entries())]));
  }
}

/** Every record by table and id. */
export type Snapshot = Readonly<Record<string, Readonly<Record<string, object>>>>;

interface Past<T> {
  readonly at: number;
  readonly id: string;
  readonly before: T | undefined;
}

/** Records by id, in the order of their creation. */
export class Table<T extends object> {
  readonly #records = new Map<string, T>();
  readonly #store: Store;
  readonly #indexes: Index<T>[] = [];
  #past: Past<T>[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /** Finds records by keys of their own, in steps that do not grow with the table: `const ofGroup = targets.index(…)`. */
  index(keysOf: (record: T) => readonly string[]): (key: string) => T[] {
    const index = new Index(keysOf);
    for (const [id, record] of this.#records) index.replace(id, undefined, record);
    this.#indexes.push(index);
    return (key) => {
      if (this.#store.moment !== undefined) return this.values().filter((record) => keysOf(record).includes(key));
      return index.find(key);
    };
  }

  get(id: string): T | undefined {
    const { moment } = this.#store;
    if (moment !== undefined) {
      const past = this.#past.find((entry) => entry.at > moment && entry.id === id);
      if (past !== undefined) return past.before;
    }
    return this.#records.get(id);
  }

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  /** All records, oldest first. */
  values(): T[] {
    return [...this.#view().values()];
  }

  entries(): [string, T][] {
    return [...this.#view()];
  }

  put(id: string, record: T): T {
    this.#note(id);
    this.#replace(id, record);
    return record;
  }

  /** Replaces some fields of a record that exists. */
  update(id: string, change: Partial<T>): T {
    const record = this.#records.get(id);
    if (record === undefined) throw new Error(`the simulated cloud has no record ${id} to update`);
    return this.put(id, { ...record, ...change });
  }

  delete(id: string): void {
    this.#note(id);
    this.#replace(id, undefined);
  }

  get size(): number {
    return this.#view().size;
  }

  #replace(id: string, record: T | undefined): void {
    for (const index of this.#indexes) index.replace(id, this.#records.get(id), record);
    if (record === undefined) this.#records.delete(id);
    else this.#records.set(id, record);
  }

  #view(): ReadonlyMap<string, T> {
    const { moment } = this.#store;
    if (moment === undefined || this.#past.length === 0) return this.#records;
    const view = new Map(this.#records);
    for (let index = this.#past.length - 1; index >= 0; index--) {
      const { at, id, before } = this.#past[index]!;
      if (at <= moment) break;
      if (before === undefined) view.delete(id);
      else view.set(id, before);
    }
    return view;
  }

  /** Before a record changes: keeps what stale reads and a failing change go back to. */
  #note(id: string): void {
    const { moment, remember } = this.#store;
    if (moment !== undefined) throw new Error("an operation declared as a read changed the state of the simulated cloud");
    const before = this.#records.get(id);
    this.#store.undoable(() => this.#replace(id, before));
    if (remember === 0) return;
    const at = this.#store.now();
    this.#past.push({ at, id, before });
    if (this.#past[0]!.at < at - 2 * remember) this.#past = this.#past.filter((entry) => entry.at >= at - remember);
  }
}

/** The present records by the keys they have. */
class Index<T extends object> {
  readonly #keysOf: (record: T) => readonly string[];
  readonly #found = new Map<string, Map<string, T>>();

  constructor(keysOf: (record: T) => readonly string[]) {
    this.#keysOf = keysOf;
  }

  find(key: string): T[] {
    return [...(this.#found.get(key)?.values() ?? [])];
  }

  replace(id: string, before: T | undefined, after: T | undefined): void {
    const keys = after === undefined ? [] : this.#keysOf(after);
    for (const key of before === undefined ? [] : this.#keysOf(before)) {
      const found = this.#found.get(key);
      // One that keeps its key keeps its place.
      if (keys.includes(key) || found === undefined) continue;
      found.delete(id);
      if (found.size === 0) this.#found.delete(key);
    }
    for (const key of keys) {
      const found = this.#found.get(key) ?? new Map<string, T>();
      found.set(id, after!);
      this.#found.set(key, found);
    }
  }
}
