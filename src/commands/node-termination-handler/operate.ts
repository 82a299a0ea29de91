/** The termination handler as a process, in either mode: from its options to a running controller, and to its end. */
import { Clouds } from "../../aws/cloud.ts";
import { isAwsError } from "../../aws/errors.ts";
import { Metadata } from "../../aws/metadata.ts";
import { Queue } from "../../aws/queue.ts";
import type { AwsSettings } from "../../aws/settings.ts";
import type { EventRecorder } from "../../identity/event-reasons.ts";
import { nodeInformer } from "../../identity/node-view.ts";
import { actionMetrics } from "../../interruptions/action-metrics.ts";
import { interruptionController } from "../../interruptions/controller.ts";
import { Holders, noOtherHolder, replicaLeaseName } from "../../interruptions/holders.ts";
import { Hooks } from "../../interruptions/hooks.ts";
import { Inbox } from "../../interruptions/inbox.ts";
import type { MetadataMonitor } from "../../interruptions/metadata-events.ts";
import { MetadataMonitors } from "../../interruptions/metadata-monitor.ts";
import { DrainedPods } from "../../interruptions/pod-source.ts";
import { QueueMonitor } from "../../interruptions/queue-monitor.ts";
import { openWebhook } from "../../interruptions/webhook.ts";
import { nodes as nodeResource } from "../../kube/builtin.ts";
import { loadKubeConfig } from "../../kube/config/load.ts";
import type { Connect } from "../../kube/connections.ts";
import { EventPipeline } from "../../kube/event-recorder.ts";
import { leaseStore } from "../../kube/lease-store.ts";
import { apiVersion } from "../../kube/resource.ts";
import { build } from "../../process/build.ts";
import { KubeClients } from "../../process/clients.ts";
import { OptionsInvalid } from "../../process/flag-problems.ts";
import { Controllers } from "../../runtime/controllers.ts";
import { Election, identityOf } from "../../runtime/election.ts";
import { dryRunGate, everyGate, openGate, type WriteGate } from "../../runtime/gate.ts";
import type { Host } from "../../runtime/host.ts";
import type { Transport } from "../../runtime/http.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { type PlainServer, servePlain } from "../../runtime/plain-http.ts";
import { json, text } from "../../runtime/routes.ts";
import { within } from "../../runtime/world.ts";
import type { Options } from "./flags.ts";
import { settingsOf } from "./settings.ts";

/** What one life of the handler is made from. */
export interface Operation {
  readonly options: Options;
  readonly host: Host;
  readonly network: { readonly aws: Transport; readonly kube?: Connect; readonly webhook: Transport };
  /** Asks for a graceful end. */
  readonly stop: AbortSignal;
}

const component = "aws-node-termination-handler";
const timings = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
/** A pod has 30 s to end unless its chart gives it more. */
const grace = { workMs: 10_000, stepMs: 3_000 };

/** Runs until asked to stop; rejects with what made it end otherwise. */
export async function operate(operation: Operation): Promise<void> {
  const { options, host, network, stop } = operation;
  const life = new AbortController();
  const ended = AbortSignal.any([stop, life.signal]);
  const servers: (PlainServer | undefined)[] = [];
  const process = await start(operation, ended);
  try {
    servers.push(...(await serve(options, host, process.problem)));
    host.log.info("Started watching for interruption events");
    host.log.info("Kubernetes AWS Node Termination Handler has started successfully!");
    const reason = await ending(stop, process.gate);
    host.log.info("AWS Node Termination Handler is shutting down", { why: messageOf(reason) });
    await process.end(host);
    if (reason !== stop.reason) throw reason;
  } finally {
    life.abort(new Error("the process is shutting down"));
    for (const server of servers) await server?.close();
    void network;
  }
}

interface Running {
  readonly gate: WriteGate;
  problem(): string | undefined;
  end(host: Host): Promise<void>;
}

