/** The handler itself, in either mode: from options and what a process gives it to the controller that does the work. */
import type { Cloud } from "../../aws/cloud.ts";
import { isAwsError } from "../../aws/errors.ts";
import type { Metadata } from "../../aws/metadata.ts";
import { Queue } from "../../aws/queue.ts";
import type { EventRecorder } from "../../identity/event-reasons.ts";
import { claimedInstance, type Nodes, type SeenNode } from "../../identity/node-view.ts";
import { actionMetrics } from "../../interruptions/action-metrics.ts";
import { bootTime } from "../../interruptions/adopt.ts";
import { type InterruptionParts, interruptionController } from "../../interruptions/controller.ts";
import { type Annotations, annotationsFromNode, readExtraAnnotations } from "../../interruptions/event-annotations.ts";
import { nodeHolder, PatientWatch } from "../../interruptions/holders.ts";
import { Hooks } from "../../interruptions/hooks.ts";
import { Inbox } from "../../interruptions/inbox.ts";
import type { MetadataMonitor } from "../../interruptions/metadata-events.ts";
import { MetadataMonitors } from "../../interruptions/metadata-monitor.ts";
import { OwnInstance } from "../../interruptions/own-instance.ts";
import { DrainedPods } from "../../interruptions/pod-source.ts";
import { QueueMonitor } from "../../interruptions/queue-monitor.ts";
import { exportTaggedNodes } from "../../interruptions/tagged-nodes.ts";
import { openWebhook } from "../../interruptions/webhook.ts";
import { nodes as nodeResource } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import { objectRef } from "../../kube/event-recorder.ts";
import { apiVersion } from "../../kube/resource.ts";
import type { Controller } from "../../runtime/controller.ts";
import type { Host } from "../../runtime/host.ts";
import type { Transport } from "../../runtime/http.ts";
import type { Options } from "./flags.ts";
import { settingsOf } from "./settings.ts";

/** What a process gives to the handler. */
export interface HandlerParts {
  readonly options: Options;
  readonly host: Host;
  /** Its writes pass the gate. */
  readonly kube: KubeClient;
  /** Used only where Events are wanted. */
  readonly recorder: EventRecorder;
  readonly nodes: Nodes;
  readonly webhook: Transport;
}

/** A handler, before it is started. */
export interface Handler {
  readonly controller: Controller;
  /** Why notices cannot be heard at the moment. */
  problem(): string | undefined;
  /** Resolves when its sources have stopped, and others may have what it held. */
  ended(): Promise<void>;
}

/** Who works on Nodes, and how others' work is recognised. */
export type Identity = Pick<InterruptionParts, "me" | "holders">;

/** A handler that reads the queue and acts on any Node. */
export async function queueHandler(parts: HandlerParts, cloud: Cloud, identity: Identity): Promise<Handler> {
  const { options, host, nodes } = parts;
  const shared = await sharedParts(parts);
  const { inbox, metrics, settings, recorder } = shared;
  const extra = extraAnnotations(options);
  const hooks = new Hooks(cloud, host.world.clock, host.log);
  const monitor = new QueueMonitor({
    ...{ host, cloud, nodes, inbox, hooks, metrics },
    tell: (node, type, reason, message) =>
      recorder?.annotated(annotationsFromNode(factsOf(node), extra)).record(objectRef(nodeResource, node), type, reason, message),
    queue: new Queue(cloud, options["queue-url"], "interruptions"),
    settings: {
      visibilitySeconds: options["sqs-msg-visibility-timeout-sec"],
      managedTag: options["check-tag-before-draining"] ? options["managed-tag"] : undefined,
      deleteIfNodeNotFound: options["delete-sqs-msg-if-node-not-found"],
      completionDelayMs: settings.completionDelayMs,
    },
  });
  exportTaggedNodes(host.metrics, { host, cloud, nodes, tag: options["managed-tag"] });
  const pods = new DrainedPods(parts.kube, { withLabels: recorder !== undefined });
  const isGone = settings.outOfServiceTaint ? (id: string, signal: AbortSignal) => isTerminated(cloud, id, signal) : undefined;
  return {
    controller: interruptionController({
      ...shared,
      ...identity,
      annotationsOf: (node) => annotationsFromNode(node, extra),
      ...{ pods, hooks, monitor: monitor.source },
      ...(isGone && { isGone }),
    }),
    problem: () => monitor.problem(),
    ended: () => monitor.ended,
  };
}

