/** Initialises Nodes: who they are to AWS, in one write; and keeps the labels of those that are. */
import type { Ask } from "../aws/ask.ts";
import { isAwsError } from "../aws/errors.ts";
import type { Instance } from "../aws/instance.ts";
import { claimedAddresses, cloudCondition, conditionOf, type SeenNode, sameButVersion } from "../identity/node-view.ts";
import { patchNode, patchNodeStatus } from "../identity/node-writes.ts";
import { nodes as nodeResource } from "../kube/builtin.ts";
import { objectRef } from "../kube/event-recorder.ts";
import { watchSource } from "../kube/watch-source.ts";
import { Attempts } from "../runtime/attempts.ts";
import { again, type Controller, done, type Outcome } from "../runtime/controller.ts";
import { refusalIn, rethrowIfStopped } from "../runtime/gate.ts";
import { type IpFamily, ProvidedNodeIpInvalid } from "./addresses.ts";
import { BatchWindow } from "./batch-window.ts";
import { labelsPending, type NodeProblem } from "./condition.ts";
import { type ExtraLabels, extraLabels } from "./extra-labels.ts";
import type { Identification, Identities } from "./identify.ts";
import { addressesFor, extraLabelsPatch, initialisationPatch, statusChange } from "./initialise-plan.ts";
import { additionalLabels, type Labels, stableLabels } from "./labels.ts";
import { addressesOf, isEnding, type Machine, providerIdFor } from "./machine.ts";
import { initialisationMetrics } from "./metrics.ts";
import type { NetworkTopology } from "./network-topology.ts";
import { OnceRecorder } from "./once-recorder.ts";
import type { NodeParts } from "./parts.ts";
import { isUninitialized } from "./taints.ts";

export interface InitialisationOptions extends NodeParts {
  readonly identities: Identities;
  readonly networkTopology: NetworkTopology;
  readonly ipFamilies: readonly IpFamily[];
  /** Nodes in work at once. They mostly wait for AWS, and what they ask is joined: the more, the fewer calls. */
  readonly concurrency: number;
}

/** The controller whose keys are names of Nodes. */
export function nodeInitialisation(options: InitialisationOptions): Controller {
  const work = new Initialisations(options);
  return {
    name: "cloud-node-controller",
    concurrency: options.concurrency,
    sources: [watchSource(options.nodes, keysOf)],
    reconcile: (name, signal) => work.reconcile(name, signal),
  };
}

/** Heartbeats and Nodes that are right wake nobody. */
function* keysOf(before: SeenNode | undefined, after: SeenNode | undefined): Iterable<string> {
  if (after === undefined) yield before!.metadata.name;
  else if (wantsWork(after) && (before === undefined || !sameButVersion(before, after))) yield after.metadata.name;
}

function wantsWork(node: SeenNode): boolean {
  return isUninitialized(node) || conditionOf(node, cloudCondition) !== undefined || stableLabels(node.metadata.labels) !== undefined;
}

/** Nobody waits for extra labels: at first they have the time it takes anyway, later all the time a call may take. */
const extrasPatienceMs = { first: 2_000, later: 30_000 } as const;

/** How long a cache usually takes to show what was written. */
const restMs = 1_000;

class Initialisations {
  readonly #options: InitialisationOptions;
  readonly #metrics: ReturnType<typeof initialisationMetrics>;
  readonly #batchWindow: BatchWindow;
  readonly #onceRecorder: OnceRecorder;
  readonly #failures: Attempts;
  readonly #laterLabels: Attempts;
  /** Initialised, but their addresses could not be written. */
  readonly #withoutAddresses = new Set<string>();
  /** What was just written is looked at again when the cache has had time to hear of it: by name, on the monotonic clock. */
  readonly #restsUntil = new Map<string, number>();

  constructor(options: InitialisationOptions) {
    this.#options = options;
    const { clock, random } = options.host.world;
    this.#metrics = initialisationMetrics(options.host.metrics);
    this.#batchWindow = new BatchWindow(clock);
    this.#onceRecorder = new OnceRecorder(options.recorder);
    this.#failures = new Attempts(clock, random, { baseMs: 1_000, maxMs: 5 * 60_000 });
    this.#laterLabels = new Attempts(clock, random, { baseMs: 15_000, maxMs: 10 * 60_000 });
  }

