/** Instances that wait in a launch hook of Auto Scaling until their Node is ready. */
import type { QueueMessage } from "../aws/queue.ts";
import type { EventReason } from "../identity/event-reasons.ts";
import { claimedInstance, isReady, type Nodes, type SeenNode } from "../identity/node-view.ts";
import type { Host } from "../runtime/host.ts";
import { messageOf } from "../runtime/message-of.ts";
import { sleep } from "../runtime/world.ts";
import type { ActionMetrics } from "./action-metrics.ts";
import { goTime, type HookRef } from "./event.ts";
import type { Hooks } from "./hooks.ts";

export interface LaunchesParts {
  readonly host: Host;
  readonly nodes: Nodes;
  readonly hooks: Hooks;
  readonly metrics: ActionMetrics;
  readonly completionDelayMs: number;
  /** Says something of a Node in an Event. */
  readonly tell: TellOfNode;
  /** Told when nobody waits for a launch any more. */
  readonly ended: (messageId: string, eventId: string) => void;
}

export type TellOfNode = (node: SeenNode, type: "Normal" | "Warning", reason: EventReason, message: string) => void;

/** What a message tells of a launch. */
export interface LaunchNotice {
  readonly id: string;
  readonly hook: HookRef;
  readonly startTime: number;
}

/** One hook that holds one instance. */
interface Launch extends LaunchNotice {
  announced: boolean;
  /** Every message that told of it, and the event it told of. */
  readonly told: Map<string, string>;
  completing: boolean;
  cancelExpiry: () => void;
}

/** How long a hook holds that does not say. */
const unknownTimeoutMs = 3_600_000;
const retryMs = 5_000;

export class Launches {
  readonly #parts: LaunchesParts;
  /** By instance: a group may have several launch hooks, and each of them holds it. */
  readonly #waiting = new Map<string, readonly Launch[]>();

  constructor(parts: LaunchesParts) {
    this.#parts = parts;
  }

  /** Waits for the Node of an instance, but no longer than its hook does. */
  add({ id: messageId }: QueueMessage, { id, hook, startTime }: LaunchNotice, signal: AbortSignal): void {
    const { nodes, host } = this.#parts;
    const others = this.#waiting.get(hook.instanceId) ?? [];
    const known = others.find((launch) => launch.hook.group === hook.group && launch.hook.hook === hook.hook);
    if (known !== undefined) {
      known.told.set(messageId, id);
      return;
    }
    host.log.info("Waiting for node to be ready before completing ASG launch lifecycle", {
      "event-id": id,
      "instance-id": hook.instanceId,
    });
    const launch: Launch = {
      id,
      hook,
      startTime,
      announced: false,
      told: new Map([[messageId, id]]),
      completing: false,
      cancelExpiry: () => {},
    };
    this.#waiting.set(hook.instanceId, [...others, launch]);
    void this.#expire(launch, signal);
    const [node] = nodes.by("instance", hook.instanceId);
    if (node !== undefined) this.nodeChanged(node, signal);
  }

  /** Lets the instance of a Node go on, if it waits and the Node is ready. */
  nodeChanged(node: SeenNode, signal: AbortSignal): void {
    if (!isReady(node)) return;
    for (const launch of this.#waiting.get(claimedInstance(node) ?? "") ?? []) {
      if (launch.completing) continue;
      launch.completing = true;
      void this.#complete(launch, node, signal);
    }
  }

  async #complete(launch: Launch, node: SeenNode, signal: AbortSignal): Promise<void> {
    const { host, hooks, metrics, completionDelayMs, tell } = this.#parts;
    const { instanceId } = launch.hook;
    const { name } = node.metadata;
    if (!launch.announced) {
      launch.announced = true;
      const message = `ASG Lifecycle Launch event received. Instance was started at ${goTime(launch.startTime)}`;
      tell(node, "Normal", "UnknownInterruption", message);
    }
    try {
      if (completionDelayMs > 0) await sleep(host.world.clock, completionDelayMs, signal);
      await hooks.complete(launch.hook, "CONTINUE", signal);
      host.log.info("Completed ASG Lifecycle Hook", { "event-id": launch.id, "instance-id": instanceId, "node-name": name });
      metrics.action("post-drain", true, name, launch.id);
      tell(node, "Normal", "PostDrain", "Post-drain task successfully executed");
      this.#end(launch);
    } catch (error) {
      if (signal.aborted) return;
      launch.completing = false;
      host.log.warn("a launch hook could not be completed; retrying", { "instance-id": instanceId, error });
      metrics.action("post-drain", false, name, launch.id);
      tell(node, "Warning", "PostDrainError", `There was a problem executing the post-drain task: ${messageOf(error)}`);
      host.world.clock.after(retryMs, () => {
        const [current] = this.#parts.nodes.by("instance", instanceId);
        if (current !== undefined && !signal.aborted) this.nodeChanged(current, signal);
      });
    }
  }

  async #expire(launch: Launch, signal: AbortSignal): Promise<void> {
    const { host, hooks } = this.#parts;
    const { hook } = launch;
    const ms = (await hooks.timeout(hook, signal).catch(() => undefined)) ?? unknownTimeoutMs;
    if (signal.aborted || !this.#waiting.get(hook.instanceId)?.includes(launch)) return;
    launch.cancelExpiry = host.world.clock.after(ms, () => {
      if (launch.completing || signal.aborted) return;
      host.log.warn("an instance did not become a ready Node before its launch hook ended", { "instance-id": hook.instanceId });
      this.#end(launch);
    });
  }

  #end(launch: Launch): void {
    launch.cancelExpiry();
    const { instanceId } = launch.hook;
    const others = this.#waiting.get(instanceId)?.filter((each) => each !== launch) ?? [];
    if (others.length > 0) this.#waiting.set(instanceId, others);
    else this.#waiting.delete(instanceId);
    for (const [messageId, eventId] of launch.told) this.#parts.ended(messageId, eventId);
  }
}
