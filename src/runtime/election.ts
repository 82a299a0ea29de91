/**
 * Leader election on a lease, and the gate that holds every write to it.
 *
 * Nobody's wall clock is believed: a candidate measures, on its own monotonic clock, how long the record it sees has
 * not changed. The leader counts from the moment it *sent* its last successful renewal, which is before anybody can
 * have seen it, and stops at the renew deadline, which is shorter than the lease:
 *
 *     leader     send ├──── may start writes ────┤ renew deadline
 *     candidate       · sees it ├──────── waits the lease duration ────────┤ may take it
 */
import type { Gauge } from "prom-client";
import { type ElectionTimings, InvalidTimings, timingProblems } from "./election-timings.ts";
import { type WriteGate, WriteRefused } from "./gate.ts";
import type { Host } from "./host.ts";
import { LeaseConflict, type LeaseRecord, type LeaseStore } from "./lease.ts";
import type { Log } from "./log.ts";
import { gauge } from "./metrics.ts";
import { jittered, sleep, uuid, type World, within } from "./world.ts";

export interface ElectionOptions {
  readonly store: LeaseStore;
  /** Unique to this run of the process: `identityOf(world)`. */
  readonly identity: string;
  readonly timings: ElectionTimings;
  /** The label `name` of `leader_election_master_status`: the name of the lease. */
  readonly name: string;
  /** What is said when the lease is lost: `leaderelection lost`. */
  readonly lostMessage: string;
  /** Told whenever another holder is seen, this process included. */
  onNewLeader?(identity: string): void;
}

/** Leadership is over. The process must end with status 1: what it believes about the cluster may no longer hold. */
export class LeadershipLost extends Error {
  override readonly name = "LeadershipLost";
}

/** `<hostname>_<uuid>`: no two runs of a process share it. */
export function identityOf(world: World): string {
  return `${world.hostname}_${uuid(world.random)}`;
}

type State = "candidate" | "leading" | "lost" | "released";

interface Observed {
  readonly record: LeaseRecord;
  readonly version: string;
  /** When this version was first seen, on our clock. */
  readonly since: number;
}

/** One process's part in one election. It leads at most once: after a loss the process ends. */
export class Election {
  /** Open while this process leads; to be asked right before each write. */
  readonly gate: WriteGate;
  /** Resolves when leadership is lost; never on `release`. */
  readonly lost: Promise<LeadershipLost>;
  readonly #host: Host;
  readonly #options: ElectionOptions;
  readonly #log: Log;
  readonly #status: Gauge<"name">;
  readonly #cut = new AbortController();
  readonly #lose: (error: LeadershipLost) => void;
  #state: State = "candidate";
  #observed: Observed | undefined;
  #reported: string | undefined;
  /** Start of the last successful renewal. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  /** A write was sent and its answer has not come: the lease may be ours without our knowing. */
  #unsure = false;
  #callOffDeadline: () => void = () => {};
  #renewing: Promise<void> = Promise.resolve();

