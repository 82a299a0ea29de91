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
import { InvalidTimings, timingProblems } from "./election-timings.ts";
import { type WriteGate, WriteRefused } from "./gate.ts";
import type { Host } from "./host.ts";
import { LeaseConflict } from "./lease.ts";
import type { Log } from "./log.ts";
import { gauge } from "./metrics.ts";
import { ObservedLease, type ObservedLeaseOptions } from "./observed-lease.ts";
import { jittered, sleep, uuid, type World } from "./world.ts";

/** The identity is that of `identityOf(world)`. */
export interface ElectionOptions extends ObservedLeaseOptions {
  /** The label `name` of `leader_election_master_status`: the name of the lease. */
  readonly name: string;
  /** What is said when the lease is lost: `leaderelection lost`. */
  readonly lostMessage: string;
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

/** One process's part in one election. It leads at most once: after a loss the process ends. */
export class Election {
  /** Open while this process leads; to be asked right before each write. */
  readonly gate: WriteGate;
  /** Resolves when leadership is lost; never on `release`. */
  readonly lost: Promise<LeadershipLost>;
  readonly #host: Host;
  readonly #options: ElectionOptions;
  readonly #lease: ObservedLease;
  readonly #log: Log;
  readonly #status: Gauge<"name">;
  readonly #cut = new AbortController();
  readonly #lose: (error: LeadershipLost) => void;
  #state: State = "candidate";
  /** Start of the last successful renewal. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  #callOffDeadline: () => void = () => {};
  #renewing: Promise<void> = Promise.resolve();

  constructor(host: Host, options: ElectionOptions) {
    const problems = timingProblems(options.timings);
    if (problems.length > 0) throw new InvalidTimings(problems.join(", "));
    this.#host = host;
    this.#options = options;
    this.#lease = new ObservedLease(host.world.clock, options);
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
      if (this.#state !== "candidate") throw new Error(`lease ${this.#options.store.name} was abandoned while it was being acquired`);
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
      if (this.#lease.isUnsure) await this.#lease.read(signal);
    }
    // What was lost is another's by now, or free to whoever waited for it.
    if (this.#state !== "lost" && (await this.#lease.giveUp(signal))) this.#log.info("released the leader lease");
  }

  leading(): boolean {
    return this.#state === "leading";
  }

  /** Who is seen to hold the lease. */
  holder(): string | undefined {
    return this.#lease.holder;
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
      await this.#lease.read(signal);
      if (!this.#lease.mayBeTaken) return false;
      const sentAt = this.#now();
      await this.#lease.hold(signal);
      this.#renewedAt = sentAt;
      // Given up meanwhile, or answered too late to be of use.
      if (this.#state !== "candidate" || this.#expired()) return false;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof LeaseConflict) this.#log.v(4)?.info("another candidate was faster", { error });
      else this.#log.error("cannot acquire the lease; retrying", { error });
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
    const left = this.#lease.leftMs;
    return left > 0 ? Math.min(pause, left) : pause;
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
        if (this.#state === "leading") this.#log.error("cannot renew the lease; retrying", { error });
      }
    }
  }

  /** One renewal; false when somebody else turns out to hold the lease. */
  async #renewOnce(): Promise<boolean> {
    const { signal } = this.#cut;
    try {
      await this.#lease.hold(signal);
    } catch (error) {
      if (!(error instanceof LeaseConflict)) throw error;
      // An earlier renewal whose answer was lost, an edit by hand, or a new leader: look, and only then write.
      await this.#lease.read(signal);
      if (this.#lease.holder !== undefined && !this.#lease.isOurs) {
        this.#lost(`${this.#lease.holder} holds it now`);
        return false;
      }
      await this.#lease.hold(signal);
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

  #now(): number {
    return this.#host.world.clock.monotonic();
  }
}