/** A handler that asks the metadata service of its own machine and acts on its own Node. */
export async function metadataHandler(parts: HandlerParts, metadata: Metadata, node: string): Promise<Handler> {
  const { options, host, nodes } = parts;
  const own = new OwnInstance(host, metadata);
  const shared = await sharedParts(parts, own);
  const { inbox, metrics, recorder } = shared;
  const about = { apiVersion: apiVersion(nodeResource), kind: nodeResource.kind, name: node };
  const extra = extraAnnotations(options);
  const monitors = new MetadataMonitors({
    ...{ host, metadata, node, nodes, inbox, metrics },
    monitors: monitorsOf(options),
    ...((recorder ?? shared.notify) && { started: (signal: AbortSignal) => void own.learn(signal) }),
    complain: (monitor) =>
      recorder
        ?.annotated({ ...own.annotations, ...extra })
        .record(about, "Warning", "MonitorError", `There was a problem monitoring for events in monitor '${monitor}'`),
  });
  const bootedAt = options["enable-scheduled-event-draining"] ? await bootedAtOf(options, host) : undefined;
  const pods = new DrainedPods(parts.kube, { onlyNode: node, withLabels: recorder !== undefined });
  return {
    controller: interruptionController({
      ...shared,
      ...(bootedAt !== undefined && { bootedAt }),
      annotationsOf: (state) => ({ ...annotationsFromNode(state, {}), ...own.annotations, ...extra }),
      ...{ pods, monitor: monitors.source, me: nodeHolder(node), holders: new PatientWatch(host.world.clock) },
    }),
    problem: () => monitors.problem(),
    ended: async () => {},
  };
}

/** When this machine was started, for Nodes that the reference has cordoned for a restart. */
async function bootedAtOf(options: Options, { world, log }: Host): Promise<number | undefined> {
  const file = options["uptime-from-file"] || "/proc/uptime";
  try {
    const text = Buffer.from(await world.files.read(file)).toString("utf8");
    const bootedAt = bootTime(text, world.clock.now());
    if (bootedAt === undefined) throw new Error(`it does not begin with a number: ${JSON.stringify(text.slice(0, 40))}`);
    return bootedAt;
  } catch (error) {
    log.warn("the uptime of this machine is not known: a Node that the reference cordoned for a restart stays cordoned", { file, error });
    return undefined;
  }
}

/** Those that a user adds; that they can be read was checked with the other options. */
function extraAnnotations(options: Options): Annotations {
  const extra = readExtraAnnotations(options["kubernetes-events-extra-annotations"]);
  return typeof extra === "string" ? {} : extra;
}

function factsOf(node: SeenNode) {
  const { metadata, addresses } = node;
  return { name: metadata.name, labels: metadata.labels, addresses, instanceId: claimedInstance(node) ?? "" };
}

/** What both modes have. */
async function sharedParts({ options, host, kube, recorder, nodes, webhook }: HandlerParts, own?: OwnInstance) {
  const settings = settingsOf(options);
  const notify = settings.webhook
    ? await openWebhook(
        host,
        webhook,
        {
          url: options["webhook-url"],
          headers: options["webhook-headers"],
          template: options["webhook-template"],
          templateFile: options["webhook-template-file"],
        },
        () => own?.annotations ?? {},
      )
    : undefined;
  return {
    ...{ host, kube, nodes, settings },
    recorder: options["emit-kubernetes-events"] ? recorder : undefined,
    inbox: new Inbox(),
    metrics: actionMetrics(host.metrics),
    callsAtOnce: 10 * options.workers,
    ...(notify && { notify }),
  };
}

/** Proof that an instance is gone: EC2 describes it as terminated. An EC2 that does not answer proves nothing. */
async function isTerminated(cloud: Cloud, instanceId: string, signal: AbortSignal): Promise<boolean> {
  if (instanceId === "") return false;
  try {
    const found = await cloud.instances.lookup(instanceId, { cause: "interruptions", signal, maxAgeMs: 10_000 });
    return found.kind === "found" && found.instance.state === "terminated";
  } catch (error) {
    if (isAwsError(error)) return false;
    throw error;
  }
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
