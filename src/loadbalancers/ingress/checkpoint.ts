/** What a group's load balancer was when all of it was as wanted, on its first Ingress; and how long that is trusted. */
import { jittered, type World } from "../../runtime/world.ts";
import { application } from "../application/kind.ts";
import type { SeenApplication } from "../application/plan.ts";
import { CheckpointRecord, checkpointDigest, type WriteCheckpoint } from "../checkpoints.ts";
import type { ApplicationLoadBalancer } from "../model.ts";
import type { GroupDesire } from "./desire.ts";
import type { Group } from "./groups.ts";
import type { Ingresses, SeenIngress } from "./seen.ts";
import { type IngressView, keyOf } from "./view.ts";

const minMs = 30 * 60_000;

/** A digest of everything that a glance does not see: what it is to be or, with what was made, what it has come to. */
export function checkpointOf({ model }: Pick<GroupDesire, "model">, seen: SeenApplication, made?: ReadonlyMap<string, string>): string {
  const { attributes, capacity } = model;
  const listeners = made ? withSecretsSent(model.listeners) : model.listeners;
  const { targetGroups } = application.afterParts(model, seen, made ?? new Map());
  const arn = seen.loadBalancer?.arn ?? made?.get(`load balancer ${model.name}`);
  const groups = model.targetGroups.map((group, i) => [group.name, targetGroups[i]?.arn, group.attributes]);
  return checkpointDigest([arn, listeners, attributes, capacity, groups]);
}

/** The Secrets of log-ins that had changed are at AWS now. */
const withSecretsSent = (listeners: ApplicationLoadBalancer["listeners"]): unknown =>
  JSON.parse(JSON.stringify(listeners, (key, value: unknown) => (key === "secretChanged" ? false : value)));

export class Checkpoints {
  readonly #world: Pick<World, "clock" | "random">;
  /** When each group has to be looked at as a whole, by its key: monotonic. */
  readonly #due = new Map<string, number>();
  readonly #record: CheckpointRecord<SeenIngress>;

  constructor(world: Pick<World, "clock" | "random">, write: WriteCheckpoint<SeenIngress>) {
    this.#world = world;
    this.#record = new CheckpointRecord(write);
  }

  /** How long a group may be taken for what it was; 0 where it has been looked at since the process started. */
  trustedMs(group: string): number {
    const now = this.#world.clock.monotonic();
    const due = this.#due.get(group) ?? now + jittered(this.#world.random, minMs, 0.5);
    this.#due.set(group, due);
    return Math.max(0, due - now);
  }

  /** All of it was looked at. */
  lookedAt(group: string): void {
    this.#due.set(group, Number.NEGATIVE_INFINITY);
  }

  forget(group: string): void {
    this.#due.delete(group);
  }

  /** Before anything is changed. False when an Ingress has changed since it was seen: nothing may be then. */
  async clear({ members, leaving }: Group, ingresses: Pick<Ingresses, "get">, signal: AbortSignal): Promise<boolean> {
    // One that is deleted is never the first of a group again.
    const views: readonly IngressView[] = [...members.map(({ ingress }) => ingress), ...leaving.filter(({ isDeleted }) => !isDeleted)];
    let isClear = true;
    for (const ingress of views.flatMap((view) => ingresses.get(keyOf(view)) ?? [])) {
      if (!(await this.#record.clear(ingress, signal))) isClear = false;
    }
    return isClear;
  }

  /** All of it is as wanted. */
  async record({ members: [first] }: Group, checkpoint: string, ingresses: Pick<Ingresses, "get">, signal: AbortSignal): Promise<void> {
    const ingress = first && ingresses.get(keyOf(first.ingress));
    if (ingress) await this.#record.record(ingress, checkpoint, signal);
  }
}
