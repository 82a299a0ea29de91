/** A cache of one resource that follows the server: objects, named indexes, and handlers told of every change. */
import type { Host } from "../runtime/host.ts";
import type { KubeClient } from "./client.ts";
import { freeze } from "./freeze.ts";
import type { InformerMetrics } from "./informer-metrics.ts";
import { informerMetrics } from "./informer-metrics.ts";
import type { Mirror, Scope } from "./reflector.ts";
import { Reflector } from "./reflector.ts";
import type { Frozen, KubeObject, Resource, Stored, StoredMeta } from "./resource.ts";
import { nameOf } from "./resource.ts";
import type { Identified, IndexBy } from "./store.ts";
import { keyOf, Store } from "./store.ts";

/** An object as an informer keeps it unless told otherwise: without what only the server and kubectl read. */
export type Trimmed<T extends KubeObject> = Omit<T, "metadata"> & { readonly metadata: Omit<StoredMeta, "managedFields"> };

/** Told of a change: no `before` is an addition, no `after` a deletion. The last `after` of a key is its next `before`. */
export type ChangeHandler<V> = (before: V | undefined, after: V | undefined) => void;

/** The same, told apart. */
export interface ChangeHandlers<V> {
  onAdd?(object: V): void;
  onUpdate?(before: V, after: V): void;
  onDelete?(last: V): void;
}

export interface InformerOptions<T extends KubeObject, V extends Identified, I extends string> extends Scope {
  readonly client: KubeClient;
  readonly of: Resource<T>;
  /** Keeps only what is read; the result is frozen. Called once for every state of every object. */
  readonly project: (object: Stored<T>) => V;
  readonly indexes?: Readonly<Record<I, IndexBy<Frozen<V>>>>;
  /** For metrics, where a resource has more than one informer. */
  readonly name?: string;
}

