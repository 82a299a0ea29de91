/** Nodes as they are after our own writes, which the informer may not have seen yet; and those writes. */
import {
  claimedInstance,
  interruptionPlanAnnotation,
  type Nodes,
  nodeView,
  type SeenNode,
  simulatedInterruptionAnnotation,
} from "../identity/node-view.ts";
import { nodes } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import { changedNode, type NodeChange } from "./node-change.ts";
import { type NodePlan, readPlan, writePlan } from "./plan.ts";
import type { PlannedNode } from "./situation.ts";

/** A Node at one version. */
export interface NodeState extends PlannedNode {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly addresses: SeenNode["addresses"];
  /** Somebody has asked for a simulated interruption. */
  readonly simulates: boolean;
}

/** What became of a write: done; done but for labels and taints, which were refused; not done, and what is there instead is known now. */
export type Written = "written" | { readonly refused: string } | "conflict";

/** What is known of a Node beyond what the informer had when it was found out. */
interface Known {
  readonly uid: string;
  /** Undefined is a Node that is gone. */
  readonly state: NodeState | undefined;
  /** The version the informer had then: until it has another one, it knows less. */
  readonly seenVersion: string | undefined;
}

export class NodeStates {
  readonly #kube: KubeClient;
  readonly #nodes: Nodes;
  readonly #known = new Map<string, Known>();

  constructor(kube: KubeClient, nodes: Nodes) {
    this.#kube = kube;
    this.#nodes = nodes;
  }

  get(name: string): NodeState | undefined {
    const seen = this.#nodes.get(name);
    const known = this.#known.get(name);
    if (seen === undefined) {
      this.#known.delete(name);
      return undefined;
    }
    const state = stateOf(seen);
    if (known === undefined) return state;
    // A plan of the same revision may still be on an older version of the Node, by which nothing could be written.
    if (state.resourceVersion === known.seenVersion) return known.state;
    if (known.uid === state.uid && (known.state === undefined || isBehind(state, known.state))) return known.state;
    this.#known.delete(name);
    return state;
  }

  /** Whether a Node is still the same one, and not another of its name. Asks the API server. */
  async isStill(state: NodeState, signal: AbortSignal): Promise<boolean> {
    await this.#refresh(state, signal);
    return this.#known.get(state.name)?.state?.uid === state.uid;
  }

  /** Forgets what was written of a Node; the informer will tell. */
  forget(name: string): void {
    const seen = this.#nodes.get(name);
    const known = this.#known.get(name)?.state;
    if (seen === undefined || known === undefined || !isBehind(stateOf(seen), known)) this.#known.delete(name);
  }

  /** Writes a plan and a change, unless anybody has changed the Node since. */
  async write(state: NodeState, plan: NodePlan, change: NodeChange, signal: AbortSignal): Promise<Written> {
    try {
      await this.#patch(state, plan, change, signal);
      return "written";
    } catch (error) {
      if (isApiError(error, "conflict", "not-found")) {
        await this.#refresh(state, signal);
        return "conflict";
      }
      const beside = change.labels !== undefined || change.taints !== undefined;
      if (!isApiError(error, "forbidden", "invalid") || !beside) throw error;
      // Somebody refuses the label or the taint. The Node is cordoned all the same.
      const { unschedulable } = change;
      await this.#patch(state, plan, unschedulable === undefined ? {} : { unschedulable }, signal);
      return { refused: error.said };
    }
  }

  async #patch(state: NodeState, plan: NodePlan, change: NodeChange, signal: AbortSignal): Promise<void> {
    const { unschedulable, taints, labels } = change;
    const spec = { ...(unschedulable !== undefined && { unschedulable: unschedulable || null }), ...(taints && { taints }) };
    const merge = {
      metadata: {
        resourceVersion: state.resourceVersion,
        // What was asked for as a simulation is in the plan now.
        annotations: { [interruptionPlanAnnotation]: writePlan(plan), ...(state.simulates && { [simulatedInterruptionAnnotation]: null }) },
        ...(labels && { labels }),
      },
      ...(Object.keys(spec).length > 0 && { spec }),
    };
    const seenVersion = this.#seenVersion(state.name);
    const { resourceVersion } = await this.#kube.patch(nodes, { name: state.name }, { merge, uid: state.uid }, { signal });
    const written = { ...changedNode(state, change), plan, resourceVersion, simulates: false };
    this.#known.set(state.name, { uid: state.uid, state: written, seenVersion });
  }

  async #refresh({ name, uid }: NodeState, signal: AbortSignal): Promise<void> {
    const seenVersion = this.#seenVersion(name);
    try {
      const state = stateOf(nodeView(await this.#kube.get(nodes, { name }, { signal })));
      this.#known.set(name, { uid: state.uid, state, seenVersion });
    } catch (error) {
      if (!isApiError(error, "not-found")) throw error;
      this.#known.set(name, { uid, state: undefined, seenVersion });
    }
  }

  #seenVersion(name: string): string | undefined {
    return this.#nodes.get(name)?.metadata.resourceVersion;
  }
}

/** Whether the plan on a Node is older than the one that is known. */
function isBehind({ plan }: NodeState, known: NodeState): boolean {
  return (plan?.revision ?? 0) < (known.plan?.revision ?? 0);
}

function stateOf(node: SeenNode): NodeState {
  const { name, uid, resourceVersion, labels } = node.metadata;
  return {
    name,
    uid,
    resourceVersion,
    labels,
    instanceId: claimedInstance(node) ?? "",
    addresses: node.addresses,
    simulates: node.simulatedInterruption !== undefined,
    unschedulable: node.unschedulable,
    taints: node.taints,
    bootId: node.bootId,
    plan: readPlan(node.interruptionPlan),
  };
}