async function start({ options, host, network, stop }: Operation, life: AbortSignal): Promise<Running> {
  const queueMode = options["enable-sqs-termination-draining"];
  const world = worldOf(host, options);
  const config = await loadKubeConfig(world, { kubeconfig: options.kubeconfig, master: options.master });
  const limit = options["kube-api-qps"] > 0 ? { qps: options["kube-api-qps"], burst: options["kube-api-burst"] || 10 } : undefined;
  const clients = new KubeClients(host, config, { component, ownAccounts: false, ...(limit && { limit }) }, network.kube);
  const replica = queueMode ? await joinReplicas(options, host, clients, stop) : undefined;
  const gate = gateOf(options, host, replica?.election.gate);
  const kube = clients.named(component, gate);
  const events = new EventPipeline(clients.named(component, replica?.election.gate ?? openGate()));
  const recorder = options["emit-kubernetes-events"] ? (events.recorder(component) as EventRecorder) : undefined;
  const settings = settingsOf(options);
  const metrics = actionMetrics(host.metrics);
  const inbox = new Inbox();
  const nodes = queueMode ? nodeInformer.make(kube) : nodeInformer.makeFor(kube, options["node-name"]);
  const pods = new DrainedPods(kube, queueMode ? undefined : options["node-name"]);
  const { webhook } = network;
  const notify = settings.webhook
    ? await openWebhook(host, webhook, {
        url: options["webhook-url"],
        headers: options["webhook-headers"],
        template: options["webhook-template"],
        templateFile: options["webhook-template-file"],
      })
    : undefined;
  const shared = {
    host,
    kube,
    recorder,
    nodes,
    pods,
    inbox,
    settings,
    metrics,
    callsAtOnce: 10 * options.workers,
    ...(notify && { notify }),
  };
  const controllers = new Controllers(host, { manager: component, gate });
  void nodes.run(life);
  await Promise.race([nodes.synced, aborted(life)]);

  if (!queueMode) {
    const metadata = new Metadata({ ...world, environment: { ...world.environment, ...metadataAddress(options) } }, network.aws, noAws);
    const node = options["node-name"];
    const monitors = new MetadataMonitors({
      host,
      metadata,
      node,
      bootId: () => nodes.get(node)?.bootId ?? "",
      monitors: monitorsOf(options),
      inbox,
      metrics,
      complain: (monitor) =>
        recorder?.record(
          { apiVersion: apiVersion(nodeResource), kind: nodeResource.kind, name: node },
          "Warning",
          "MonitorError",
          `There was a problem monitoring for events in monitor '${monitor}'`,
        ),
    });
    controllers.start(interruptionController({ ...shared, me: `node/${node}`, holders: noOtherHolder }));
    void monitors.run(life);
    return { gate, problem: () => monitors.problem(), end: (by) => endAll(by, controllers, events, clients) };
  }

  const aws = awsSettings(options);
  const clouds = new Clouds({ host: { ...host, world }, transport: network.aws, gate, settings: aws, version: build.version });
  const cloud = clouds.in(regionOf(options));
  const hooks = new Hooks(cloud, world.clock, host.log);
  const monitor = new QueueMonitor({
    host,
    cloud,
    queue: new Queue(cloud, options["queue-url"], "interruptions"),
    nodes,
    inbox,
    hooks,
    metrics,
    settings: {
      visibilitySeconds: options["sqs-msg-visibility-timeout-sec"],
      managedTag: options["check-tag-before-draining"] ? options["managed-tag"] : undefined,
      deleteIfNodeNotFound: options["delete-sqs-msg-if-node-not-found"],
      completionDelayMs: settings.completionDelayMs,
    },
  });
  const isGone = async (instanceId: string, signal: AbortSignal) => {
    if (instanceId === "" || !settings.outOfServiceTaint) return false;
    const found = await cloud.instances.lookup(instanceId, { cause: "interruptions", signal, maxAgeMs: 10_000 }).catch((error: unknown) => {
      if (!isAwsError(error)) throw error;
      return undefined;
    });
    return found?.kind === "found" && found.instance.state === "terminated";
  };
  const { me, holders } = replica!;
  controllers.start(interruptionController({ ...shared, me, holders, hooks, isGone }));
  void monitor.run(life);
  return {
    gate,
    problem: () => monitor.problem(),
    async end(by) {
      await lastStep(by, "give messages back", (signal) => monitor.giveBack(signal));
      await endAll(by, controllers, events, clients, replica!.election);
    },
  };
}

/** The Lease by which other replicas see that this one is there. Without it nothing is written. */
async function joinReplicas(options: Options, host: Host, clients: KubeClients, stop: AbortSignal) {
  const namespace = options["pod-namespace"] || "kube-system";
  const client = clients.named("leader-election", openGate());
  const name = replicaLeaseName(host.world.hostname);
  const me = identityOf(host.world);
  const election = new Election(host, {
    store: leaseStore(client, { namespace, name, renewDeadlineMs: timings.renewDeadlineMs }),
    identity: me,
    timings,
    name,
    lostMessage: "the Lease of this replica was lost",
  });
  await election.lead(stop);
  return { election, me, holders: new Holders(clients.named(component, openGate()), namespace) };
}

