/** What users see of a group on its Ingresses: finalizers, status, Events. */
import { messageOf } from "../../runtime/message-of.ts";
import { type FailureReason as AnyReason, ControllerReport, type ReportParts } from "../controller-report.ts";
import type { SecretDigests } from "../followed-secrets.ts";
import { isRefusal } from "../setbacks.ts";
import {
  checkpointAnnotation,
  ingresses,
  planAnnotation,
  planDigest,
  type SeenIngress,
  sentSecretsAnnotation,
  setAttributesAnnotation,
} from "./seen.ts";

/** Those of an Ingress. */
export type FailureReason = Exclude<AnyReason, "FailedCleanupStatus">;

export class Report extends ControllerReport<SeenIngress> {
  constructor(parts: ReportParts) {
    super(ingresses, parts);
  }

  /** Which Secrets AWS has: whoever comes later sees whether one was changed meanwhile. */
  async recordSecrets(ingress: SeenIngress, digests: SecretDigests, signal: AbortSignal): Promise<void> {
    const text = (pairs: SecretDigests) =>
      Object.entries(pairs)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map((pair) => pair.join("="))
        .join();
    const wanted = text(digests);
    if (wanted === text(ingress.sentSecrets)) return;
    await this.#note(ingress, sentSecretsAnnotation, wanted, signal);
  }

  /** Which attributes its group has set, where that is written on it. False when the Ingress has changed since it was seen. */
  async recordAttributes(ingress: SeenIngress, set: readonly string[], signal: AbortSignal): Promise<boolean> {
    const wanted = set.join();
    if (wanted === ingress.setAttributes.join()) return true;
    return this.#note(ingress, setAttributesAnnotation, wanted, signal);
  }

  /** False when the Ingress has changed since it was seen. */
  recordCheckpoint(ingress: SeenIngress, checkpoint: string, signal: AbortSignal): Promise<boolean> {
    return this.#note(ingress, checkpointAnnotation, checkpoint, signal);
  }

  /** What its group asks for, as text; empty: nothing is written on it. */
  async recordPlan(ingress: SeenIngress, text: string, signal: AbortSignal): Promise<void> {
    if (ingress.plan === planDigest(text)) return;
    await this.#note(ingress, planAnnotation, text, signal);
  }

  /** Writes a note of ours, or takes it away. One that somebody keeps us from writing on goes without, and its group does not wait. */
  async #note(ingress: SeenIngress, annotation: string, text: string, signal: AbortSignal): Promise<boolean> {
    try {
      return await this.patch(ingress, { metadata: { annotations: { [annotation]: text || null } } }, undefined, signal);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.failed(ingress, "FailedUpdateStatus", messageOf(error));
      return true;
    }
  }

  /** It has no load balancer any more. */
  async unpublish(ingress: SeenIngress, signal: AbortSignal): Promise<void> {
    await this.patch(ingress, { status: { loadBalancer: { ingress: null } } }, "status", signal);
  }

  /** The address of the load balancer, with all ports of the group, and of one in front. Says nothing that is said already. */
  async publish(
    ingress: SeenIngress,
    hostname: string,
    ports: readonly number[],
    front: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const wanted = [{ hostname, ports }, ...(front === undefined ? [] : [{ hostname: front, ports: [] }])];
    const isSame = (entry: SeenIngress["published"][number]) =>
      wanted.some((each) => each.hostname === entry.hostname && entry.ip === "" && samePorts(each.ports, entry.ports));
    if (ingress.published.length === wanted.length && ingress.published.every(isSame)) return;
    const entries = wanted.map((each) => ({
      hostname: each.hostname,
      ...(each.ports.length > 0 && { ports: each.ports.map((port) => ({ port, protocol: "TCP" })) }),
    }));
    await this.patch(ingress, { status: { loadBalancer: { ingress: entries } } }, "status", signal);
  }
}

const samePorts = (a: readonly number[], b: readonly number[]) => a.toSorted((x, y) => x - y).join() === b.toSorted((x, y) => x - y).join();
