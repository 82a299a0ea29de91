/** The right to act: which leases this process needs, and the one gate that follows from them. */
import { leases } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { ObjectRef } from "../../kube/event-correlator.ts";
import type { EventRecorder } from "../../kube/event-recorder.ts";
import { leaseStore } from "../../kube/lease-store.ts";
import { apiVersion } from "../../kube/resource.ts";
import { Election, identityOf } from "../../runtime/election.ts";
import { dryRunGate, everyGate, openGate, type WriteGate } from "../../runtime/gate.ts";
import type { HealthCheck } from "../../runtime/health.ts";
import type { Host } from "../../runtime/host.ts";
import { leaseName } from "./configz.ts";
import type { Options } from "./flags.ts";
import { electionTimings } from "./validate.ts";

/** What leadership is made from. */
export interface LeadershipOptions {
  readonly options: Options;
  /** Writes leases: its gate is open. */
  readonly client: KubeClient;
  /** The lease of leader migration, when it takes part. */
  readonly migrationLease: string | undefined;
}

/** Leads at most once; after a loss the process ends. */
export class Leadership {
  /** Open while this process leads. Events pass it even in a dry run. */
  readonly held: WriteGate;
  /** What everything else passes: never open in a dry run. */
  readonly gate: WriteGate;
  readonly identity: string;
  readonly #host: Host;
  readonly #options: Options;
  readonly #main: Election | undefined;
  readonly #migration: Election | undefined;
  #recorder: EventRecorder | undefined;
  #migrating = false;

  constructor(host: Host, { options, client, migrationLease }: LeadershipOptions) {
    this.#host = host;
    this.#options = options;
    this.identity = identityOf(host.world);
    const election = (name: string, lostMessage: string) =>
      new Election(host, {
        store: leaseStore(client, {
          namespace: options["leader-elect-resource-namespace"],
          name,
          renewDeadlineMs: options["leader-elect-renew-deadline"],
        }),
        identity: this.identity,
        timings: electionTimings(options),
        name,
        lostMessage,
        onNewLeader: (identity) => host.log.info("new leader elected", { lease: name, identity }),
      });
    if (options["leader-elect"]) {
      this.#main = election(leaseName(options), "leaderelection lost");
      // A dry run holds its own Lease and no other.
      if (migrationLease !== undefined && !options["dry-run"]) this.#migration = election(migrationLease, "migration leaderelection lost");
    }
    this.held = this.#heldGate();
    this.gate = options["dry-run"]
      ? everyGate(
          this.held,
          dryRunGate((write) => host.log.info(`dry run: would ${write}`)),
        )
      : this.held;
  }

  /** `leaderElection` of `/healthz`; undefined without leader election. */
  get check(): HealthCheck | undefined {
    const elections = [this.#main, this.#migration].filter((election) => election !== undefined);
    if (elections.length === 0) return undefined;
    return {
      name: "leaderElection",
      problem: () => elections.map((election) => election.health()).find((problem) => problem !== undefined),
    };
  }

  /** The Lease it leads by: what an Event is about that concerns this program and nothing else. */
  get lease(): ObjectRef {
    const namespace = this.#options["leader-elect-resource-namespace"];
    return { apiVersion: apiVersion(leases), kind: leases.kind, name: leaseName(this.#options), namespace };
  }

  /** Resolves when this process may act. Events about it go through the recorder. */
  async lead(recorder: EventRecorder, signal: AbortSignal): Promise<void> {
    this.#recorder = recorder;
    if (!this.#main) return;
    await this.#main.lead(signal);
    this.#record("became leader");
  }

  /** Resolves when this process may run migrated controllers too: at once without migration, else holding both leases from then on. */
  async leadMigration(signal: AbortSignal): Promise<void> {
    await this.#migration?.lead(signal);
    this.#migrating = this.#migration !== undefined;
  }

  /** Says in an Event that this process will lead no more. To be called while it still may. */
  announceEnd(): void {
    if (this.#main?.leading()) this.#record("stopped leading");
  }

  /** Gives the leases up, so that a successor need not wait. Nothing is written after the call. */
  async release(signal: AbortSignal): Promise<void> {
    for (const election of [this.#migration, this.#main]) {
      try {
        await election?.release(signal);
      } catch (error) {
        this.#host.log.warn("the lease could not be given up; a successor waits until it runs out", { error });
      }
    }
  }

  #heldGate(): WriteGate {
    const main = this.#main?.gate ?? openGate();
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
