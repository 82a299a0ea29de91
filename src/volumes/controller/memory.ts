/** What a controller remembers of its own writes for as long as EC2's answers may lag behind them. */
import type { Clock } from "../../runtime/world.ts";

const rememberedMs = 10 * 60_000;

/** Ids that were noted a short time ago. */
export class RecentIds {
  readonly #clock: Clock;
  readonly #noted = new Map<string, { readonly at: number; readonly detail: string }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `detail` is what else is to be known of it. */
  note(id: string, detail = ""): void {
    const now = this.#clock.monotonic();
    for (const [old, { at }] of this.#noted) {
      if (now - at < rememberedMs) break;
      this.#noted.delete(old);
    }
    this.#noted.delete(id);
    this.#noted.set(id, { at: now, detail });
  }

  /** Whether it was noted, not too long ago. */
  has(id: string): boolean {
    return (this.ageMs(id) ?? Number.POSITIVE_INFINITY) < rememberedMs;
  }

  /** How long ago it was noted; undefined when it was not. */
  ageMs(id: string): number | undefined {
    const at = this.#noted.get(id)?.at;
    return at === undefined ? undefined : this.#clock.monotonic() - at;
  }

  /** What was noted with it. */
  detail(id: string): string {
    return this.#noted.get(id)?.detail ?? "";
  }

  forget(id: string): void {
    this.#noted.delete(id);
  }
}

/** When something was first asked for. */
export class FirstTime {
  readonly #clock: Clock;
  #at: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that it is asked for now, and says how long ago it first was. */
  note(): number {
    this.#at ??= this.#clock.monotonic();
    return this.#clock.monotonic() - this.#at;
  }
}

/**
 * Attachments that this process has ended. EC2 may still show one of them; its attach time tells it from a newer attachment
 * of the same volume to the same instance, and so keeps a detached volume from being reported as attached.
 */
export class Detachments {
  readonly #ended: RecentIds;

  constructor(clock: Clock) {
    this.#ended = new RecentIds(clock);
  }

  note(volumeId: string, instanceId: string, attachTime: string | undefined): void {
    if (attachTime !== undefined) this.#ended.note(keyOf(volumeId, instanceId, attachTime));
  }

  isEnded(volumeId: string, instanceId: string, attachTime: string | undefined): boolean {
    return attachTime !== undefined && this.#ended.has(keyOf(volumeId, instanceId, attachTime));
  }

  /** EC2 says that the attachment stands: it was not ended after all. */
  forget(volumeId: string, instanceId: string, attachTime: string | undefined): void {
    if (attachTime !== undefined) this.#ended.forget(keyOf(volumeId, instanceId, attachTime));
  }
}

function keyOf(volumeId: string, instanceId: string, attachTime: string): string {
  return `${volumeId} ${instanceId} ${Date.parse(attachTime)}`;
}
