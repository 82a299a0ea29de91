/** The life of the process: configured, connected to AWS, leading, working, stopped. */
import { Clouds } from "../../aws/cloud.ts";
import type { KubeClient } from "../../kube/client.ts";
import { loadKubeConfig } from "../../kube/config/load.ts";
import type { Connect } from "../../kube/connections.ts";
import { isApiError } from "../../kube/errors.ts";
import { EventPipeline } from "../../kube/event-recorder.ts";
import { Controllers } from "../../runtime/controllers.ts";
import { LeadershipLost } from "../../runtime/election.ts";
import { openGate } from "../../runtime/gate.ts";
import { HealthChecks } from "../../runtime/health.ts";
import type { Host } from "../../runtime/host.ts";
import type { Transport } from "../../runtime/http.ts";
import type { Logs } from "../../runtime/logs.ts";
import type { MigrationConfig } from "../../runtime/migration.ts";
import { json } from "../../runtime/routes.ts";
import { type Clock, jittered, sleep, within } from "../../runtime/world.ts";
import { build } from "../build.ts";
import { KubeClients } from "./clients.ts";
import { CloudOpening, loadCloudConfig } from "./cloud.ts";
import type { ControllerContext, ControllerTable } from "./context.ts";
import { type CanonicalName, controllerNames } from "./controller-names.ts";
import { ApiServerUnhealthy, CloudUnusable, ConfigurationFailed, messageOf } from "./errors.ts";
import type { Options } from "./flags.ts";
import { SharedInformers } from "./informers.ts";
import { Leadership } from "./leadership.ts";
import { byLock, loadMigration } from "./locks.ts";
import { openServer, type Server } from "./server.ts";
import { selectedControllers, startControllers } from "./start-controllers.ts";

/** What one life of the process is made from. */
export interface Operation {
  readonly options: Options;
  /** As reported, which the user may have overridden. */
  readonly version: string;
  readonly host: Host;
  readonly logs: Logs;
  readonly table: ControllerTable;
  readonly network: Network;
  /** Asks for a graceful end. */
  readonly stop: AbortSignal;
}

/** The ways out of the process. */
export interface Network {
  readonly aws: Transport;
  /** Sockets unless told otherwise. */
  readonly kube?: Connect;
}

/** A pod has 30 s to end. */
const grace = { workMs: 15_000, eventsMs: 3_000, leaseMs: 3_000, serverMs: 1_000 } as const;

/** Runs until asked to stop, which is done gracefully; rejects with what made it end otherwise. */
export async function operate(operation: Operation): Promise<void> {
  operation.host.log.info(`Version: ${operation.version}`);
  const life = new AbortController();
  const process = await configure(operation, life.signal);
  try {
    const reason: unknown = await process.run().catch((error: unknown) => error);
    // Without the lease nothing may go on, not even a tidy end.
    if (reason instanceof LeadershipLost) throw reason;
    await Promise.race([process.end(reason), process.lost()]);
    if (reason !== operation.stop.reason) throw reason;
  } finally {
    life.abort(new Error("the process ends"));
  }
}

/** Everything that can fail because of what the command line names, before anything else is done. */
async function configure(operation: Operation, life: AbortSignal): Promise<Process> {
  const { options, host, logs } = operation;
  const { files } = host.world;
  const health = new HealthChecks(host);
  try {
    const config = await loadKubeConfig(host.world, { kubeconfig: options.kubeconfig, master: options.master });
    const clients = new KubeClients(host, config, options, operation.network.kube);
    const migration = await loadMigration(files, options, host.log);
    const leadership = new Leadership(host, {
      options,
      client: clients.named("leader-election", openGate()),
      migrationLease: migration?.leaderName,
    });
    if (leadership.check) health.add(leadership.check);
    const server = await openServer(host, options, logs, health);
    return new Process(operation, { life, health, clients, leadership, migration, server });
  } catch (cause) {
    throw new ConfigurationFailed(messageOf(cause), { cause });
  }
}

interface Parts {
  /** Aborts when the process is over. */
  readonly life: AbortSignal;
  readonly health: HealthChecks;
  readonly clients: KubeClients;
  readonly leadership: Leadership;
  readonly migration: MigrationConfig | undefined;
  readonly server: Server;
}

class Process {
  readonly #operation: Operation;
  readonly #parts: Parts;
  readonly #events: EventPipeline;
  readonly #controllers: Controllers;
  readonly #failed = new AbortController();

  constructor(operation: Operation, parts: Parts) {
    this.#operation = operation;
    this.#parts = parts;
    const { clients, leadership } = parts;
    this.#events = new EventPipeline(clients.named("cloud-controller-manager", leadership.held));
    this.#controllers = new Controllers(operation.host, { manager: "cloud-controller-manager", gate: leadership.gate });
  }