/** An informer of whole objects, trimmed. */
export function informer<T extends KubeObject, I extends string = never>(
  options: Omit<InformerOptions<T, Trimmed<T>, I>, "project">,
): Informer<Trimmed<T>, I>;
/** An informer of projected objects. */
export function informer<T extends KubeObject, V extends Identified, I extends string = never>(
  options: InformerOptions<T, V, I>,
): Informer<V, I>;
export function informer<T extends KubeObject, V extends Identified, I extends string = never>(
  options: Omit<InformerOptions<T, V, I>, "project"> & { readonly project?: (object: Stored<T>) => V },
): Informer<V, I> | Informer<Trimmed<T>, I> {
  const { project } = options;
  // Without a projection V is not inferred from anything: the first overload has said it is Trimmed<T>.
  if (project === undefined) return new Following({ ...options, project: trimmed } as unknown as InformerOptions<T, Trimmed<T>, I>);
  return new Following({ ...options, project });
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** Drops managedFields and kubectl's copy of the whole object: often more than half of it, and nobody reads them. */
export function trimmed<T extends KubeObject>(object: Stored<T>): Trimmed<T> {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  if (metadata.annotations?.[lastApplied] === undefined) return { ...object, metadata };
  const { [lastApplied]: _lastApplied, ...annotations } = metadata.annotations;
  return { ...object, metadata: { ...metadata, annotations } };
}

/** What callers see of an informer. */
export interface Informer<V extends Identified, I extends string = never> {
  readonly name: string;
  /** Follows the server until the signal aborts. Trouble on the way is counted and logged, and never ends it. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when everything that existed at the start is known and handlers have been told. */
  readonly synced: Promise<void>;
  readonly hasSynced: boolean;
  /** Wall-clock time since when the watch is down; undefined while it is up. */
  readonly staleSinceMs: number | undefined;
  readonly size: number;
  /** By `name`, or `namespace/name`. */
  get(key: string): Frozen<V> | undefined;
  list(): readonly Frozen<V>[];
  by(index: I, indexKey: string): readonly Frozen<V>[];
  /** Tells of everything known now, as additions, then of every change. Returns the function that ends it. */
  subscribe(handler: ChangeHandler<Frozen<V>> | ChangeHandlers<Frozen<V>>): () => void;
}

/** An object that has been looked at: which it is, which state, and what is kept of it. */
interface Admitted<V> {
  readonly key: string;
  readonly uid: string;
  /** Absent when the projection failed. */
  readonly view: Frozen<V> | undefined;
}

class Following<T extends KubeObject, V extends Identified, I extends string> implements Informer<V, I>, Mirror<T, Admitted<V>> {
  readonly name: string;
  readonly synced: Promise<void>;
  hasSynced = false;
  readonly #options: InformerOptions<T, V, I>;
  readonly #host: Host;
  readonly #metrics: InformerMetrics;
  readonly #store: Store<Frozen<V> & Identified, I>;
  readonly #resolveSynced: () => void;
  #handlers: readonly ChangeHandler<Frozen<V>>[] = [];
  /** While a list is on its way: the keys it has named so far. */
  #listed: Set<string> | undefined;

  constructor(options: InformerOptions<T, V, I>) {
    this.#options = options;
    this.#host = options.client.host;
    this.name = options.name ?? nameOf(options.of, options);
    this.#metrics = informerMetrics(this.#host.metrics, this.name);
    const indexes = (options.indexes ?? {}) as Readonly<Record<I, IndexBy<Frozen<V>>>>;
    this.#store = new Store(this.#guardedIndexes(indexes));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.synced = promise;
    this.#resolveSynced = resolve;
  }

  get staleSinceMs(): number | undefined {
    return this.#metrics.staleSinceMs;
  }

  get size(): number {
    return this.#store.size;
  }

  get(key: string): Frozen<V> | undefined {
    return this.#store.get(key);
  }

  list(): readonly Frozen<V>[] {
    return [...this.#store.values()];
  }

  by(index: I, indexKey: string): readonly Frozen<V>[] {
    return this.#store.by(index, indexKey);
  }

  subscribe(handler: ChangeHandler<Frozen<V>> | ChangeHandlers<Frozen<V>>): () => void {
    const told = typeof handler === "function" ? handler : toldApart(handler);
    for (const object of this.list()) this.#guarded("handler", () => told(undefined, object));
    this.#handlers = [...this.#handlers, told];
    return () => {
      this.#handlers = this.#handlers.filter((other) => other !== told);
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { client, of, namespace, labelSelector, fieldSelector } = this.#options;
    const scope = { namespace, labelSelector, fieldSelector };
    await new Reflector({ host: this.#host, client, of, scope, mirror: this, metrics: this.#metrics }).run(signal);
  }

  admit(object: Stored<T>): Admitted<V> {
    const key = keyOf(object);
    const { uid, resourceVersion } = object.metadata;
    const known = this.#store.get(key);
    if (known?.metadata.uid === uid && known.metadata.resourceVersion === resourceVersion) return { key, uid, view: known };
    return { key, uid, view: this.#guarded("projection", () => freeze(this.#options.project(object))) };
  }

  beginList(): void {
    this.#listed = new Set();
  }

  put({ key, uid, view }: Admitted<V>): void {
    this.#listed?.add(key);
    const before = this.#store.get(key);
    if (view === undefined || view === before) return;
    if (before !== undefined && before.metadata.uid !== uid) {
      // The name was given to another object while we looked away: the first one is gone.
      this.#forget(key, before);
      this.#keep(key, undefined, view);
    } else this.#keep(key, before, view);
  }

  remove(object: Stored<T>): void {
    const key = keyOf(object);
    this.#listed?.delete(key);
    const last = this.#store.get(key);
    if (last !== undefined) this.#forget(key, last);
  }

  endList(): void {
    const listed = this.#listed ?? new Set();
    this.#listed = undefined;
    for (const key of [...this.#store.keys()]) {
      if (!listed.has(key)) this.#forget(key, this.#store.get(key)!);
    }
    if (this.hasSynced) return;
    this.hasSynced = true;
    this.#metrics.synced();
    this.#resolveSynced();
  }

  #keep(key: string, before: Frozen<V> | undefined, after: Frozen<V>): void {
    this.#store.set(key, after);
    this.#tell(before, after);
  }

  #forget(key: string, last: Frozen<V>): void {
    this.#store.delete(key);
    this.#tell(last, undefined);
  }

  #tell(before: Frozen<V> | undefined, after: Frozen<V> | undefined): void {
    this.#metrics.objects(this.#store.size);
    for (const handler of this.#handlers) this.#guarded("handler", () => handler(before, after));
  }

  #guardedIndexes(indexes: Readonly<Record<I, IndexBy<Frozen<V>>>>): Readonly<Record<I, IndexBy<Frozen<V>>>> {
    const entries = Object.entries<IndexBy<Frozen<V>>>(indexes).map(([name, indexBy]) => [
      name,
      (object: Frozen<V>) => this.#guarded(`index ${name}`, () => [...indexBy(object)]) ?? [],
    ]);
    return Object.fromEntries(entries);
  }

  /** What others gave us must not stop us: one object that they stumble over would hide all the rest. */
  #guarded<R>(what: string, run: () => R): R | undefined {
    try {
      return run();
    } catch (error) {
      this.#metrics.handlerFailed();
      this.#host.log.error(`informer: a ${what} threw`, { informer: this.name, error });
      return undefined;
    }
  }
}

function toldApart<V>({ onAdd, onUpdate, onDelete }: ChangeHandlers<V>): ChangeHandler<V> {
  return (before, after) => {
    if (before === undefined) {
      if (after !== undefined) onAdd?.(after);
    } else if (after === undefined) onDelete?.(before);
    else onUpdate?.(before, after);
  };
}
