/** Messages that this process works on: kept from others meanwhile, and deleted when everything they told of has ended. */
import { isAwsError } from "../aws/errors.ts";
import { Gathering, type Queue, type QueueMessage } from "../aws/queue.ts";
import { refusalIn } from "../runtime/gate.ts";
import type { Host } from "../runtime/host.ts";
import { sleep } from "../runtime/world.ts";
import type { Reached } from "./inbox.ts";

/** Messages in work are kept for so long at a time. Should this process end, its plan outlives it; the message only has to come again. */
const keepSeconds = 60;
const renewEveryMs = 20_000;
const gatherMs = 50;
const retryMs = 5_000;

interface Held {
  /** With the receipt of its latest delivery. */
  message: QueueMessage;
  /** Events that have not ended. */
  readonly pending: Set<string>;
}

export class HeldMessages {
  readonly #host: Host;
  readonly #queue: Queue;
  readonly #held = new Map<string, Held>();
  readonly #deletions: Gathering<QueueMessage>;
  readonly #taken: Gathering<QueueMessage>;
  #life: AbortSignal = AbortSignal.abort();
  #mayNotKeep = false;

  constructor(host: Host, queue: Queue) {
    this.#host = host;
    this.#queue = queue;
    this.#taken = new Gathering(host.world.clock, gatherMs, (messages) => void this.#keep(messages));
    this.#deletions = new Gathering(host.world.clock, gatherMs, (messages) => void this.#deleteAll(messages));
  }

  get size(): number {
    return this.#held.size;
  }

  /** Renews what is held until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#life = signal;
    while (!signal.aborted) {
      await sleep(this.#host.world.clock, renewEveryMs, signal).catch(() => {});
      if (!signal.aborted) await this.#keep([...this.#held.values()].map(({ message }) => message));
    }
  }

  /** Whether a message is in work already; then its latest receipt is the one that counts. */
  isHeld(message: QueueMessage): boolean {
    const held = this.#held.get(message.id);
    if (held !== undefined) held.message = message;
    return held !== undefined;
  }

  /** Holds a message until each of these events has ended. */
  hold(message: QueueMessage, eventIds: readonly string[]): void {
    this.#held.set(message.id, { message, pending: new Set(eventIds) });
    this.#taken.add(message);
  }

  /** An event has ended, at this phase of its plan. With the last one its message goes. */
  ended(messageId: string, eventId: string, _reached: Reached): void {
    const held = this.#held.get(messageId);
    if (held === undefined) return;
    held.pending.delete(eventId);
    if (held.pending.size > 0) return;
    this.#deletions.add(held.message);
  }

  /** There is nothing to be done for a message. */
  drop(message: QueueMessage): void {
    this.#deletions.add(message);
  }

  /** Another one may take it at once. */
  async giveBack(signal: AbortSignal): Promise<void> {
    const messages = [...this.#held.values()].map(({ message }) => message);
    this.#held.clear();
    if (messages.length > 0 && !this.#mayNotKeep) await this.#queue.keep(messages, 0, signal);
  }

  async #keep(messages: readonly QueueMessage[]): Promise<void> {
    if (messages.length === 0 || this.#mayNotKeep || this.#life.aborted) return;
    try {
      await this.#queue.keep(messages, keepSeconds, this.#life);
    } catch (error) {
      if (this.#life.aborted || refusalIn(error) !== undefined) return;
      // Policies made for the reference do not allow it. Messages then come again, and are known.
      this.#mayNotKeep = isAwsError(error, "denied");
      this.#host.log.warn("messages cannot be hidden from others while they are handled", { error, forGood: this.#mayNotKeep });
    }
  }

  async #deleteAll(messages: readonly QueueMessage[]): Promise<void> {
    // What came again meanwhile can be deleted by its latest receipt only.
    const latest = messages.map((message) => this.#held.get(message.id)?.message ?? message);
    try {
      const failures = await this.#queue.delete(latest, this.#life);
      for (const message of latest) {
        const failure = failures.find(({ id }) => id === message.id);
        if (failure === undefined || /Receipt/.test(failure.code)) this.#held.delete(message.id);
        else this.#again([message], failure);
      }
    } catch (error) {
      if (this.#life.aborted || refusalIn(error) !== undefined) return;
      this.#again(latest, error);
    }
  }

  #again(messages: readonly QueueMessage[], error: unknown): void {
    this.#host.log.warn("messages could not be deleted; retrying", { messages: messages.length, error });
    this.#host.world.clock.after(retryMs, () => {
      if (!this.#life.aborted) for (const message of messages) this.#deletions.add(message);
    });
  }
}
