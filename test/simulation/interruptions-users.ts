/** People and other controllers of the interruptions' world: they cordon, taint and delete Nodes, and lend their names to new ones. */
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import type { InterruptionWorld } from "../bed/interruption-world.ts";
import type { History } from "./history.ts";

export class ClusterUsers {
  /** Nodes that somebody cordoned before AWS said anything of them. */
  readonly cordoned = new Set<string>();
  /** Taints that somebody else has put on Nodes. */
  readonly taints = new Map<string, string[]>();
  /** Nodes that somebody deleted. */
  readonly deleted = new Set<string>();
  /** Nodes that came under the name of a deleted one, each with its pod. */
  readonly successors = new Map<string, string>();
  readonly #w: InterruptionWorld;
  readonly #history: History;

  constructor(w: InterruptionWorld, history: History) {
    this.#w = w;
    this.#history = history;
  }

  async cordon(node: string): Promise<void> {
    if (this.cordoned.has(node)) return;
    this.cordoned.add(node);
    this.#history.tell("user", `cordons ${node}`);
    await this.#w.say("PATCH", `/api/v1/nodes/${node}`, { spec: { unschedulable: true } });
  }

  /** A taint of another controller, which reads and writes the Node as it is. */
  taint(node: string): void {
    const known = this.taints.get(node) ?? [];
    const key = `other/${known.length}`;
    this.taints.set(node, [...known, key]);
    this.#history.tell("user", `taints ${node}`);
    // The list of taints is written as a whole.
    const taints = [...(this.#w.node(node)?.spec?.taints ?? []), { key, effect: "PreferNoSchedule" }];
    void this.#w.say("PATCH", `/api/v1/nodes/${node}`, { spec: { taints } });
  }

  /** Deletes a Node and what runs on it; another machine may come under its name. */
  async remove(node: string, successor: Instance | undefined): Promise<void> {
    this.deleted.add(node);
    this.#history.tell("user", `deletes ${node}`);
    // Whoever hears of it late finds the successor in its place.
    if (successor !== undefined) this.#w.cluster.cutWatches();
    await this.#w.say("DELETE", `/api/v1/nodes/${node}`);
    for (const name of this.#w.podNames(node)) {
      await this.#w.say("DELETE", `/api/v1/namespaces/default/pods/${name}`, { gracePeriodSeconds: 0 });
    }
    if (successor === undefined) return;
    this.#history.tell("kubelet", `${node} joins on ${successor.id}`);
    const pod = `successor-${this.successors.size}`;
    this.successors.set(node, pod);
    await this.#w.join({ ...successor, privateDnsName: node });
    await this.#w.pod({ name: pod, node });
  }
}
