/** What users of the load balancer controller see on their objects, whatever these are: finalizers and Events. */
import type { EventRecorder } from "../identity/event-reasons.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import { objectRef } from "../kube/event-recorder.ts";
import type { KubeObject, Resource } from "../kube/resource.ts";

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
  FailedCleanupStatus: "Failed update status due to ",
  FailedRemoveFinalizer: "Failed remove finalizer due to ",
  FailedLoadGroupID: "failed load groupID due to ",
} as const;

export type FailureReason = keyof typeof texts;

/** As much of an object as is read here. */
export interface Reported {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly view: { readonly finalizers: readonly string[] };
}

export class ControllerReport<Of extends Reported> {
  readonly #parts: ReportParts;
  readonly #resource: Resource<KubeObject>;
  readonly #texts: Readonly<Record<FailureReason, string>>;
  /** By UID. */
  readonly #warned = new Map<string, string>();

  constructor(resource: Resource<KubeObject>, parts: ReportParts, own: Partial<Record<FailureReason, string>> = {}) {
    this.#resource = resource;
    this.#parts = parts;
    this.#texts = { ...texts, ...own };
  }

  reconciled(object: Of): void {
    this.#parts.recorder.record(objectRef(this.#resource, object), "Normal", "SuccessfullyReconciled", "Successfully reconciled");
  }

  failed(object: Of, reason: FailureReason, cause: string): void {
    this.#parts.recorder.record(objectRef(this.#resource, object), "Warning", reason, this.#texts[reason] + cause, reason);
  }

  protected event(object: Of, type: "Normal" | "Warning", reason: "LoadBalancerReplacement", message: string): void {
    this.#parts.recorder.record(objectRef(this.#resource, object), type, reason, message);
  }

  /** Said when it is another than was said before. */
  warn(object: Of, warnings: readonly string[]): void {
    const text = warnings.join("; ");
    const { uid } = object.metadata;
    if ((this.#warned.get(uid) ?? "") === text) return;
    if (text === "") this.#warned.delete(uid);
    else {
      this.#warned.set(uid, text);
      this.#parts.recorder.record(objectRef(this.#resource, object), "Warning", "LoadBalancerWarning", text.slice(0, 1024));
    }
  }

  /** False when the object has changed since it was seen: it is looked at again then. */
  async setFinalizer(object: Of, finalizer: string, isWanted: boolean, signal: AbortSignal): Promise<boolean> {
    const { finalizers } = object.view;
    if (finalizers.includes(finalizer) === isWanted) return true;
    const wanted = isWanted ? [...finalizers, finalizer] : finalizers.filter((each) => each !== finalizer);
    const { resourceVersion } = object.metadata;
    return this.patch(object, { metadata: { resourceVersion, finalizers: wanted.length > 0 ? wanted : null } }, undefined, signal);
  }

  /** A later look sees what an earlier one has missed, so one that is gone or changed is no failure. */
  protected async patch(object: Of, merge: object, subresource: "status" | undefined, signal: AbortSignal): Promise<boolean> {
    const { namespace, name, uid } = object.metadata;
    try {
      await this.#parts.kube.patch(this.#resource, { namespace, name, ...(subresource && { subresource }) }, { merge, uid }, { signal });
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (isApiError(error, "not-found", "conflict")) return false;
      throw error;
    }
  }
}