  async reconcile(name: string, signal: AbortSignal): Promise<Outcome> {
    const node = this.#options.nodes.get(name);
    if (node === undefined || node.metadata.deletionTimestamp !== undefined) {
      this.#forget(name);
      return done;
    }
    const restsMs = (this.#restsUntil.get(name) ?? 0) - this.#options.host.world.clock.monotonic();
    if (restsMs > 0) return again(restsMs, "the cache may not show its last change yet");
    this.#restsUntil.delete(name);
    return isUninitialized(node) ? this.#initialise(node, signal) : this.#keep(node, signal);
  }

  async #initialise(node: SeenNode, signal: AbortSignal): Promise<Outcome> {
    const { name } = node.metadata;
    const waitMs = this.#failures.waitMs(name, circumstances(node));
    if (waitMs > 0) return again(waitMs, "its initialisation failed");
    await this.#batchWindow.join();
    let initialised: Initialised | Outcome;
    try {
      const identified = await this.#options.identities.identify(node, this.#ask(signal));
      if (identified.kind === "unidentified") return await this.#refuse(node, identified, signal);
      initialised = await this.#write(node, identified.machine, signal);
    } catch (error) {
      rethrowIfStopped(error, signal);
      return this.#fail(node, ...explained(node, error), signal);
    }
    return initialised.kind === "initialised" ? this.#finish(initialised, signal) : initialised;
  }

  async #write(node: SeenNode, machine: Machine, signal: AbortSignal): Promise<Initialised | Outcome> {
    const { kube, recorder, host, cloud, ipFamilies } = this.#options;
    const { name } = node.metadata;
    if (machine.kind === "instance" && isEnding(machine.instance.state)) throw new InstanceEnding(machine.instance);
    // Only to find out before anything is written: an address that kubelet asks for and EC2 does not have.
    addressesFor(node, addressesOf(machine, ipFamilies));
    const extra = await this.#extras(node, machine, extrasPatienceMs.first, signal);
    for (const warning of additionalLabels(node.metadata.labels, extra.labels).warnings) host.log.warn(warning, { node: name });
    const patchFor = (now: SeenNode) => {
      // Who was given another provider ID meanwhile is looked at again, and who lost the taint is none of ours any more.
      if (now.providerId !== node.providerId || !isUninitialized(now)) return undefined;
      return initialisationPatch(now, { machine, region: cloud.region, extra: extra.labels });
    };
    let ours = false;
    const state = await patchNode(
      kube,
      node,
      (now) => {
        const patch = patchFor(now);
        ours = patch !== undefined;
        return patch;
      },
      signal,
    );
    if (state === undefined) return done;
    if (!ours) return again(restMs, "it has changed in the meantime");
    this.#failures.forget(name);
    this.#withoutAddresses.add(name);
    const ageSeconds = (host.world.clock.now() - Date.parse(state.metadata.creationTimestamp)) / 1000;
    this.#metrics.taintRemoved.observe(ageSeconds);
    this.#metrics.synced.observe(ageSeconds);
    recorder.record(objectRef(nodeResource, state), "Normal", "Synced", "Node synced successfully");
    host.log.info("node initialised", { node: name, providerID: state.providerId || providerIdFor(machine) });
    return { kind: "initialised", node: state, machine, extra };
  }

  /** Addresses and condition, in one write. */
  async #finish({ node, machine, extra: { pending, denied } }: Initialised, signal: AbortSignal): Promise<Outcome> {
    const { kube, host, recorder, ipFamilies } = this.#options;
    const { name } = node.metadata;
    for (const { message, iamAction } of denied)
      recorder.record(objectRef(nodeResource, node), "Warning", "FailedToLabelNode", message, iamAction);
    const addresses = addressesFor(node, addressesOf(machine, ipFamilies));
    const status = statusChange(
      node,
      { addresses, problem: pending === undefined ? undefined : laterLabels(pending) },
      host.world.clock.now(),
    );
    if (status !== undefined) await patchNodeStatus(kube, node, status, signal);
    this.#withoutAddresses.delete(name);
    this.#restsUntil.set(name, host.world.clock.monotonic() + restMs);
    if (pending !== undefined) return again(this.#laterLabels.failed(name, ""), pending);
    this.#laterLabels.forget(name);
    return done;
  }

  /** A Node that is initialised: its label pairs agree, and what was left for later is done now. */
  async #keep(node: SeenNode, signal: AbortSignal): Promise<Outcome> {
    const { kube, identities } = this.#options;
    const { name } = node.metadata;
    this.#failures.forget(name);
    const labels = stableLabels(node.metadata.labels);
    if (labels !== undefined) await patchNode(kube, node, () => ({ metadata: { labels } }), signal);
    if (conditionOf(node, cloudCondition) === undefined && !this.#withoutAddresses.has(name)) return done;
    const waitMs = this.#laterLabels.waitMs(name, "");
    if (waitMs > 0) return again(waitMs, "labels are still missing");
    const identified = await identities.identify(node, this.#ask(signal));
    if (identified.kind === "unidentified") return again(this.#laterLabels.failed(name, ""), identified.message);
    const extra = await this.#extras(node, identified.machine, extrasPatienceMs.later, signal);
    const labelled = await patchNode(kube, node, (now) => extraLabelsPatch(now, extra.labels), signal);
    if (labelled === undefined) return done;
    return this.#finish({ kind: "initialised", node: labelled, machine: identified.machine, extra }, signal);
  }

  #extras(node: SeenNode, machine: Machine, patienceMs: number, signal: AbortSignal) {
    const { cloud, networkTopology, host } = this.#options;
    const existing: Labels = node.metadata.labels;
    const { clock } = host.world;
    return extraLabels({ machine, existing, zones: cloud.availabilityZones, networkTopology, clock, patienceMs }, this.#ask(signal));
  }

  async #refuse(node: SeenNode, why: Extract<Identification, { kind: "unidentified" }>, signal: AbortSignal): Promise<Outcome> {
    if (why.reason !== "ForeignProviderID") return this.#fail(node, why.reason, why.message, signal);
    this.#onceRecorder.record(node, why.reason, why.message);
    return done;
  }

  /** Says on the Node what failed and when the next try is. */
  async #fail(node: SeenNode, reason: string, cause: string, signal: AbortSignal): Promise<Outcome> {
    const { recorder, host } = this.#options;
    const { clock } = host.world;
    const pauseMs = this.#failures.failed(node.metadata.name, circumstances(node));
    const message = `${cause}; next try at ${new Date(clock.now() + pauseMs).toISOString().slice(0, 19)}Z`;
    host.log.warn("node cannot be initialised", { node: node.metadata.name, reason, cause, retryInMs: pauseMs });
    recorder.record(objectRef(nodeResource, node), "Warning", "FailedToInitializeNode", message, reason);
    await this.#mark(node, { status: "False", reason, message }, signal);
    return again(pauseMs, cause);
  }

  async #mark(node: SeenNode, problem: NodeProblem, signal: AbortSignal): Promise<void> {
    const { kube, host } = this.#options;
    const { name } = node.metadata;
    const status = statusChange(node, { problem }, host.world.clock.now());
    if (status === undefined) return;
    try {
      await patchNodeStatus(kube, node, status, signal);
    } catch (error) {
      if (refusalIn(error)) throw error;
      // The Event has said it; the next try says it again.
      host.log.warn("the condition of a node cannot be written", { node: name, error });
    }
  }

  #ask(signal: AbortSignal): Ask {
    return { cause: "node initialisation", signal, urgency: "user", maxAgeMs: 2_000 };
  }

  #forget(name: string): void {
    this.#failures.forget(name);
    this.#laterLabels.forget(name);
    this.#withoutAddresses.delete(name);
    this.#restsUntil.delete(name);
    this.#onceRecorder.forget(name);
  }
}

