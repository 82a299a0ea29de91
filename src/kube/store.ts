/** What an informer knows: objects by key, and named indexes over them. */

/** What identifies an object, and one state of it. */
export interface Identified {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}

/** `namespace/name`, or `name` for what has no namespace. */
export function keyOf(object: { readonly metadata: { readonly name: string; readonly namespace?: string } }): string {
  const { name, namespace } = object.metadata;
  return namespace ? `${namespace}/${name}` : name;
}

/** The index keys of an object. */
export type IndexBy<V> = (object: V) => Iterable<string>;

/** Objects by key, and by each named index. */
export class Store<V extends Identified, I extends string> {
  readonly #objects = new Map<string, V>();
  readonly #indexes = new Map<I, Index<V>>();

  constructor(indexes: Readonly<Record<I, IndexBy<V>>>) {
    for (const name of Object.keys(indexes) as I[]) this.#indexes.set(name, new Index(indexes[name]));
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): V | undefined {
    return this.#objects.get(key);
  }

  keys(): Iterable<string> {
    return this.#objects.keys();
  }

  values(): Iterable<V> {
    return this.#objects.values();
  }

  by(index: I, indexKey: string): readonly V[] {
    const keys = this.#indexes.get(index)?.keysOf(indexKey) ?? [];
    return Array.from(keys, (key) => this.#objects.get(key)!);
  }

  set(key: string, object: V): void {
    const before = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const index of this.#indexes.values()) index.move(key, before, object);
  }

  delete(key: string): void {
    const before = this.#objects.get(key);
    this.#objects.delete(key);
    for (const index of this.#indexes.values()) index.move(key, before, undefined);
  }
}

class Index<V> {
  readonly #indexBy: IndexBy<V>;
  readonly #keys = new Map<string, Set<string>>();

  constructor(indexBy: IndexBy<V>) {
    this.#indexBy = indexBy;
  }

  keysOf(indexKey: string): Iterable<string> {
    return this.#keys.get(indexKey) ?? [];
  }

  move(key: string, before: V | undefined, after: V | undefined): void {
    const left = new Set(before === undefined ? [] : this.#indexBy(before));
    const entered = new Set(after === undefined ? [] : this.#indexBy(after));
    for (const indexKey of left) if (!entered.has(indexKey)) this.#remove(indexKey, key);
    for (const indexKey of entered) if (!left.has(indexKey)) this.#add(indexKey, key);
  }

  #add(indexKey: string, key: string): void {
    const keys = this.#keys.get(indexKey);
    if (keys === undefined) this.#keys.set(indexKey, new Set([key]));
    else keys.add(key);
  }

  #remove(indexKey: string, key: string): void {
    const keys = this.#keys.get(indexKey);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(indexKey);
  }
}
