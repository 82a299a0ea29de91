/** The queue: receives messages, finds the Nodes they are about, and hands their events over. Nothing that comes in ends it. */

import type { Cloud } from "../aws/cloud.ts";
import type { Instance } from "../aws/instance.ts";
import type { InstanceLookup } from "../aws/instances.ts";
import type { Queue, QueueMessage } from "../aws/queue.ts";
import { claimedInstance, type Nodes, type SeenNode } from "../identity/node-view.ts";
import type { Source } from "../runtime/controller.ts";
import { refusalIn } from "../runtime/gate.ts";
import type { Host } from "../runtime/host.ts";
import { messageOf } from "../runtime/message-of.ts";
import { jittered, sleep, within } from "../runtime/world.ts";
import type { ActionMetrics } from "./action-metrics.ts";
import type { InterruptionEvent } from "./event.ts";
import { HeldMessages } from "./held-messages.ts";
import type { Hooks } from "./hooks.ts";
import type { Inbox } from "./inbox.ts";
import { Launches, type LaunchNotice, type TellOfNode } from "./launches.ts";
import { readMessage } from "./messages.ts";
import { monitorSource } from "./monitor-source.ts";

/** What a user decides about the queue. */
export interface QueueSettings {
  readonly visibilitySeconds: number;
  /** Act only on instances that carry this tag; undefined: on all. */
  readonly managedTag: string | undefined;
  /** Messages about instances without a Node here are deleted, and their hooks completed; otherwise left to others. */
  readonly deleteIfNodeNotFound: boolean;
  readonly completionDelayMs: number;
}

export interface QueueMonitorParts {
  readonly host: Host;
  readonly cloud: Cloud;
  readonly queue: Queue;
  readonly nodes: Nodes;
  readonly inbox: Inbox;
  readonly hooks: Hooks;
  readonly metrics: ActionMetrics;
  readonly tell: TellOfNode;
  readonly settings: QueueSettings;
}

/** A message that nobody can read is deleted when it has come so often: a dead-letter queue may want it before. */
const maxReceives = 3;
const firstPauseMs = 2_000;
const maxPauseMs = 30_000;
/** The tag of an instance changes seldom. */
const instanceAgeMs = 60_000;
const giveBackMs = 3_000;
const monitor = "SQS_MONITOR";
/** Auto Scaling puts it on every instance that it launches. */
const groupTag = "aws:autoscaling:groupName";

/** What is to become of an event. */
type Verdict = { readonly kind: "ours"; readonly node: string; readonly group?: string | undefined } | Refusal;

/** Why nothing is done for an event. */
interface Refusal {
  readonly kind: "drop" | "foreign" | "later";
  readonly why: string;
}

const unanswered = "EC2 did not answer for the instance";
const unknownInstance = "EC2 knows no such instance";
const untagged = (tag: string) => `the instance does not carry the tag ${tag}`;

export class QueueMonitor {
  /** Wakes the controller, by way of the inbox. */
  readonly source: Source;
  /** Resolves when nothing is received any more and others may have what this process held. */
  ended: Promise<void> = Promise.resolve();
  readonly #parts: QueueMonitorParts;
  readonly #held: HeldMessages;
  readonly #launches: Launches;
  #problem: string | undefined = "the queue has not been asked yet";

