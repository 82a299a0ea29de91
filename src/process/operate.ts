/** The life of a process: configured, connected to AWS, leading, working, stopped. */

import { Clouds } from "../aws/cloud.ts";
import type { AwsSettings } from "../aws/settings.ts";
import type { Self } from "../identity/self.ts";
import type { KubeClient } from "../kube/client.ts";
import { loadKubeConfig } from "../kube/config/load.ts";
import type { Connect } from "../kube/connections.ts";
import { EventPipeline } from "../kube/event-recorder.ts";
import { Controllers } from "../runtime/controllers.ts";
import { LeadershipLost } from "../runtime/election.ts";
import { openGate } from "../runtime/gate.ts";
import { HealthChecks } from "../runtime/health.ts";
import type { Host } from "../runtime/host.ts";
import type { Transport } from "../runtime/http.ts";
import { messageOf } from "../runtime/message-of.ts";
import { type RecentLines, rememberLines } from "../runtime/recent-lines.ts";
import type { RouteTable } from "../runtime/routes.ts";
import type { Serving } from "../runtime/serving.ts";
import { jittered, unlessAborted, within } from "../runtime/world.ts";
import { apiServerAnswers } from "./api-server-answers.ts";
import { build } from "./build.ts";
import { type ClientOptions, KubeClients } from "./clients.ts";
import { CloudOpening } from "./cloud-opening.ts";
import { CloudUnusable, ConfigurationFailed } from "./errors.ts";
import { SharedInformers } from "./informers.ts";
import { Leadership, type LeadershipOptions } from "./leadership.ts";
import { debugRoutes } from "./now.ts";
import type { ControllerEntry, ProcessContext, Program } from "./program.ts";
import { startApart } from "./start-apart.ts";
import { startControllers } from "./start-controllers.ts";

/** What one life of a process is made from. */
export interface Operation {
  /** As reported, which the user may have overridden. */
  readonly version: string;
  readonly host: Host;
  readonly network: Network;
  /** Asks for a graceful end. */
  readonly stop: AbortSignal;
  readonly kube: KubeOptions;
  readonly aws: AwsSettings;
  /** Where it runs, if that need not be found out: a process that acts on its own node alone has no permission to ask. */
  readonly self?: Self;
  readonly leadership: Omit<LeadershipOptions, "client">;
  /** Binds the port that health, metrics and the rest are served on. */
  serve(health: HealthChecks): Promise<ServedPorts>;
  readonly programs: readonly Program[];
  /** They are several that have nothing to do with each other: one that cannot be started is tried again while the others run. */
  readonly apart?: boolean;
  /** Every object is reconciled again after a random period between this and twice this. */
  readonly minResyncMs: number;
}

/** What a process serves on. */
export interface ServedPorts {
  /** Undefined where nothing is served. */
  readonly serving: Pick<Serving, "stop"> | undefined;
  /** Followed before anything is done, where it decides who may use them. */
  readonly trust?: { follow(signal: AbortSignal): Promise<void> };
  /** To which any part may add its own. */
  readonly routes?: RouteTable;
}

/** How the API server is found, and how it is spoken to. */
export interface KubeOptions extends ClientOptions {
  readonly kubeconfig: string;
  readonly master: string;
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
  const { host } = operation;
  const lines = rememberLines(host.world.clock, host.log);
  const process = await configure({ ...operation, host: { ...host, log: lines.log } }, lines, life.signal);
  try {
    const reason: unknown = await process.run().catch((error: unknown) => error);
    // Without the lease nothing may go on, not even a tidy end.
    if (reason instanceof LeadershipLost) throw reason;
    await Promise.race([process.end(reason), process.lost()]);
    if (reason !== operation.stop.reason) throw reason;
  } finally {
    life.abort(new Error("the process is shutting down"));
  }
}

/** Everything that can fail because of what the command line names, before anything else is done. */
async function configure(operation: Operation, lines: RecentLines, life: AbortSignal): Promise<Process> {
  const { host, kube, network } = operation;
  const health = new HealthChecks(host);
  try {
    const config = await loadKubeConfig(host.world, { kubeconfig: kube.kubeconfig, master: kube.master });
    const clients = new KubeClients(host, config, kube, network.kube);
    const leadership = new Leadership(host, { ...operation.leadership, client: clients.named("leader-election", openGate()) });
    if (leadership.check) health.add(leadership.check);
    const port = await operation.serve(health);
    return new Process(operation, { life, lines, health, clients, leadership, port });
  } catch (cause) {
    throw new ConfigurationFailed(messageOf(cause), { cause });
  }
}

interface Parts {
  /** Aborts when the process is over. */
  readonly life: AbortSignal;
  readonly lines: RecentLines;
  readonly health: HealthChecks;
  readonly clients: KubeClients;
  readonly leadership: Leadership;
  readonly port: ServedPorts;
}

class Process {
  readonly #operation: Operation;
  readonly #parts: Parts;
  readonly #events: EventPipeline;
  readonly #controllers: Controllers;
  readonly #failed = new AbortController();
  readonly #informers: SharedInformers;
  /** What is served besides the port of the process. */
  readonly #standby: Pick<Serving, "stop">[] = [];

