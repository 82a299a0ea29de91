/** Events on their way from where they are told to the plans of Nodes: which process knows of which, and what waits for their end. */
import type { InterruptionEvent } from "./event.ts";

/** How far the plan of an event has got when its message may go. There is no other way to acknowledge one. */
export type Reached = "ended" | "ignored" | "gone";

interface Held {
  readonly event: InterruptionEvent;
  readonly node: string;
  /** By what told of it: the same event may come in any number of messages. */
  readonly told: Map<string, (reached: Reached) => void>;
}

/** Events that this process was told of and that have not ended. */
export class Inbox {
  readonly #held = new Map<string, Held>();
  readonly #byNode = new Map<string, Set<string>>();
  readonly #over = new Map<string, Set<string>>();
  #enqueue: (key: string) => void = () => {};

  /** Who is told of Nodes with news. */
  onNews(enqueue: (key: string) => void): void {
    this.#enqueue = enqueue;
    for (const node of this.#byNode.keys()) enqueue(node);
  }

  /** Takes an event of a Node in, with what told of it: all that did are told of its end. */
  take(node: string, event: InterruptionEvent, teller: string, acknowledged: (reached: Reached) => void): void {
    const held = this.#held.get(event.id) ?? { event, node, told: new Map() };
    held.told.set(teller, acknowledged);
    this.#held.set(event.id, held);
    const ids = this.#byNode.get(held.node) ?? new Set();
    this.#byNode.set(held.node, ids.add(event.id));
    this.#enqueue(held.node);
  }

  /** AWS has taken events of a Node back. */
  callOff(node: string, eventIds: readonly string[]): void {
    const over = this.#over.get(node) ?? new Set();
    const fresh = eventIds.filter((id) => !over.has(id));
    if (fresh.length === 0) return;
    for (const id of fresh) over.add(id);
    this.#over.set(node, over);
    this.#enqueue(node);
  }

  eventsOf(node: string): readonly InterruptionEvent[] {
    return [...(this.#byNode.get(node) ?? [])].map((id) => this.#held.get(id)!.event);
  }

  overOf(node: string): ReadonlySet<string> {
    return this.#over.get(node) ?? none;
  }

  acknowledge(eventIds: readonly string[], reached: Reached): void {
    for (const id of eventIds) {
      const held = this.#held.get(id);
      if (held === undefined) continue;
      this.#held.delete(id);
      const ids = this.#byNode.get(held.node);
      ids?.delete(id);
      if (ids?.size === 0) this.#byNode.delete(held.node);
      for (const acknowledged of held.told.values()) acknowledged(reached);
    }
  }

  get size(): number {
    return this.#held.size;
  }
}

const none: ReadonlySet<string> = new Set();