  constructor(parts: QueueMonitorParts) {
    this.#parts = parts;
    this.#held = new HeldMessages(parts.host, parts.queue);
    const { host, nodes, hooks, metrics, tell, settings } = parts;
    this.#launches = new Launches({
      ...{ host, nodes, hooks, metrics, tell, completionDelayMs: settings.completionDelayMs },
      ended: (messageId, eventId) => this.#held.ended(messageId, eventId, "ended"),
    });
    this.source = monitorSource("queue", nodes, (signal) => {
      this.ended = this.#run(signal);
    });
    metrics.held.set(0);
  }

  /** Why the queue cannot be used at the moment. */
  problem(): string | undefined {
    return this.#problem;
  }

  /** Receives until the signal aborts. */
  async #run(signal: AbortSignal): Promise<void> {
    const { host, nodes, queue, settings } = this.#parts;
    const { clock, random } = host.world;
    const life = new AbortController();
    void this.#held.run(life.signal);
    const unsubscribe = nodes.subscribe((_, node) => node && this.#launches.nodeChanged(node, signal));
    for (let pauseMs = firstPauseMs; !signal.aborted; ) {
      try {
        const messages = await queue.receive(settings.visibilitySeconds, signal);
        this.#problem = undefined;
        pauseMs = firstPauseMs;
        for (const message of messages) void this.#handle(message, signal);
        this.#parts.metrics.held.set(this.#held.size);
      } catch (error) {
        if (signal.aborted) break;
        this.#problem = messageOf(error);
        this.#parts.metrics.error(monitor);
        host.log.warn("There was a problem monitoring for events", { monitor_type: monitor, error, retryInMs: pauseMs });
        await sleep(clock, jittered(random, pauseMs, 0.2), signal).catch(() => {});
        pauseMs = Math.min(maxPauseMs, pauseMs * 2);
      }
    }
    unsubscribe();
    await this.#giveBack();
    life.abort(new Error("the queue is no longer read"));
  }

  /** Lets others have at once what this process held; otherwise they wait until it is visible again. */
  async #giveBack(): Promise<void> {
    const { host } = this.#parts;
    try {
      await within(host.world.clock, giveBackMs, "give messages back", undefined, (signal) => this.#held.giveBack(signal));
    } catch (error) {
      if (refusalIn(error) === undefined)
        host.log.warn("messages cannot be given back before the end; they come again by themselves", { error });
    }
  }

  async #handle(message: QueueMessage, signal: AbortSignal): Promise<void> {
    if (this.#held.isHeld(message)) return;
    const { host, metrics } = this.#parts;
    try {
      await this.#read(message, signal);
    } catch (error) {
      if (signal.aborted) return;
      // It comes again when others may see it.
      metrics.error(monitor);
      host.log.warn("a message could not be handled; it will be delivered again", { "message-id": message.id, error });
    }
  }

  async #read(message: QueueMessage, signal: AbortSignal): Promise<void> {
    const { host, metrics } = this.#parts;
    const now = host.world.clock.now();
    const read = readMessage(message.body, now);
    if (message.receives === 1 && message.sentAt !== undefined) metrics.age.observe(Math.max(0, now - message.sentAt) / 1000);
    switch (read.kind) {
      case "nothing":
        metrics.messages.inc({ outcome: "ignored" });
        host.log.info("dropping event", { "message-id": message.id, why: read.why });
        this.#held.drop(message);
        return;
      case "unreadable": {
        metrics.messages.inc({ outcome: "unreadable" });
        const deleted = message.receives >= maxReceives;
        host.log.warn("a message cannot be read", { "message-id": message.id, why: read.why, receives: message.receives, deleted });
        if (deleted) this.#held.drop(message);
        return;
      }
      case "launch":
        return this.#launch(message, read, signal);
      case "capacity-block": {
        const filter = [{ name: "capacity-reservation-id", values: [read.reservationId] }];
        const instances = await this.#parts.cloud.instances.list(filter, { cause: "interruptions", signal, urgency: "user" });
        const events = instances.map(
          (instance): InterruptionEvent => ({
            id: `${read.id}-${instance.id}`,
            kind: "capacity-block",
            monitor,
            instanceId: instance.id,
            description: `Capacity block ${read.reservationId} ends. Instance ${instance.id} will be terminated`,
            startTime: read.startTime,
            deadline: read.deadline,
          }),
        );
        return this.#take(message, events, signal);
      }
      case "events":
        return this.#take(message, read.events, signal);
    }
  }

  /** An instance that waits for its Node. */
  async #launch(message: QueueMessage, notice: LaunchNotice, signal: AbortSignal): Promise<void> {
    const { id, hook } = notice;
    const { host, metrics, settings } = this.#parts;
    const refusal = settings.managedTag === undefined ? undefined : await this.#unmanaged(hook.instanceId, settings.managedTag, signal);
    metrics.messages.inc({ outcome: refusal === undefined ? "launch" : refusal.kind === "drop" ? "unmanaged" : refusal.kind });
    if (refusal !== undefined) {
      host.log.info("dropping event", { event: id, instance: hook.instanceId, why: refusal.why });
      if (refusal.kind === "drop") this.#held.drop(message);
      return;
    }
    this.#held.hold(message, [id]);
    this.#launches.add(message, notice, signal);
  }

  /** Why a launch is not waited for, if it is not. */
  async #unmanaged(instanceId: string, tag: string, signal: AbortSignal): Promise<Refusal | undefined> {
    const found = await this.#lookUp(instanceId, signal);
    if (found.kind === "absent") return { kind: "later", why: unanswered };
    if (found.kind !== "found") return { kind: "drop", why: unknownInstance };
    return found.instance.tags[tag] === undefined ? { kind: "drop", why: untagged(tag) } : undefined;
  }

  #lookUp(instanceId: string, signal: AbortSignal): Promise<InstanceLookup> {
    return this.#parts.cloud.instances.lookup(instanceId, {
      cause: "interruptions",
      signal,
      urgency: "user",
      maxAgeMs: instanceAgeMs,
    });
  }

  async #take(message: QueueMessage, events: readonly InterruptionEvent[], signal: AbortSignal): Promise<void> {
    const { host, inbox, metrics, hooks, settings } = this.#parts;
    const judged = await Promise.all(events.map(async (event) => ({ event, verdict: await this.#judge(event, signal) })));
    const ours = judged.flatMap(({ event, verdict }) => {
      if (verdict.kind !== "ours") return [];
      const { node, group } = verdict;
      return [{ node, event: group === undefined || event.hook !== undefined ? event : { ...event, group } }];
    });
    for (const { event, verdict } of judged) {
      if (verdict.kind === "ours") continue;
      metrics.messages.inc({ outcome: verdict.kind === "drop" ? "unmanaged" : verdict.kind });
      host.log.info("dropping event", { event: event.id, instance: event.instanceId, why: verdict.why });
      if (verdict.kind === "foreign" && settings.deleteIfNodeNotFound && event.hook) await hooks.complete(event.hook, "CONTINUE", signal);
    }
    // What has to come again must not be deleted with the rest of its message.
    const later = judged.some(({ verdict }) => verdict.kind === "later" || (verdict.kind === "foreign" && !settings.deleteIfNodeNotFound));
    if (ours.length === 0) {
      if (!later) this.#held.drop(message);
      return;
    }
    metrics.messages.inc({ outcome: "events" });
    const pending = ours.map(({ event }) => event.id);
    if (!later) this.#held.hold(message, pending);
    for (const { event, node } of ours) inbox.take(node, event, message.id, (reached) => this.#held.ended(message.id, event.id, reached));
  }

  /** Whose an event is. A Node that names the instance is enough; EC2 is asked where the tag decides, or where there is no such Node. */
  async #judge({ instanceId }: InterruptionEvent, signal: AbortSignal): Promise<Verdict> {
    const { nodes, settings } = this.#parts;
    const [named] = nodes.by("instance", instanceId);
    if (named !== undefined && settings.managedTag === undefined) return { kind: "ours", node: named.metadata.name };
    const found = await this.#lookUp(instanceId, signal);
    if (found.kind !== "found") {
      if (found.kind === "absent") return { kind: "later", why: unanswered };
      // A Node may outlive what EC2 remembers of its instance.
      return named === undefined ? { kind: "drop", why: unknownInstance } : { kind: "ours", node: named.metadata.name };
    }
    const { instance } = found;
    if (settings.managedTag !== undefined && instance.tags[settings.managedTag] === undefined) {
      return { kind: "drop", why: untagged(settings.managedTag) };
    }
    const node = named ?? this.#nodeByName(instance);
    if (node !== undefined) return { kind: "ours", node: node.metadata.name, group: instance.tags[groupTag] };
    if (instance.state !== "running" && instance.state !== "pending") return { kind: "drop", why: `the instance is ${instance.state}` };
    return { kind: "foreign", why: "no Node of this cluster is on the instance" };
  }

  /** A Node whose provider ID is not set yet is known by the name of its machine. */
  #nodeByName({ privateDnsName = "", id }: Instance): SeenNode | undefined {
    const node = privateDnsName === "" ? undefined : this.#parts.nodes.get(privateDnsName);
    return node !== undefined && [undefined, id].includes(claimedInstance(node)) ? node : undefined;
  }
}
