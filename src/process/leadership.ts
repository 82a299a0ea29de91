/** The right to act: which leases this process needs, and the one gate that follows from them. */

import type { EventRecorder } from "../identity/event-reasons.ts";
import { leases } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import type { ObjectRef } from "../kube/event-correlator.ts";
import { leaseStore } from "../kube/lease-store.ts";
import { apiVersion } from "../kube/resource.ts";
import { Election, identityOf } from "../runtime/election.ts";
import type { ElectionTimings } from "../runtime/election-timings.ts";
import { dryRunGate, everyGate, openGate, type WriteGate } from "../runtime/gate.ts";
import type { HealthCheck } from "../runtime/health.ts";
import type { Host } from "../runtime/host.ts";

/** One lease: while this process holds it, whoever else competes for it does nothing. */
export interface LeaseToHold {
  readonly namespace: string;
  readonly name: string;
  readonly timings: ElectionTimings;
}

/** What leadership is made from. */
export interface LeadershipOptions {
  /** Writes leases: its gate is open. */
  readonly client: KubeClient;
  /** All of them are acquired, in this order, before anything is done. None: this process acts without asking. */
  readonly leases: readonly LeaseToHold[];
  /** The lease of leader migration, when it takes part. */
  readonly migration?: LeaseToHold;
  /** The Lease that stands for this program in Events which concern no other object. */
  readonly home: { readonly namespace: string; readonly name: string };
  /** Nothing but Events and leases is written. */
  readonly dryRun: boolean;
}

/** Leads at most once; after a loss the process ends. */
export class Leadership {
  /** Open while this process leads. Events pass it even in a dry run. */
  readonly held: WriteGate;
  /** What everything else passes: never open in a dry run. */
  readonly gate: WriteGate;
  readonly identity: string;
  /** What an Event is about that concerns this program and nothing else. */
  readonly lease: ObjectRef;
  readonly #host: Host;
  readonly #elections: readonly Election[];
  readonly #migration: Election | undefined;
  #recorder: EventRecorder | undefined;
  #migrating = false;

  constructor(host: Host, { client, leases: wanted, migration, home, dryRun }: LeadershipOptions) {
    this.#host = host;
    this.identity = identityOf(host.world);
    this.lease = { apiVersion: apiVersion(leases), kind: leases.kind, ...home };
    const election = ({ namespace, name, timings }: LeaseToHold, lostMessage: string) =>
      new Election(host, {
        store: leaseStore(client, { namespace, name, renewDeadlineMs: timings.renewDeadlineMs }),
        identity: this.identity,
        timings,
        name,
        lostMessage,
        onNewLeader: (identity) => host.log.info("new leader elected", { lease: name, identity }),
      });
    this.#elections = wanted.map((lease) => election(lease, "leaderelection lost"));
    this.#migration = migration && election(migration, "migration leaderelection lost");
    this.held = this.#heldGate();
    this.gate = dryRun
      ? everyGate(
          this.held,
          dryRunGate((write) => host.log.info(`dry run: would ${write}`)),
        )
      : this.held;
  }

  /** `leaderElection` of `/healthz`; undefined without leader election. */
  get check(): HealthCheck | undefined {
    const elections = this.#all();
    if (elections.length === 0) return undefined;
    return {
      name: "leaderElection",
      problem: () => elections.map((election) => election.health()).find((problem) => problem !== undefined),
    };
  }

  /** Resolves when this process may act. Events about it go through the recorder. */
  async lead(recorder: EventRecorder, signal: AbortSignal): Promise<void> {
    this.#recorder = recorder;
    for (const election of this.#elections) await election.lead(signal);
    if (this.#elections.length > 0) this.#record("became leader");
  }

  /** Resolves when this process may run migrated controllers too: at once without migration, else holding both leases from then on. */
  async leadMigration(signal: AbortSignal): Promise<void> {
    await this.#migration?.lead(signal);
    this.#migrating = this.#migration !== undefined;
  }

  /** Says in an Event that this process will lead no more. To be called while it still may. */
  announceEnd(): void {
    if (this.#elections.length > 0 && this.#elections.every((election) => election.leading())) this.#record("stopped leading");
  }

  /** Gives the leases up, all at once, so that a successor need not wait and none waits for another. Nothing is written after the call. */
  async release(signal: AbortSignal): Promise<void> {
    const releases = this.#all().map(async (election) => {
      try {
        await election.release(signal);
      } catch (error) {
        this.#host.log.warn("the lease could not be released; the next leader waits until it expires", { error });
      }
    });
    await Promise.all(releases);
  }

  #all(): Election[] {
    return [...this.#elections, ...(this.#migration ? [this.#migration] : [])];
  }

  #heldGate(): WriteGate {
    const main = this.#elections.length === 0 ? openGate() : everyGate(...this.#elections.map(({ gate }) => gate));
    const migration = this.#migration?.gate;
    if (!migration) return main;
    return {
      check: (write) => {
        main.check(write);
        if (this.#migrating) migration.check(write);
      },
      lost: AbortSignal.any([main.lost, migration.lost]),
    };
  }

  #record(what: string): void {
    this.#recorder?.record(this.lease, "Normal", "LeaderElection", `${this.identity} ${what}`);
  }
}
