/** For how long volumes have been on their way off an instance: the metric that shows a node that does not let go. */
import type { Clock } from "../../runtime/world.ts";

/** Shown only after this long; forgotten when nobody has asked for this long. */
const shownAfterMs = 60_000;
const forgottenMs = 15 * 60_000;

export interface PendingDetachment {
  readonly volumeId: string;
  readonly instanceId: string;
  readonly state: string;
  readonly seconds: number;
}

interface Entry {
  readonly volumeId: string;
  readonly instanceId: string;
  readonly state: string;
  readonly since: number;
  readonly seenAt: number;
}

export class DetachPending {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(volumeId: string, instanceId: string, state: string): void {
    const key = `${volumeId} ${instanceId}`;
    const now = this.#clock.monotonic();
    this.#entries.set(key, { volumeId, instanceId, state, since: this.#entries.get(key)?.since ?? now, seenAt: now });
  }

  clear(volumeId: string, instanceId: string): void {
    this.#entries.delete(`${volumeId} ${instanceId}`);
  }

  /** Those that have taken longer than they should. */
  late(): readonly PendingDetachment[] {
    const now = this.#clock.monotonic();
    for (const [key, { seenAt }] of this.#entries) if (now - seenAt > forgottenMs) this.#entries.delete(key);
    return [...this.#entries.values()]
      .filter(({ since }) => now - since >= shownAfterMs)
      .map(({ volumeId, instanceId, state, since }) => ({ volumeId, instanceId, state, seconds: (now - since) / 1000 }));
  }
}
