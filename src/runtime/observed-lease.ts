/** One lease as one process knows it: the record it saw last and for how long, and the writes over that record. */
import type { ElectionTimings } from "./election-timings.ts";
import { LeaseConflict, type LeaseRecord, type LeaseStore } from "./lease.ts";
import { type Clock, within } from "./world.ts";

export interface ObservedLeaseOptions {
  readonly store: LeaseStore;
  /** Unique to this run of the process. */
  readonly identity: string;
  readonly timings: ElectionTimings;
  /** Told whenever another holder is seen, this process included. */
  onNewLeader?(identity: string): void;
}

interface Observed {
  readonly record: LeaseRecord;
  readonly version: string;
  /** When this version was first seen, on our clock. */
  readonly since: number;
}

/** What is known of a lease. Whether this process leads is not decided here. */
export class ObservedLease {
  readonly #clock: Clock;
  readonly #options: ObservedLeaseOptions;
  #observed: Observed | undefined;
  #reported: string | undefined;
  #unsure = false;

  constructor(clock: Clock, options: ObservedLeaseOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /** Who is seen to hold it. */
  get holder(): string | undefined {
    return this.#observed?.record.holderIdentity || undefined;
  }

  get isOurs(): boolean {
    return this.holder === this.#options.identity;
  }

  /** A write was sent and its answer has not come: the lease may be ours without our knowing. */
  get isUnsure(): boolean {
    return this.#unsure;
  }

  /** How long until the lease seen runs out, if nobody renews it. */
  get leftMs(): number {
    if (this.#observed === undefined) return 0;
    const { record, since } = this.#observed;
    return since + record.leaseDurationSeconds * 1000 - this.#clock.monotonic();
  }

  /** Whether it is nobody's, ours, or not renewed for so long that its holder has stopped. */
  get mayBeTaken(): boolean {
    return this.holder === undefined || this.isOurs || this.leftMs <= 0;
  }

  async read(signal: AbortSignal): Promise<void> {
    const found = await this.#limited("read", signal, (inner) => this.#options.store.read(inner));
    if (found === undefined) this.#observed = undefined;
    else this.#observe(found.record, found.version);
  }

  /** Writes this process as the holder over what was seen. Rejects with `LeaseConflict` when that is no longer there. */
  async hold(signal: AbortSignal): Promise<void> {
    const { identity, timings } = this.#options;
    const seen = this.#observed?.record;
    const now = this.#timestamp();
    const ours = seen?.holderIdentity === identity;
    await this.#put(
      {
        holderIdentity: identity,
        // Rounded up: others take the lease after the seconds written here.
        leaseDurationSeconds: Math.ceil(timings.leaseDurationMs / 1000),
        acquireTime: ours ? seen.acquireTime : now,
        renewTime: now,
        leaseTransitions: seen === undefined ? 0 : seen.leaseTransitions + (ours ? 0 : 1),
      },
      signal,
    );
  }

  /** Leaves it to others, if it is seen to be ours; resolves with whether it was. */
  async giveUp(signal: AbortSignal): Promise<boolean> {
    const wasOurs = this.isOurs;
    for (let attempt = 1; this.isOurs; attempt++) {
      const now = this.#timestamp();
      const { leaseTransitions } = this.#observed!.record;
      try {
        await this.#put({ holderIdentity: "", leaseDurationSeconds: 1, acquireTime: now, renewTime: now, leaseTransitions }, signal);
      } catch (error) {
        // A renewal cut off half-way may still have arrived: the version has then moved on and the lease is still ours.
        if (!(error instanceof LeaseConflict) || attempt === 3) throw error;
        await this.read(signal);
      }
    }
    return wasOurs;
  }

  async #put(record: LeaseRecord, signal: AbortSignal): Promise<void> {
    const { store } = this.#options;
    const over = this.#observed;
    this.#unsure = true;
    const version = await this.#limited("write", signal, (inner) =>
      over === undefined ? store.create(record, inner) : store.update(record, over.version, inner),
    ).catch((error) => {
      if (error instanceof LeaseConflict) this.#unsure = false;
      throw error;
    });
    this.#unsure = false;
    this.#observe(record, version);
  }

  #limited<T>(doing: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { store, timings } = this.#options;
    return within(this.#clock, Math.max(1_000, timings.renewDeadlineMs / 2), `${doing} lease ${store.name}`, signal, work);
  }

  #observe(record: LeaseRecord, version: string): void {
    const before = this.#observed;
    // By version, not by content: a holder whose wall clock stands still renews all the same.
    this.#observed = { record, version, since: before?.version === version ? before.since : this.#clock.monotonic() };
    const { holderIdentity } = record;
    if (holderIdentity === "" || holderIdentity === this.#reported) return;
    this.#reported = holderIdentity;
    this.#options.onNewLeader?.(holderIdentity);
  }

  /** Kubernetes writes these with microseconds. */
  #timestamp(): string {
    return new Date(this.#clock.now()).toISOString().replace("Z", "000Z");
  }
}
