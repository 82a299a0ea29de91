/**
 * The objects, one counter of versions over all of them, and the recent past: what watches resume from and consistent
 * pages are read from. What is stored is never changed in place.
 */
import type { KubeObject } from "./json.ts";

export interface Change {
  readonly revision: number;
  /** `group/plural`. */
  readonly kind: string;
  readonly key: string;
  /** Absent after a delete. */
  readonly after: KubeObject | undefined;
  /** Absent before a create. */
  readonly before: KubeObject | undefined;
}

export type Listener = (change: Change) => void;

/** `namespace/name`, or `/name` for what has no namespace: the order of lists. */
export function objectKey(namespace: string | undefined, name: string): string {
  return `${namespace ?? ""}/${name}`;
}

export class Store {
  readonly #kinds = new Map<string, Map<string, KubeObject>>();
  /** Lists as they are now, for kinds that did not change since they were asked for. */
  readonly #lists = new Map<string, readonly KubeObject[]>();
  readonly #listeners = new Set<Listener>();
  readonly #historyLimit: number;
  #history: Change[] = [];
  #revision = 1;
  #compacted = 0;

  constructor(historyLimit: number) {
    this.#historyLimit = historyLimit;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Changes up to this revision are forgotten. */
  get compacted(): number {
    return this.#compacted;
  }

  get(kind: string, key: string): KubeObject | undefined {
    return this.#kinds.get(kind)?.get(key);
  }

  /** All objects of a kind, in the order of their keys, as they are now. */
  list(kind: string): readonly KubeObject[] {
    const known = this.#lists.get(kind);
    if (known !== undefined) return known;
    const list = sorted(this.#kinds.get(kind) ?? new Map());
    this.#lists.set(kind, list);
    return list;
  }

  /** All objects of a kind as they were right after a revision that is not forgotten. */
  listAt(kind: string, revision: number): readonly KubeObject[] {
    const past = new Map(this.#kinds.get(kind));
    for (let i = this.#history.length - 1; i >= 0; i--) {
      const change = this.#history[i]!;
      if (change.revision <= revision) break;
      if (change.kind !== kind) continue;
      if (change.before === undefined) past.delete(change.key);
      else past.set(change.key, change.before);
    }
    return sorted(past);
  }

  /** Writes an object under the next revision and returns it as stored. */
  put(kind: string, key: string, object: KubeObject): KubeObject {
    const revision = ++this.#revision;
    const objects = this.#kinds.get(kind) ?? new Map<string, KubeObject>();
    this.#kinds.set(kind, objects);
    const before = objects.get(key);
    const after: KubeObject = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
    objects.set(key, after);
    this.#record({ revision, kind, key, after, before });
    return after;
  }

  /** Takes an object out under the next revision, and returns it as it was, with that revision. */
  remove(kind: string, key: string): KubeObject {
    const before = this.get(kind, key);
    if (before === undefined) throw new Error(`${kind} ${key} is not stored`);
    const revision = ++this.#revision;
    this.#kinds.get(kind)!.delete(key);
    this.#record({ revision, kind, key, after: undefined, before });
    return { ...before, metadata: { ...before.metadata, resourceVersion: String(revision) } };
  }

  /** Changes of a kind after a revision that is not forgotten, oldest first. */
  changesSince(kind: string, revision: number): Change[] {
    return this.#history.filter((change) => change.revision > revision && change.kind === kind);
  }

  /** Told of every change, synchronously, until the returned function is called. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Forgets every change up to a revision, by default up to now: older watches and pages get 410. */
  compact(revision = this.#revision): void {
    this.#compacted = Math.max(this.#compacted, Math.min(revision, this.#revision));
    this.#history = this.#history.filter((change) => change.revision > this.#compacted);
  }

  #record(change: Change): void {
    this.#lists.delete(change.kind);
    this.#history.push(change);
    // Trimmed by halves: a shift at every write would move the whole array each time.
    if (this.#history.length > 2 * this.#historyLimit) this.compact(this.#history[this.#history.length - this.#historyLimit - 1]!.revision);
    for (const listener of [...this.#listeners]) listener(change);
  }
}

function sorted(objects: ReadonlyMap<string, KubeObject>): KubeObject[] {
  return [...objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
}
