/** The termination handler as a process of its own, in either mode: from its options to a running controller, and to its end. */
import { Clouds } from "../../aws/cloud.ts";
import { Metadata } from "../../aws/metadata.ts";
import type { EventRecorder } from "../../identity/event-reasons.ts";
import { nodeInformer } from "../../identity/node-view.ts";
import { loadKubeConfig } from "../../kube/config/load.ts";
import type { Connect } from "../../kube/connections.ts";
import { EventPipeline } from "../../kube/event-recorder.ts";
import { build } from "../../process/build.ts";
import { KubeClients } from "../../process/clients.ts";
import { Controllers } from "../../runtime/controllers.ts";
import { dryRunGate, everyGate, openGate, type WriteGate } from "../../runtime/gate.ts";
import type { Host } from "../../runtime/host.ts";
import type { Transport } from "../../runtime/http.ts";
import type { Log } from "../../runtime/log.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { within } from "../../runtime/world.ts";
import type { Options } from "./flags.ts";
import { type Handler, type HandlerParts, metadataHandler, queueHandler } from "./handler.ts";
import { joinReplicas, type Replica } from "./replica.ts";
import { serve } from "./serve.ts";
import { settingFields, settingLines, settingsMessage } from "./shown-settings.ts";
import { awsSettings, metadataWorld, regionOf, worldOf } from "./surroundings.ts";

/** What one life of the handler is made from. */
export interface Operation {
  readonly options: Options;
  readonly host: Host;
  readonly network: { readonly aws: Transport; readonly kube?: Connect; readonly webhook: Transport };
  /** Asks for a graceful end. */
  readonly stop: AbortSignal;
}

/** In Events, metrics and the user agent. */
export const component = "aws-node-termination-handler";
/** A pod has 30 s to end unless its chart gives it more. */
const grace = { workMs: 10_000, stepMs: 3_000 };

/** Runs until asked to stop; rejects with what made it end otherwise. */
export async function operate(operation: Operation): Promise<void> {
  const { options, host, stop } = operation;
  showSettings(options, host.log);
  const life = new AbortController();
  const running = await start(operation, AbortSignal.any([stop, life.signal]));
  const { close } = await serve(options, host, running.handler.problem);
  try {
    host.log.info("Started watching for interruption events");
    host.log.info("Kubernetes AWS Node Termination Handler has started successfully!");
    host.log.info("Started watching for event cancellations");
    const reason = await ending(stop, running.gate);
    host.log.info("AWS Node Termination Handler is shutting down", { why: messageOf(reason) });
    await end(host, running);
    if (reason !== stop.reason) throw reason;
  } finally {
    life.abort(new Error("the process is shutting down"));
    await close();
  }
}

function showSettings(options: Options, log: Log): void {
  log.info(`Using log format version ${options["log-format-version"]}`);
  if (options["json-logging"]) log.info(settingsMessage, settingFields(options));
  else for (const line of [`${settingsMessage}:`, ...settingLines(options)]) log.info(line);
}

interface Running {
  readonly gate: WriteGate;
  readonly handler: Handler;
  readonly controllers: Controllers;
  readonly events: EventPipeline;
  readonly clients: KubeClients;
  readonly replica: Replica | undefined;
}

async function start({ options, host, network, stop }: Operation, life: AbortSignal): Promise<Running> {
  const queueMode = options["enable-sqs-termination-draining"];
  const world = worldOf(host.world, options);
  const config = await loadKubeConfig(world, { kubeconfig: options.kubeconfig, master: options.master });
  const limit = options["kube-api-qps"] > 0 ? { qps: options["kube-api-qps"], burst: options["kube-api-burst"] || 10 } : undefined;
  const clients = new KubeClients(host, config, { component, ownAccounts: false, ...(limit && { limit }) }, network.kube);
  const namespace = options["pod-namespace"] || "kube-system";
  const replica = queueMode ? await joinReplicas(host, clients, { component, namespace }, stop, life) : undefined;
  const held = replica?.election.gate ?? openGate();
  const gate = gateOf(options, host, held);
  const kube = clients.named(component, gate);
  const events = new EventPipeline(clients.named(component, held));
  const nodes = queueMode ? nodeInformer.make(kube) : nodeInformer.makeFor(kube, options["node-name"]);
  const parts: HandlerParts = {
    ...{ options, host, kube, nodes, webhook: network.webhook },
    recorder: events.recorder(component, { host: options["node-name"] }) as EventRecorder,
  };
  const handler = replica
    ? await queueHandler(parts, cloudOf(options, { ...host, world }, network.aws, gate), replica)
    : await metadataHandler(
        parts,
        new Metadata(metadataWorld(world, options), network.aws, { serviceOverrides: [] }),
        options["node-name"],
      );
  void nodes.run(life);
  const controllers = new Controllers(host, { manager: component, gate });
  controllers.start(handler.controller);
  return { gate, handler, controllers, events, clients, replica };
}

function cloudOf(options: Options, host: Host, transport: Transport, gate: WriteGate) {
  const clouds = new Clouds({ host, transport, gate, settings: awsSettings(options), version: build.version });
  return clouds.in(regionOf(options));
}

function gateOf(options: Options, host: Host, held: WriteGate): WriteGate {
  if (!options["dry-run"]) return held;
  return everyGate(
    held,
    dryRunGate((write) => host.log.info(`dry run: would ${write}`)),
  );
}

/** Stops in order: what comes in, work, what is said about it, the right to do it. What is under way is taken up by others from its plan. */
async function end(host: Host, { handler, controllers, events, clients, replica }: Running): Promise<void> {
  await controllers.stop(grace.workMs);
  await lastStep(host, "give messages back", () => handler.ended());
  await lastStep(host, "send Events", (signal) => events.flush(signal));
  if (replica !== undefined) await lastStep(host, "release the lease", (signal) => replica.election.release(signal));
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
