/** What users see of a group on its Ingresses: finalizers, status, Events. */
import type { EventRecorder } from "../../identity/event-reasons.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import { objectRef } from "../../kube/event-recorder.ts";
import { ingresses, type SeenIngress } from "./seen.ts";

export interface ReportParts {
  readonly kube: KubeClient;
  readonly recorder: EventRecorder;
}

/** As users of the reference know them. */
const texts = {
  FailedAddFinalizer: "Failed add finalizer due to ",
  FailedBuildModel: "Failed build model due to ",
  FailedDeployModel: "Failed deploy model due to ",
  FailedUpdateStatus: "Failed update status due to ",
  FailedRemoveFinalizer: "Failed remove finalizer due to ",
  FailedLoadGroupID: "failed load groupID due to ",
} as const;

export type FailureReason = keyof typeof texts;

export class Report {
  readonly #parts: ReportParts;
  /** By UID. */
  readonly #warned = new Map<string, string>();

  constructor(parts: ReportParts) {
    this.#parts = parts;
  }

  reconciled(ingress: SeenIngress): void {
    this.#parts.recorder.record(objectRef(ingresses, ingress), "Normal", "SuccessfullyReconciled", "Successfully reconciled");
  }

  failed(ingress: SeenIngress, reason: FailureReason, cause: string): void {
    this.#parts.recorder.record(objectRef(ingresses, ingress), "Warning", reason, texts[reason] + cause, reason);
  }

  /** Said when it is another than was said before. */
  warn(ingress: SeenIngress, warnings: readonly string[]): void {
    const text = warnings.join("; ");
    const { uid } = ingress.metadata;
    if ((this.#warned.get(uid) ?? "") === text) return;
    if (text === "") this.#warned.delete(uid);
    else {
      this.#warned.set(uid, text);
      this.#parts.recorder.record(objectRef(ingresses, ingress), "Warning", "LoadBalancerWarning", text.slice(0, 1024));
    }
  }

  /** False when the Ingress has changed since it was seen: it is looked at again then. */
  async setFinalizer(ingress: SeenIngress, finalizer: string, isWanted: boolean, signal: AbortSignal): Promise<boolean> {
    const { finalizers } = ingress.view;
    if (finalizers.includes(finalizer) === isWanted) return true;
    const wanted = isWanted ? [...finalizers, finalizer] : finalizers.filter((each) => each !== finalizer);
    const { resourceVersion } = ingress.metadata;
    return this.#patch(ingress, { metadata: { resourceVersion, finalizers: wanted.length > 0 ? wanted : null } }, undefined, signal);
  }

  /** The address of the load balancer, with all ports of the group. Says nothing that is said already. */
  async publish(ingress: SeenIngress, hostname: string, ports: readonly number[], signal: AbortSignal): Promise<void> {
    const [only, ...more] = ingress.published;
    const isPublished = only?.hostname === hostname && only.ip === "" && more.length === 0 && samePorts(only.ports, ports);
    if (isPublished) return;
    const entry = { hostname, ports: ports.map((port) => ({ port, protocol: "TCP" })) };
    await this.#patch(ingress, { status: { loadBalancer: { ingress: [entry] } } }, "status", signal);
  }

  /** A later look sees what an earlier one has missed, so one that is gone or changed is no failure. */
  async #patch(ingress: SeenIngress, merge: object, subresource: "status" | undefined, signal: AbortSignal): Promise<boolean> {
    const { namespace, name, uid } = ingress.metadata;
    try {
      await this.#parts.kube.patch(ingresses, { namespace, name, ...(subresource && { subresource }) }, { merge, uid }, { signal });
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (isApiError(error, "not-found", "conflict")) return false;
      throw error;
    }
  }
}

const samePorts = (a: readonly number[], b: readonly number[]) => a.toSorted((x, y) => x - y).join() === b.toSorted((x, y) => x - y).join();
