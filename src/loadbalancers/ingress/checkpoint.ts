/**
 * What a group's load balancer was when all of it was as wanted, written down on its first Ingress. AWS tells of listeners and
 * rules one load balancer at a time; a process that has just started takes them for what they were, as long as nothing else has
 * changed and the same is wanted, and looks at each within the hour. So a restart of hundreds of groups asks for lists, and no
 * edit of a user waits behind it.
 */
import { createHash } from "node:crypto";
import { jittered, type World } from "../../runtime/world.ts";
import { application } from "../application/kind.ts";
import type { SeenApplication } from "../application/plan.ts";
import { sortedJson } from "../elbv2/actions.ts";
import type { ApplicationLoadBalancer } from "../model.ts";
import type { GroupDesire } from "./desire.ts";
import type { Group } from "./groups.ts";
import type { Report } from "./report.ts";
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
  return createHash("sha256")
    .update(sortedJson([arn, listeners, attributes, capacity, groups]))
    .digest("base64url")
    .slice(0, 22);
}

/** The Secrets of log-ins that had changed are at AWS now. */
const withSecretsSent = (listeners: ApplicationLoadBalancer["listeners"]): unknown =>
  JSON.parse(JSON.stringify(listeners, (key, value: unknown) => (key === "secretChanged" ? false : value)));

export class Checkpoints {
  readonly #world: Pick<World, "clock" | "random">;
  /** When each group has to be looked at as a whole, by its key: monotonic. */
  readonly #due = new Map<string, number>();
  /** What was written, or taken away, until it is seen, by UID of the Ingress. */
  readonly #written = new Map<string, string>();

  constructor(world: Pick<World, "clock" | "random">) {
    this.#world = world;
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

  /** Before anything is changed: whoever comes after a crash in the middle must not trust it. */
  async clear({ members, leaving }: Group, { ingresses, report }: Parts, signal: AbortSignal): Promise<void> {
    // One that is deleted is never the first of a group again.
    const views: readonly IngressView[] = [...members.map(({ ingress }) => ingress), ...leaving.filter(({ isDeleted }) => !isDeleted)];
    for (const ingress of views.flatMap((view) => ingresses.get(keyOf(view)) ?? [])) await this.#write(ingress, "", report, signal);
  }

  /** All of it is as wanted. */
  async record({ members: [first] }: Group, checkpoint: string, { ingresses, report }: Parts, signal: AbortSignal): Promise<void> {
    const ingress = first && ingresses.get(keyOf(first.ingress));
    if (ingress) await this.#write(ingress, checkpoint, report, signal);
  }

  async #write(ingress: SeenIngress, checkpoint: string, report: Report, signal: AbortSignal): Promise<void> {
    const { uid } = ingress.metadata;
    if (this.#written.get(uid) === ingress.checkpoint) this.#written.delete(uid);
    if ((this.#written.get(uid) ?? ingress.checkpoint) === checkpoint) return;
    await report.recordCheckpoint(ingress, checkpoint, signal);
    this.#written.set(uid, checkpoint);
  }
}

interface Parts {
  readonly ingresses: Pick<Ingresses, "get">;
  readonly report: Report;
}
