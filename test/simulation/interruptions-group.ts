/** The Auto Scaling group of the interruptions' world: instances that hooks hold on their way in and out. */
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { type WorkerGroup, workerGroup } from "../bed/interruption-group.ts";
import type { InterruptionWorld } from "../bed/interruption-world.ts";
import type { History } from "./history.ts";

/** How long a hook holds. */
export const hookMs = 300_000;

export class InterruptionGroup {
  readonly workers: WorkerGroup;
  readonly #w: InterruptionWorld;
  readonly #history: History;
  /** Members that it was told of that they go. */
  readonly #ending = new Set<string>();
  /** Instances whose Node has joined and is not ready. */
  readonly #joined = new Set<string>();

  private constructor(w: InterruptionWorld, history: History, workers: WorkerGroup) {
    this.#w = w;
    this.#history = history;
    this.workers = workers;
  }

  /** A group whose hooks hold what comes and what goes. */
  static async make(w: InterruptionWorld, history: History, size: number): Promise<InterruptionGroup> {
    const workers = await workerGroup(w, size, hookMs / 1000);
    workers.hook({ hook: "join", heartbeatSeconds: hookMs / 1000, launching: true });
    return new InterruptionGroup(w, history, workers);
  }

  /** Gives one of its instances up. */
  giveUp(): Instance | undefined {
    const held = this.workers.instances.find(({ id }) => !this.#ending.has(id) && this.workers.state(id) === "InService");
    if (held === undefined) return undefined;
    this.#ending.add(held.id);
    this.workers.end(held.id);
    return held;
  }

  /** Members that are on their way out and were not before. */
  ending(): readonly Instance[] {
    const { as, state } = this.workers;
    const found = as.members.values().filter(({ instanceId }) => !this.#ending.has(instanceId) && state(instanceId)?.startsWith("Term"));
    return found.map(({ instanceId }) => {
      this.#ending.add(instanceId);
      return this.#w.aws.account.ec2.instances.get(instanceId)!;
    });
  }

  /** A machine that waits in the launch hook goes one step further: its Node joins, and then it is ready. */
  async progress(): Promise<void> {
    const { as, state } = this.workers;
    const waiting = as.members.values().find(({ instanceId }) => state(instanceId) === "Pending:Wait" && !this.#isReady(instanceId));
    const instance = waiting && this.#w.aws.account.ec2.instances.get(waiting.instanceId);
    if (instance === undefined) return;
    const { privateDnsName: node } = instance;
    if (this.#joined.has(instance.id)) {
      this.#history.tell("kubelet", `${node} is ready`);
      await this.#w.say("PATCH", `/api/v1/nodes/${node}/status`, { status: { conditions: [{ type: "Ready", status: "True" }] } });
      return;
    }
    this.#joined.add(instance.id);
    this.#history.tell("kubelet", `${node} joins`);
    await this.#w.join(instance, "False");
  }

  /** Whether the Node of an instance is there and ready. */
  isReady(instanceId: string): boolean {
    return this.#isReady(instanceId);
  }

  #isReady(instanceId: string): boolean {
    const name = this.#w.aws.account.ec2.instances.get(instanceId)?.privateDnsName ?? "";
    const conditions = this.#w.node(name)?.status?.conditions ?? [];
    return conditions.some(({ type, status }) => type === "Ready" && status === "True");
  }
}