  constructor(operation: Operation, parts: Parts) {
    this.#operation = operation;
    this.#parts = parts;
    const { clients, leadership, life } = parts;
    const { component } = operation.kube;
    this.#informers = new SharedInformers(clients.named("shared-informers", leadership.gate), life);
    this.#events = new EventPipeline(clients.named(component, leadership.held));
    this.#controllers = new Controllers(operation.host, { manager: component, gate: leadership.gate });
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
    const { programs, kube } = this.#operation;
    const { leadership } = this.#parts;
    const place = await this.#openCloud(until);
    for (const program of programs) await this.#standBy(program, place, until);
    await leadership.lead(this.#events.recorder(kube.component), until);
    const start = await this.#starter(place, until);
    for (const program of programs) await start(program, program.controllers);
    await leadership.leadMigration(until);
    for (const program of programs) await start(program, program.migrated);
  }

  async #standBy({ standby, component }: Program, place: Place, until: AbortSignal): Promise<void> {
    if (standby === undefined) return;
    const { host, apart = false } = this.#operation;
    const { clients, leadership, health, life } = this.#parts;
    const kube = clients.named(component, leadership.gate);
    const start = async () => {
      // It goes on until the process is over; waiting for it to begin ends when the process is asked to stop.
      this.#standby.push(await unlessAborted(until, standby({ ...place, host, kube, informers: this.#informers, health, signal: life })));
    };
    await (apart ? startApart(component, start, { ...host, health, signal: until }) : start());
  }

  /** Stops in order: work, what is said about it, the right to do it, the server. */
  async end(reason: unknown): Promise<void> {
    const { host } = this.#operation;
    const { leadership, port, clients } = this.#parts;
    host.log.info("stopping", { why: messageOf(reason) });
    await this.#controllers.stop(grace.workMs);
    leadership.announceEnd();
    await this.#lastStep("send Events", grace.eventsMs, (signal) => this.#events.flush(signal));
    await this.#lastStep("release the lease", grace.leaseMs, (signal) => leadership.release(signal));
    const served = [port.serving, ...this.#standby];
    await this.#lastStep("stop serving", grace.serverMs, async (signal) => {
      await Promise.all(served.map((each) => each?.stop(signal)));
    });
    await clients.close();
    host.log.info("stopped");
  }

  /** Whatever becomes of it, the next step is taken: Events that do not get through are no reason to keep the lease. */
  async #lastStep(what: string, limitMs: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { world, log } = this.#operation.host;
    try {
      await within(world.clock, limitMs, what, undefined, work);
    } catch (error) {
      log.warn(`cannot ${what} before exiting`, { error });
    }
  }

  async #openCloud(until: AbortSignal): Promise<Place> {
    const { host, aws, self: known, network } = this.#operation;
    const { health, leadership, life, lines, port } = this.#parts;
    const clouds = new Clouds({ host, transport: network.aws, gate: leadership.gate, settings: aws, version: build.version });
    const opening = new CloudOpening(host, clouds, aws, known);
    health.add(opening.check);
    await port.trust?.follow(AbortSignal.any([until, life]));
    const { cloud, self } = await opening.open(until).catch(unusable);
    const { component } = this.#operation.kube;
    port.routes?.add(...debugRoutes({ component, clock: host.world.clock, leadership, controllers: this.#controllers, cloud, lines }));
    host.log.info("found the cluster in AWS", { region: cloud.region, cluster: self.cluster.id, vpc: self.vpc });
    return { clouds, cloud, self };
  }

  /** What all controllers share is made once; the result starts some of a program's controllers. */
  async #starter(place: Place, until: AbortSignal): Promise<(program: Program, entries: readonly ControllerEntry[]) => Promise<void>> {
    const { host, minResyncMs, apart = false } = this.#operation;
    const { clients, health, leadership } = this.#parts;
    const { world, log } = host;
    const informers = this.#informers;
    const client = clients.named("aws-cloud-provider", leadership.gate);
    await apiServerAnswers(client, world.clock, until);
    await this.#logServerVersion(client, until);
    health.add({ name: "informer-sync", probes: ["readyz"], problem: () => informers.problem() });
    const resyncMs = jittered(world.random, minResyncMs, 1);
    return ({ component, startIntervalMs }, entries) =>
      startControllers(entries, {
        manager: component,
        intervalMs: startIntervalMs,
        world,
        log,
        controllers: this.#controllers,
        health,
        signal: until,
        contextFor: (entry) => this.#contextFor(entry, { ...place, informers, resyncMs }),
        apart,
        // Where others run beside it, the log and its line of /readyz are enough.
        onFailure: (error) => apart || this.#failed.abort(error),
      });
  }

  #contextFor({ name, client, eventSource }: ControllerEntry, shared: Shared): ProcessContext {
    const { host } = this.#operation;
    const { clients, leadership } = this.#parts;
    return {
      ...shared,
      host: { ...host, log: host.log.with({ logger: name }) },
      kube: clients.forController(client, leadership.gate),
      recorder: this.#events.recorder(eventSource),
      home: leadership.lease,
      gate: leadership.gate,
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

type Place = Pick<ProcessContext, "clouds" | "cloud" | "self">;
type Shared = Place & Pick<ProcessContext, "informers" | "resyncMs">;

function unusable(cause: unknown): never {
  throw new CloudUnusable(cause);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