  constructor(host: Host, options: ElectionOptions) {
    const problems = timingProblems(options.timings);
    if (problems.length > 0) throw new InvalidTimings(problems.join(", "));
    this.#host = host;
    this.#options = options;
    this.#log = host.log.with({ lease: options.store.name });
    this.#status = gauge(host.metrics, {
      name: "leader_election_master_status",
      help: "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master.",
      labels: ["name"],
    });
    this.#status.set({ name: options.name }, 0);
    const { promise, resolve } = Promise.withResolvers<LeadershipLost>();
    this.lost = promise;
    this.#lose = resolve;
    this.gate = { check: (write) => this.#check(write), lost: this.#cut.signal };
  }

  /** Competes for the lease and resolves when this process leads; from then on it renews by itself. */
  async lead(signal: AbortSignal): Promise<void> {
    this.#log.info("attempting to acquire the leader lease");
    while (!(await this.#tryAcquire(signal))) {
      if (this.#state !== "candidate") throw new Error(`lease ${this.#options.store.name} was given up while it was competed for`);
      await sleep(this.#host.world.clock, this.#candidatePauseMs(), signal);
    }
    this.#log.info("acquired the leader lease", { identity: this.#options.identity });
    this.#status.set({ name: this.#options.name }, 1);
    this.#renewing = this.#renew();
  }

  /**
   * Gives the lease up, so that a successor need not wait for it to run out. No write starts any more from the moment
   * of the call; let work in hand finish first.
   */
  async release(signal: AbortSignal): Promise<void> {
    if (this.#state === "leading") {
      this.#end("released", new Error("the lease was released"));
      await this.#renewing;
    } else {
      if (this.#state === "candidate") this.#state = "released";
      if (this.#unsure) await this.#read(signal);
    }
    await this.#giveUp(signal);
  }

  leading(): boolean {
    return this.#state === "leading";
  }

  /** Who is seen to hold the lease. */
  holder(): string | undefined {
    return this.#observed?.record.holderIdentity || undefined;
  }

  /**
   * For the `leaderElection` health check: fails only when this process holds the lease and has not renewed it for the
   * lease duration and 20 s more, that is when it should long have ended by itself.
   */
  health(): string | undefined {
    if (this.#state !== "leading") return undefined;
    const overdueMs = this.#now() - this.#renewedAt - this.#options.timings.leaseDurationMs;
    return overdueMs > 20_000 ? `failed election to renew leadership on lease ${this.#options.name}` : undefined;
  }

  #check(write: string): void {
    if (this.#state === "leading" && this.#expired()) {
      // A stall may end right here, before any timer has run. Once refused, the refusal is final.
      this.#lost("it was not renewed in time");
    }
    if (this.#state !== "leading") throw new WriteRefused(write, "not-leading");
  }

  #expired(): boolean {
    return this.#now() - this.#renewedAt >= this.#options.timings.renewDeadlineMs;
  }

  async #tryAcquire(signal: AbortSignal): Promise<boolean> {
    try {
      const seen = await this.#read(signal);
      if (seen !== undefined && !this.#mayTake(seen)) return false;
      const sentAt = this.#now();
      await this.#write(seen, signal);
      this.#renewedAt = sentAt;
      // Given up meanwhile, or answered too late to be of use.
      if (this.#state !== "candidate" || this.#expired()) return false;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof LeaseConflict) this.#log.v(4)?.info("somebody else was faster", { error });
      else this.#log.error("cannot acquire the lease; trying again", { error });
      return false;
    }
    this.#state = "leading";
    this.#armDeadline();
    return true;
  }

  /**
   * A little under the retry period, and no longer than until the lease seen runs out. The reference pauses for 1 to
   * 2.2 retry periods and may then take over as late as two such pauses after the lease has run out.
   */
  #candidatePauseMs(): number {
    const pause = jittered(this.#host.world.random, this.#options.timings.retryPeriodMs * 0.5, 0.8);
    const left = this.#observed === undefined ? 0 : expiry(this.#observed) - this.#now();
    return left > 0 ? Math.min(pause, left) : pause;
  }

  #mayTake(seen: Observed): boolean {
    const { holderIdentity } = seen.record;
    return holderIdentity === "" || holderIdentity === this.#options.identity || this.#now() >= expiry(seen);
  }

  async #renew(): Promise<void> {
    const { clock } = this.#host.world;
    while (this.#state === "leading") {
      try {
        await sleep(clock, this.#options.timings.retryPeriodMs, this.#cut.signal);
        // After a stall the deadline's own timer may come after this one.
        if (this.#expired()) this.#lost("it was not renewed in time");
        if (this.#state !== "leading") return;
        const sentAt = this.#now();
        if (!(await this.#renewOnce())) return;
        this.#renewedAt = sentAt;
        this.#armDeadline();
      } catch (error) {
        if (this.#state === "leading") this.#log.error("cannot renew the lease; trying again", { error });
      }
    }
  }

  /** One renewal; false when somebody else turns out to hold the lease. */
  async #renewOnce(): Promise<boolean> {
    const { signal } = this.#cut;
    try {
      await this.#write(this.#observed, signal);
    } catch (error) {
      if (!(error instanceof LeaseConflict)) throw error;
      // An earlier renewal whose answer was lost, an edit by hand, or a new leader: look, and only then write.
      const seen = await this.#read(signal);
      const holder = seen?.record.holderIdentity;
      if (holder && holder !== this.#options.identity) {
        this.#lost(`${holder} holds it now`);
        return false;
      }
      await this.#write(seen, signal);
    }
    return this.#state === "leading";
  }

  #armDeadline(): void {
    this.#callOffDeadline();
    const left = this.#renewedAt + this.#options.timings.renewDeadlineMs - this.#now();
    this.#callOffDeadline = this.#host.world.clock.after(Math.max(0, left), () => this.#lost("it was not renewed in time"));
  }

  #lost(why: string): void {
    if (this.#state !== "leading") return;
    const error = new LeadershipLost(this.#options.lostMessage);
    this.#end("lost", error);
    this.#log.error(this.#options.lostMessage, { why, holder: this.holder() });
    this.#lose(error);
  }

  #end(state: "lost" | "released", reason: Error): void {
    this.#state = state;
    this.#callOffDeadline();
    this.#status.set({ name: this.#options.name }, 0);
    this.#cut.abort(reason);
  }

  async #giveUp(signal: AbortSignal): Promise<void> {
    const { identity } = this.#options;
    if (this.#state === "lost") return;
    for (let attempt = 1; this.#observed?.record.holderIdentity === identity; attempt++) {
      const now = this.#timestamp();
      const empty: LeaseRecord = {
        holderIdentity: "",
        leaseDurationSeconds: 1,
        acquireTime: now,
        renewTime: now,
        leaseTransitions: this.#observed.record.leaseTransitions,
      };
      try {
        await this.#put(empty, this.#observed, signal);
        this.#log.info("released the leader lease");
      } catch (error) {
        // A renewal cut off half-way may still have arrived: the version has then moved on and the lease is still ours.
        if (!(error instanceof LeaseConflict) || attempt === 3) throw error;
        await this.#read(signal);
      }
    }
  }

  async #read(signal: AbortSignal): Promise<Observed | undefined> {
    const found = await this.#limited("read", signal, (inner) => this.#options.store.read(inner));
    if (found === undefined) this.#observed = undefined;
    else this.#observe(found.record, found.version);
    return this.#observed;
  }

  /** Writes this process as the holder over what was seen. */
  async #write(seen: Observed | undefined, signal: AbortSignal): Promise<void> {
    const { identity, timings } = this.#options;
    const now = this.#timestamp();
    const ours = seen?.record.holderIdentity === identity;
    const record: LeaseRecord = {
      holderIdentity: identity,
      // Rounded up: others take the lease after the seconds written here.
      leaseDurationSeconds: Math.ceil(timings.leaseDurationMs / 1000),
      acquireTime: ours ? seen.record.acquireTime : now,
      renewTime: now,
      leaseTransitions: seen === undefined ? 0 : seen.record.leaseTransitions + (ours ? 0 : 1),
    };
    await this.#put(record, seen, signal);
  }

  async #put(record: LeaseRecord, over: Observed | undefined, signal: AbortSignal): Promise<void> {
    const { store } = this.#options;
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
    const limitMs = Math.max(1_000, this.#options.timings.renewDeadlineMs / 2);
    return within(this.#host.world.clock, limitMs, `${doing} lease ${this.#options.store.name}`, signal, work);
  }

  #observe(record: LeaseRecord, version: string): void {
    const before = this.#observed;
    // By version, not by content: a holder whose wall clock stands still renews all the same.
    this.#observed = { record, version, since: before?.version === version ? before.since : this.#now() };
    const { holderIdentity } = record;
    if (holderIdentity === "" || holderIdentity === this.#reported) return;
    this.#reported = holderIdentity;
    this.#options.onNewLeader?.(holderIdentity);
  }

  #now(): number {
    return this.#host.world.clock.monotonic();
  }

  /** Kubernetes writes these with microseconds. */
  #timestamp(): string {
    return new Date(this.#host.world.clock.now()).toISOString().replace("Z", "000Z");
  }
}

function expiry({ record, since }: Observed): number {
  return since + record.leaseDurationSeconds * 1000;
}
