/**
 * What a Service's load balancer was when all of it was as wanted, written down on the Service. AWS tells of listeners one load
 * balancer at a time; a process that has just started takes them for what they were, as long as nothing else has changed and the
 * same is wanted, and looks at each within the hour. So a restart over hundreds of Services asks for lists.
 */
import { createHash } from "node:crypto";
import { sortedJson } from "../elbv2/actions.ts";
import { boundNetwork } from "../network/bound-kind.ts";
import type { SeenNetwork } from "../network/plan.ts";
import type { SeenService } from "../service-state.ts";
import type { ServiceDesire } from "./desire.ts";
import type { Report } from "./report.ts";

/** A digest of everything that a glance does not see: what it is to be or, with what was made, what it has come to. */
export function checkpointOf({ model }: Pick<ServiceDesire, "model">, seen: SeenNetwork, made?: ReadonlyMap<string, string>): string {
  const { attributes, capacity, tags } = model;
  // In which order a Service names its ports makes no difference.
  const listeners = model.listeners.toSorted((a, b) => a.port - b.port);
  const { targetGroups } = boundNetwork.afterParts(model, seen, made ?? new Map());
  const arn = seen.loadBalancer?.arn ?? made?.get(`load balancer ${model.name}`);
  const groups = model.targetGroups.map((group, i) => [group.name, targetGroups[i]?.arn, group.attributes] as const);
  return createHash("sha256")
    .update(sortedJson([arn, listeners, tags, attributes, capacity, groups.toSorted(([a], [b]) => (a < b ? -1 : 1))]))
    .digest("base64url")
    .slice(0, 22);
}

export class Checkpoints {
  /** What was written, or taken away, until it is seen, by UID. */
  readonly #written = new Map<string, string>();

  /** Before anything is changed: whoever comes after a crash in the middle must not trust it. */
  clear(service: SeenService, report: Report, signal: AbortSignal): Promise<void> {
    return this.record(service, "", report, signal);
  }

  /** All of it is as wanted. */
  async record(service: SeenService, checkpoint: string, report: Report, signal: AbortSignal): Promise<void> {
    const { uid } = service.metadata;
    if (this.#written.get(uid) === service.checkpoint) this.#written.delete(uid);
    if ((this.#written.get(uid) ?? service.checkpoint) === checkpoint) return;
    await report.recordCheckpoint(service, checkpoint, signal);
    this.#written.set(uid, checkpoint);
  }

  forget({ metadata }: SeenService): void {
    this.#written.delete(metadata.uid);
  }
}
