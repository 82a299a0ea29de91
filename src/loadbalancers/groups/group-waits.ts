/** Which owners wait for a node group to be as they need it, and what keeps it from that. */
import { causeOf } from "../../aws/errors.ts";
import { messageOf } from "../../runtime/message-of.ts";

/** An owner waits for a group. What it asks for later is another wait: what was done for this one does not end it. */
interface Wait {
  /** Why the group cannot be brought to what the owner needs. */
  trouble?: { readonly cause: string; readonly why: string };
}

/** Those who wait for a group, by owner. */
export type Waits = ReadonlyMap<string, Wait>;

export class GroupWaits {
  /** By node group, then by owner. */
  readonly #waiting = new Map<string, Map<string, Wait>>();
  #wakeWriter: (group: string) => void = () => {};

  /** Who is to be told which groups have to be looked at. */
  onWork(wake: (group: string) => void): void {
    this.#wakeWriter = wake;
    for (const group of this.#waiting.keys()) wake(group);
  }

  /** From now on the owner waits for these groups. */
  ask(owner: string, groups: readonly string[]): void {
    for (const group of new Set(groups)) {
      const waiting = this.#of(group);
      waiting.set(owner, waiting.get(owner) ?? {});
      this.#wakeWriter(group);
    }
  }

  /** The owner needs something else now: nothing that was begun, or failed, before counts for it. */
  startOver(owner: string): void {
    for (const waiting of this.#waiting.values()) if (waiting.has(owner)) waiting.set(owner, {});
  }

  forget(owner: string): void {
    for (const [group, waiting] of this.#waiting) {
      waiting.delete(owner);
      if (waiting.size === 0) this.#waiting.delete(group);
    }
  }

  /** The groups that one of these owners waits for. */
  groupsOf(owners: readonly string[]): readonly string[] {
    return [...this.#waiting].filter(([, waiting]) => owners.some((owner) => waiting.has(owner))).map(([group]) => group);
  }

  /** Why one of these groups cannot be brought to what one of these owners needs. */
  troubleOf(owners: readonly string[]): string | undefined {
    return [...this.#waiting.values()].flatMap((waiting) => owners.flatMap((owner) => waiting.get(owner)?.trouble?.why ?? []))[0];
  }

  /** Those who wait for a group now. */
  waitingFor(group: string): Waits {
    return new Map(this.#waiting.get(group));
  }

  /** The group is as they need it. Returns those whose wait is over by that. */
  settle(group: string, waits: Waits): readonly string[] {
    const waiting = this.#waiting.get(group);
    const over = [...waits].filter(([owner, wait]) => waiting?.get(owner) === wait).map(([owner]) => owner);
    for (const owner of over) waiting?.delete(owner);
    if (waiting?.size === 0) this.#waiting.delete(group);
    return over;
  }

  /** The group cannot be brought to what these need. Returns those to whom it is news: the same cause again is none. */
  fail(group: string, owners: readonly string[], error: unknown): readonly string[] {
    if (owners.length === 0) return [];
    const root = error instanceof Error && error.cause !== undefined ? error.cause : error;
    // Only the cause is compared: texts differ by their request ids.
    const trouble = { cause: causeOf(root), why: messageOf(error) };
    const waiting = this.#of(group);
    const news = owners.filter((owner) => waiting.get(owner)?.trouble?.cause !== trouble.cause);
    for (const owner of owners) waiting.set(owner, Object.assign(waiting.get(owner) ?? {}, { trouble }));
    return news;
  }

  /** Those who wait for a group, to add to them. */
  #of(group: string): Map<string, Wait> {
    const waiting = this.#waiting.get(group) ?? new Map<string, Wait>();
    this.#waiting.set(group, waiting);
    return waiting;
  }
}
