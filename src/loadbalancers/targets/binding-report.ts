/** What a TargetGroupBinding shows of itself: finalizer, filled-in fields, checkpoint, status, Events. */
import type { EventRecorder } from "../../identity/event-reasons.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import { objectRef } from "../../kube/event-recorder.ts";
import { redact } from "../../runtime/redact.ts";
import type { Clock } from "../../runtime/world.ts";
import {
  type BindingCondition,
  type BindingSpec,
  bindingFinalizer,
  checkpointAnnotation,
  checkpointTimeAnnotation,
  hasBindingFinalizer,
  type SeenBinding,
  type TargetCounts,
  targetGroupBindings,
} from "./binding.ts";

export type BindingReason =
  | "SuccessfullyReconciled"
  | "BackendNotFound"
  | "FailedReconcile"
  | "FailedCleanup"
  | "FailedNetworkReconcile"
  | "TargetGroupBindingInvalid"
  | "TargetsLeftOut"
  | "DeregistrationDelayTooLong";

/** What a condition is to say. */
export interface ConditionWish {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

export type ConditionType = "Ready" | "NetworkingReady";

/** What is known after a look; what is left out stays as it is. */
export interface StatusWish {
  readonly conditions: Readonly<Partial<Record<ConditionType, ConditionWish | null>>>;
  readonly targets?: TargetCounts;
  /** Whether this generation is brought about. */
  readonly observed?: boolean;
}

export class BindingReport {
  readonly #kube: KubeClient;
  readonly #recorder: EventRecorder;
  readonly #clock: Clock;

  constructor(kube: KubeClient, recorder: EventRecorder, clock: Clock) {
    this.#kube = kube;
    this.#recorder = recorder;
    this.#clock = clock;
  }

  event(binding: SeenBinding, type: "Normal" | "Warning", reason: BindingReason, message: string, same?: string): void {
    this.#recorder.record(objectRef(targetGroupBindings, binding), type, reason, message, same);
  }

  /** Before the first call that changes anything. False when there is no such binding any more, or it has changed since. */
  addFinalizer(binding: SeenBinding, signal: AbortSignal): Promise<boolean> {
    const { finalizers, resourceVersion } = binding.metadata;
    if (hasBindingFinalizer(binding)) return Promise.resolve(true);
    return this.#patch(binding, { metadata: { resourceVersion, finalizers: [...finalizers, bindingFinalizer] } }, signal);
  }

  /** After everything it guards is gone. */
  removeFinalizer(binding: SeenBinding, signal: AbortSignal): Promise<boolean> {
    const { finalizers, resourceVersion } = binding.metadata;
    const rest = finalizers.filter((name) => name !== bindingFinalizer);
    return this.#patch(binding, { metadata: { resourceVersion, finalizers: rest.length > 0 ? rest : null } }, signal);
  }

  /** Writes down what the target group says and the binding does not. */
  complete(binding: SeenBinding, defaults: Partial<BindingSpec>, signal: AbortSignal): Promise<boolean> {
    return this.#patch(binding, { metadata: { resourceVersion: binding.metadata.resourceVersion }, spec: defaults }, signal);
  }

  /** Remembers in the object what was brought about, or that it is not known. */
  checkpoint(binding: SeenBinding, checkpoint: string, signal: AbortSignal): Promise<boolean> {
    const time = String(Math.floor(this.#clock.now() / 1000));
    const annotations = { [checkpointAnnotation]: checkpoint, [checkpointTimeAnnotation]: time };
    return this.#patch(binding, { metadata: { annotations } }, signal);
  }

  /** Says nothing that is said already. */
  async status(binding: SeenBinding, wish: StatusWish, signal: AbortSignal): Promise<void> {
    const { status, metadata } = binding;
    const present = status.conditions ?? [];
    const conditions = Object.entries(wish.conditions).reduce<readonly BindingCondition[]>(
      (all, [type, wanted]) => this.#withCondition(all, type, wanted, metadata.generation),
      present,
    );
    const changed = {
      ...(wish.observed && status.observedGeneration !== metadata.generation && { observedGeneration: metadata.generation }),
      ...(JSON.stringify(conditions) !== JSON.stringify(present) && { conditions }),
      ...(wish.targets && JSON.stringify(wish.targets) !== JSON.stringify(countsIn(status.targets)) && { targets: wish.targets }),
    };
    if (Object.keys(changed).length > 0) await this.#patch(binding, { status: changed }, signal, "status");
  }

  /** The API keeps whole seconds. */
  now(): string {
    return new Date(this.#clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
  }

  #withCondition(
    all: readonly BindingCondition[],
    type: string,
    wanted: ConditionWish | null | undefined,
    observedGeneration: number,
  ): readonly BindingCondition[] {
    const others = all.filter((condition) => condition.type !== type);
    if (wanted === undefined) return all;
    if (wanted === null) return others;
    const before = all.find((condition) => condition.type === type);
    const message = redact(wanted.message).slice(0, 1024);
    const same = before?.status === wanted.status && before.reason === wanted.reason && before.message === message;
    if (same && before.observedGeneration === observedGeneration) return all;
    const lastTransitionTime = before?.status === wanted.status ? before.lastTransitionTime : this.now();
    return [...others, { type, status: wanted.status, reason: wanted.reason, message, observedGeneration, lastTransitionTime }];
  }

  async #patch({ metadata }: SeenBinding, merge: object, signal: AbortSignal, subresource?: string): Promise<boolean> {
    const { namespace, name, uid } = metadata;
    try {
      await this.#kube.patch(targetGroupBindings, { namespace, name, ...(subresource && { subresource }) }, { merge, uid }, { signal });
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (isApiError(error, "not-found", "conflict")) return false;
      throw error;
    }
  }
}

const countsIn = (counts: TargetCounts | undefined) =>
  counts && { wanted: counts.wanted, registered: counts.registered, healthy: counts.healthy, draining: counts.draining };
