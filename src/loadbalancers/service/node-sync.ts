/**
 * Changes of Nodes, each a reason to look at the targets of every Service. Those that come soon after each other are
 * one round; a round is over when every Service that it has woken was looked at.
 *
 *     Node changes → queue "node" → (gathered for a second) → queue "service-targets"
 */
import type { Nodes } from "../../identity/node-view.ts";
import { type Controller, done } from "../../runtime/controller.ts";
import type { Clock } from "../../runtime/world.ts";
import { concernsTargets } from "./nodes.ts";
import { aborted } from "./sources.ts";

export interface NodeSyncParts {
  readonly clock: Clock;
  readonly nodes: Pick<Nodes, "name" | "synced" | "subscribe">;
  /** The Services whose targets follow the Nodes, as `namespace/name`. */
  services(): readonly string[];
  /** Told how long a round has taken, from the first change of a Node on. */
  onSynced(ms: number): void;
}

interface Round {
  readonly since: number;
  /** Services that have not been looked at since it began. */
  readonly waiting: Set<string>;
}

/** Nodes often come and go in numbers: what happens within this time is looked at together. */
const gatherMs = 1_000;

export class NodeSync {
  readonly #parts: NodeSyncParts;
  readonly #rounds = new Set<Round>();
  #cancel: (() => void) | undefined;
  #wake: (service: string) => void = () => {};

  constructor(parts: NodeSyncParts) {
    this.#parts = parts;
  }

  /** Who is to be told which Services have to be looked at. */
  onWork(wake: (service: string) => void): void {
    this.#wake = wake;
  }

  /** Takes up the changes; a key is the name of a Node. */
  controller(): Controller {
    const { nodes } = this.#parts;
    return {
      name: "service-node-sync",
      concurrency: 1,
      sources: [
        {
          name: nodes.name,
          start: async (enqueue, signal) => {
            // Those that are there at the start are seen by every Service's first look.
            await Promise.race([nodes.synced, aborted(signal)]);
            let told = false;
            const unsubscribe = nodes.subscribe((before, after) => {
              const node = after ?? before;
              if (told && node && concernsTargets(before, after)) enqueue(node.metadata.name);
            });
            told = true;
            signal.addEventListener("abort", () => {
              unsubscribe();
              this.#cancel?.();
            });
          },
        },
      ],
      reconcile: async () => {
        const { clock } = this.#parts;
        const since = clock.monotonic();
        this.#cancel ??= clock.after(gatherMs, () => this.#begin(since));
        return done;
      },
    };
  }

  /** One look at a Service: it answers the rounds that had woken it by then, whatever comes of it. */
  async during<T>(service: string, look: () => Promise<T>): Promise<T> {
    const rounds = [...this.#rounds].filter(({ waiting }) => waiting.has(service));
    try {
      return await look();
    } finally {
      for (const round of rounds) {
        round.waiting.delete(service);
        this.#endIfOver(round);
      }
    }
  }

  #begin(since: number): void {
    this.#cancel = undefined;
    const round: Round = { since, waiting: new Set(this.#parts.services()) };
    this.#rounds.add(round);
    for (const service of round.waiting) this.#wake(service);
    this.#endIfOver(round);
  }

  #endIfOver(round: Round): void {
    if (round.waiting.size === 0 && this.#rounds.delete(round)) this.#parts.onSynced(this.#parts.clock.monotonic() - round.since);
  }
}
