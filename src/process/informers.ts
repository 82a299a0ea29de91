/** The informers of a process: each made once, followed from then on, and shared by all controllers that read it. */

import type { KubeClient } from "../kube/client.ts";
import type { Informer } from "../kube/informer.ts";
import type { Identified } from "../kube/store.ts";

/** Identifies an informer and says how it is made. A part that shares one exports its key. */
export interface InformerKey<V extends Identified, I extends string = never> {
  readonly name: string;
  make(client: KubeClient): Informer<V, I>;
}

/** What controllers see. */
export interface Informers {
  /** The informer of this key; the first who asks makes it and it follows the server from then on. */
  shared<V extends Identified, I extends string = never>(key: InformerKey<V, I>): Informer<V, I>;
}

/** The part of an informer that health cares about. */
interface Followed {
  readonly name: string;
  readonly hasSynced: boolean;
}

/** Runs every informer somebody asked for until the signal aborts. */
export class SharedInformers implements Informers {
  readonly #client: KubeClient;
  readonly #signal: AbortSignal;
  readonly #made = new Map<object, unknown>();
  readonly #followed: Followed[] = [];

  constructor(client: KubeClient, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  shared<V extends Identified, I extends string = never>(key: InformerKey<V, I>): Informer<V, I> {
    // The key itself is the identity, so what is found under it was made by it.
    const known = this.#made.get(key) as Informer<V, I> | undefined;
    if (known) return known;
    const informer = key.make(this.#client);
    this.#made.set(key, informer);
    this.#followed.push(informer);
    void informer.run(this.#signal);
    return informer;
  }

  /** For `/readyz`: those that have not seen everything yet. */
  problem(): string | undefined {
    const waiting = this.#followed.filter(({ hasSynced }) => !hasSynced).map(({ name }) => name);
    return waiting.length === 0 ? undefined : `not yet listed: ${waiting.join(", ")}`;
  }
}