  /** Rejects with the reason for the end; never resolves. */
  async run(): Promise<never> {
    const { stop } = this.#operation;
    const until = AbortSignal.any([stop, this.#parts.leadership.held.lost, this.#failed.signal]);
    try {
      await this.#work(until);
      return await aborted(until);
    } catch (error) {
      // What was under way when it was called off fails in its own words; the reason is the one that counts.
      throw until.aborted ? until.reason : error;
    }
  }

  /** Rejects when the lease is lost, which also ends a tidy end; never resolves. A lease that was given up is not lost. */
  async lost(): Promise<never> {
    const reason = await aborted(this.#parts.leadership.held.lost).catch((error: unknown) => error);
    if (reason instanceof LeadershipLost) throw reason;
    return new Promise<never>(() => {});
  }

  async #work(until: AbortSignal): Promise<void> {
    const { host, options, table } = this.#operation;
    const { leadership, migration } = this.#parts;
    const selected = byLock(selectedControllers(table, options, host.log), migration, host.log);
    const place = await this.#openCloud(until);
    await leadership.lead(this.#events.recorder("cloud-controller-manager"), until);
    const start = await this.#starter(place, until);
    await start(selected.main);
    await leadership.leadMigration(until);
    await start(selected.migration);
  }

  /** Stops in order: work, what is said about it, the right to do it, the server. */
  async end(reason: unknown): Promise<void> {
    const { host } = this.#operation;
    const { leadership, server, clients } = this.#parts;
    const { clock } = host.world;
    host.log.info("stopping", { why: messageOf(reason) });
    await this.#controllers.stop(grace.workMs);
    leadership.announceEnd();
    await within(clock, grace.eventsMs, "send Events", undefined, (signal) => this.#events.flush(signal));
    await within(clock, grace.leaseMs, "release the lease", undefined, (signal) => leadership.release(signal));
    await within(clock, grace.serverMs, "stop serving", undefined, async (signal) => server.serving?.stop(signal));
    await clients.close();
    host.log.info("stopped");
  }

  /** The file is checked before anything is waited for: a mistake in it will not pass. */
  async #openCloud(until: AbortSignal): Promise<Place> {
    const { host, options, network } = this.#operation;
    const { health, leadership, life, server } = this.#parts;
    const config = await loadCloudConfig(host, options).catch(unusable);
    const clouds = new Clouds({ host, transport: network.aws, gate: leadership.gate, settings: config.aws, version: build.version });
    const opening = new CloudOpening(host, clouds, config.aws);
    health.add(opening.check);
    await server.trust.follow(AbortSignal.any([until, life]));
    const { cloud, self } = await opening.open(until).catch(unusable);
    server.routes?.add({ path: "/debug/fairlead/calls", answer: () => json(200, { calls: cloud.ledger.latest }) });
    host.log.info("knows its place in AWS", { region: cloud.region, cluster: self.cluster.id, vpc: self.vpc });
    return { config, clouds, cloud, self };
  }

  /** What all controllers share is made once; the result starts those of the given names. */
  async #starter(place: Place, until: AbortSignal): Promise<(names: readonly CanonicalName[]) => Promise<void>> {
    const { host, options, table } = this.#operation;
    const { clients, health, leadership, life } = this.#parts;
    const { world, log } = host;
    const client = clients.named("aws-cloud-provider", leadership.gate);
    await apiServerAnswers(client, world.clock, until);
    await this.#logServerVersion(client, until);
    const informers = new SharedInformers(clients.named("shared-informers", leadership.gate), life);
    health.add({ name: "informer-sync", probes: ["readyz"], problem: () => informers.problem() });
    const resyncMs = jittered(world.random, options["min-resync-period"], 1);
    return (names) =>
      startControllers(names, {
        table,
        options,
        world,
        log,
        controllers: this.#controllers,
        health,
        signal: until,
        contextFor: (name) => this.#contextFor(name, { ...place, informers, resyncMs }),
        onFailure: (error) => this.#failed.abort(error),
      });
  }

  #contextFor(name: CanonicalName, shared: Shared): ControllerContext {
    const { host, options } = this.#operation;
    const { clients, leadership } = this.#parts;
    const { client, eventSource } = controllerNames[name];
    return {
      ...shared,
      host: { ...host, log: host.log.with({ logger: name }) },
      kube: clients.forController(client, leadership.gate),
      recorder: this.#events.recorder(eventSource),
      home: leadership.lease,
      providerRecorder: this.#events.recorder("aws-cloud-provider"),
      gate: leadership.gate,
      options,
    };
  }

  async #logServerVersion(client: KubeClient, signal: AbortSignal): Promise<void> {
    const { log } = this.#operation.host;
    try {
      const { gitVersion } = JSON.parse(await client.raw("/version", { signal })) as { gitVersion?: string };
      log.info("API server", { version: gitVersion });
    } catch (error) {
      signal.throwIfAborted();
      log.warn("the API server's version is not known", { error });
    }
  }
}

type Place = Pick<ControllerContext, "config" | "clouds" | "cloud" | "self">;
type Shared = Place & Pick<ControllerContext, "informers" | "resyncMs">;

function unusable(cause: unknown): never {
  throw new CloudUnusable(cause);
}

/** Asks once a second, for ten seconds. */
async function apiServerAnswers(client: KubeClient, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await client.raw("/healthz", { signal, timeoutMs: 5_000 });
      return;
    } catch (cause) {
      signal.throwIfAborted();
      // Whoever refuses is there.
      if (isApiError(cause, "forbidden", "unauthorized")) return;
      if (tries === 10) throw new ApiServerUnhealthy(cause);
      await sleep(clock, 1_000, signal);
    }
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