function gateOf(options: Options, host: Host, held: WriteGate | undefined): WriteGate {
  const base = held ?? openGate();
  return options["dry-run"]
    ? everyGate(
        base,
        dryRunGate((write) => host.log.info(`dry run: would ${write}`)),
      )
    : base;
}

/** Where the API server is, when the flags say it. */
function worldOf({ world }: Host, options: Options): Host["world"] {
  const host = options["kubernetes-service-host"];
  const port = options["kubernetes-service-port"];
  const environment = {
    ...world.environment,
    ...(host !== "" && { KUBERNETES_SERVICE_HOST: host }),
    ...(port !== "" && { KUBERNETES_SERVICE_PORT: port }),
  };
  const { clock, random, files } = world;
  return { clock, random, files, environment, hostname: world.hostname };
}

const noAws: AwsSettings = { serviceOverrides: [] };

/** Where the metadata service is. That SDKs may not use it for credentials says nothing about notices. */
function metadataAddress(options: Options): Readonly<Record<string, string>> {
  return { AWS_EC2_METADATA_SERVICE_ENDPOINT: options["metadata-url"], AWS_EC2_METADATA_DISABLED: "false" };
}

function monitorsOf(options: Options): readonly MetadataMonitor[] {
  const wanted: Readonly<Record<MetadataMonitor, boolean>> = {
    spot: options["enable-spot-interruption-draining"],
    maintenance: options["enable-scheduled-event-draining"],
    rebalance: options["enable-rebalance-monitoring"] || options["enable-rebalance-draining"],
    termination: options["enable-asg-lifecycle-draining"],
  };
  return (Object.keys(wanted) as MetadataMonitor[]).filter((monitor) => wanted[monitor]);
}

/** One address for all services, where one is given. */
function awsSettings(options: Options): AwsSettings {
  const url = options["aws-endpoint"];
  const region = regionOf(options);
  if (url === "") return { region, serviceOverrides: [] };
  const services = ["EC2", "SQS", "Auto Scaling", "STS"];
  return {
    region,
    serviceOverrides: services.map((service) => ({ id: "aws-endpoint", service, region, url, signingRegion: region })),
  };
}

/** The region that is given, or that of the queue's URL. */
function regionOf(options: Options): string {
  const given = options["aws-region"] || /[a-z]{2}(-[a-z]+)+-\d/.exec(new URL(options["queue-url"]).host)?.[0];
  if (given === undefined) throw new OptionsInvalid(["Unable to find the AWS region to process queue events."]);
  return given;
}

async function serve(options: Options, host: Host, problem: () => string | undefined): Promise<readonly (PlainServer | undefined)[]> {
  const routes = {
    "/metrics": async () => text(200, await host.metrics.metrics()),
    [options["probes-server-endpoint"]]: () => ({ status: 200, headers: { "content-type": "application/json" }, body: '{"health":"OK"}' }),
    "/readyz": () => {
      const wrong = problem();
      return wrong === undefined ? text(200, "ok") : json(503, { problem: wrong });
    },
  };
  return [
    options["enable-prometheus-server"] ? await servePlain(options["prometheus-server-port"], routes, host.log) : undefined,
    options["enable-probes-server"] ? await servePlain(options["probes-server-port"], routes, host.log) : undefined,
  ];
}

/** Stops in order: new work, what is said about it, the right to do it. What is under way is taken up by others from its plan. */
async function endAll(
  host: Host,
  controllers: Controllers,
  events: EventPipeline,
  clients: KubeClients,
  election?: Election,
): Promise<void> {
  await controllers.stop(grace.workMs);
  await lastStep(host, "send Events", (signal) => events.flush(signal));
  if (election !== undefined) await lastStep(host, "release the lease", (signal) => election.release(signal));
  await clients.close();
}

async function lastStep(host: Host, what: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  try {
    await within(host.world.clock, grace.stepMs, what, undefined, work);
  } catch (error) {
    host.log.warn(`cannot ${what} before exiting`, { error });
  }
}

/** Why the process ends: it was asked to, or lost its Lease. */
function ending(stop: AbortSignal, { lost }: WriteGate): Promise<unknown> {
  return new Promise((resolve) => {
    for (const signal of [stop, lost]) {
      if (signal.aborted) resolve(signal.reason);
      signal.addEventListener("abort", () => resolve(signal.reason), { once: true });
    }
  });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