/** A Node that has lost its taint, with what is left to be done for it. */
interface Initialised {
  readonly kind: "initialised";
  readonly node: SeenNode;
  readonly machine: Machine;
  readonly extra: ExtraLabels;
}

/** The Node's instance is on its way out: to initialise the Node would be to announce a machine that is not there. */
class InstanceEnding extends Error {
  override readonly name = "InstanceEnding";
  constructor({ id, state }: Instance) {
    super(`${id} is ${state}: a Node on it is not initialised`);
  }
}

/** What a failure may have come from: when it changes, the next try is made at once. */
function circumstances(node: SeenNode): string {
  return [node.metadata.uid, node.providerId, node.providedNodeIp ?? "", ...claimedAddresses(node)].join(" ");
}

function laterLabels(pending: string): NodeProblem {
  return { status: "True", reason: labelsPending, message: `initialised; labels are still missing: ${pending}` };
}

function explained(node: SeenNode, error: unknown): [reason: string, cause: string] {
  const { message, name } = error as Error;
  if (error instanceof ProvidedNodeIpInvalid) {
    return ["ProvidedNodeIPInvalid", `provided node ip for node "${node.metadata.name}" is not valid: ${message}`];
  }
  return isAwsError(error) ? [error.code, message] : [name, message];
}
