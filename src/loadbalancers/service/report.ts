/** What the user sees of a Service's load balancer: finalizer, status, condition, Events. */

import type { EventRecorder } from "../../identity/event-reasons.ts";
import { services } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import { objectRef } from "../../kube/event-recorder.ts";
import { redact } from "../../runtime/redact.ts";
import type { Clock } from "../../runtime/world.ts";
import { type SeenService, type ServiceCondition, serviceState } from "../service-state.ts";
import { cleanupFinalizer, hasFinalizer, otherServer } from "./seen.ts";

/** The reasons users and their alerts know, with the texts that never change. */
const events = {
  EnsuringLoadBalancer: ["Normal", "Ensuring load balancer"],
  EnsuredLoadBalancer: ["Normal", "Ensured load balancer"],
  UnAvailableLoadBalancer: ["Warning", "There are no available nodes for LoadBalancer"],
  DeletingLoadBalancer: ["Normal", "Deleting load balancer"],
  DeletedLoadBalancer: ["Normal", "Deleted load balancer"],
  UpdatedLoadBalancer: ["Normal", "Updated load balancer with new hosts"],
} as const;

/** Those whose text says more. */
export type TellingReason =
  | "SyncLoadBalancerFailed"
  | "DeleteLoadBalancerFailed"
  | "UpdateLoadBalancerFailed"
  | "LoadBalancerWarning"
  | "LoadBalancerRemovalWaits"
  | "LoadBalancerReplacement"
  | "LoadBalancerPlan";

/** What is wrong, or worth knowing, about what the Service asks for; there only while something is. */
export const configurationCondition = "LoadBalancerConfigured";
/** Why the load balancer could not be brought to its wanted state; there only while that is so. */
export const syncedCondition = "LoadBalancerSynced";
/** What a removal waits for that has not ended after a while; there only while it waits. */
export const removedCondition = "LoadBalancerRemoved";
/** When the address of a load balancer of another kind was published: the old one is kept for a while from then on. */
export const replacedCondition = "LoadBalancerReplaced";
/** The names of the user's choice under which load balancers were made: they are found by them when the annotation is gone. */
export const namedCondition = "LoadBalancerNamed";

/** Published where there are target groups and no load balancer, so that nobody waits for an address for ever. */
export const noHostname = "none";

/** The names that were written down with a Service. */
export function namesIn(conditions: readonly ServiceCondition[]): readonly string[] {
  return conditions.find(({ type }) => type === namedCondition)?.message.split(", ") ?? [];
}

/** What a condition says. */
export interface WantedCondition {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

/** The Service is no longer as it was when the work on it began. */
export class Superseded extends Error {
  override readonly name = "Superseded";
  constructor() {
    super("the Service has changed in the meantime");
  }
}

export interface ReportParts {
  readonly kube: KubeClient;
  /** The same Service as it was seen last. */
  latest(service: SeenService): SeenService | undefined;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
}

export class Report {
  readonly #parts: ReportParts;

  constructor(parts: ReportParts) {
    this.#parts = parts;
  }

  event(service: Pick<SeenService, "metadata">, reason: keyof typeof events): void {
    const [type, message] = events[reason];
    this.#parts.recorder.record(objectRef(services, service), type, reason, message);
  }

  /** `same` is what does not differ when it is said again: then it counts on one Event, which has the latest text. */
  tell(service: Pick<SeenService, "metadata">, type: "Normal" | "Warning", reason: TellingReason, message: string, same?: string): void {
    this.#parts.recorder.record(objectRef(services, service), type, reason, message, same);
  }

  /** Before the first call to AWS. False when there is no such Service any more, or another of its name. */
  async addFinalizer(service: SeenService, signal: AbortSignal): Promise<boolean> {
    if (hasFinalizer(service)) return true;
    const metadata = finalizersAdded(service.metadata.finalizers);
    return this.#patchAsSeen(service, { metadata }, signal, "failed to add load balancer cleanup finalizer");
  }

  /** After everything it guards is gone. False when the Service has changed since: it may want a load balancer again. */
  async removeFinalizer(service: SeenService, signal: AbortSignal): Promise<boolean> {
    if (!hasFinalizer(service)) return true;
    const { finalizers, resourceVersion } = service.metadata;
    const metadata = { resourceVersion, ...finalizersRemoved(finalizers.filter((name) => name !== cleanupFinalizer)) };
    return this.#patchAsSeen(service, { metadata }, signal, "failed to remove load balancer cleanup finalizer");
  }

  /**
   * Publishes the host name, or none; says nothing that is said already. Work on a load balancer takes its time: whoever
   * has become responsible for the Service meanwhile may have published another address, which is not ours to replace.
   */
  async publish(service: SeenService, hostname: string | undefined, signal: AbortSignal): Promise<void> {
    const same = hostname === undefined ? service.published.length === 0 : service.hostname === hostname;
    if (same) return;
    const address = hostname === noHostname ? { ip: "0.0.0.0", hostname } : { hostname };
    const ingress = hostname === undefined ? null : [address];
    const known = this.#parts.latest(service);
    for (let latest = known ?? (await this.#read(service, signal)); latest; latest = await this.#read(service, signal)) {
      if (latest.metadata.uid !== service.metadata.uid) return;
      if (latest.hostname !== service.hostname || otherServer(latest) !== otherServer(service)) throw new Superseded();
      const { resourceVersion } = latest.metadata;
      const patch = { metadata: { resourceVersion }, status: { loadBalancer: { ingress } } };
      if (await this.#patchAsSeen(service, patch, signal, "failed to update load balancer status")) return;
    }
  }

  /** As it is at this moment: our own last change of it may be on its way to the informer still. */
  async #read({ metadata: { namespace, name } }: SeenService, signal: AbortSignal): Promise<SeenService | undefined> {
    const { items } = await this.#parts.kube.list(services, { namespace, fieldSelector: `metadata.name=${name}`, signal });
    return items.map(serviceState)[0];
  }

  /** Takes away an address of ours. False when the Service has changed since: the address may be another's by now. */
  withdraw(service: SeenService, signal: AbortSignal): Promise<boolean> {
    const { resourceVersion } = service.metadata;
    const patch = { metadata: { resourceVersion }, status: { loadBalancer: { ingress: null } } };
    return this.#patchAsSeen(service, patch, signal, "failed to update load balancer status");
  }

  /** Before a load balancer is made under a name that nothing else would lead to. False when the Service has changed since. */
  async writeDownName(service: SeenService, name: string, signal: AbortSignal): Promise<boolean> {
    const names = namesIn(service.conditions);
    if (names.includes(name)) return true;
    const message = [...names, name].join(", ");
    const wanted = { type: namedCondition, status: "True", reason: "NameChosen", message, lastTransitionTime: this.#now() };
    const { resourceVersion } = service.metadata;
    const patch = { metadata: { resourceVersion }, status: { conditions: [wanted] } };
    return this.#patchAsSeen(service, patch, signal, "failed to record the name of the load balancer");
  }

  /** Takes away all conditions of ours. */
  async clear(service: SeenService, signal: AbortSignal): Promise<void> {
    const types = [configurationCondition, syncedCondition, removedCondition, replacedCondition, namedCondition];
    for (const type of types) await this.condition(service, type, undefined, signal);
  }

  /** Takes a condition away that was written a moment ago, and may not be seen yet. */
  withdrawCondition(service: SeenService, type: string, signal: AbortSignal): Promise<void> {
    return this.#conditions(service, [{ $patch: "delete", type }], signal);
  }

  /** Sets a condition, or takes it away. */
  async condition(service: SeenService, type: string, wanted: WantedCondition | undefined, signal: AbortSignal): Promise<void> {
    const present = service.conditions.find((condition) => condition.type === type);
    if (wanted === undefined) {
      if (present) await this.#conditions(service, [{ $patch: "delete", type }], signal);
      return;
    }
    const message = redact(wanted.message).slice(0, 1024);
    if (present?.status === wanted.status && present.reason === wanted.reason && present.message === message) return;
    const lastTransitionTime = present?.status === wanted.status ? present.lastTransitionTime : this.#now();
    await this.#conditions(service, [{ type, ...wanted, message, lastTransitionTime } satisfies ServiceCondition], signal);
  }

  /** Sets a condition that counts from now on, also where it was set before: it is about something else now. */
  conditionFromNow(service: SeenService, type: string, wanted: WantedCondition, signal: AbortSignal): Promise<void> {
    return this.#conditions(service, [{ type, ...wanted, lastTransitionTime: this.#now() } satisfies ServiceCondition], signal);
  }

  /** The API keeps whole seconds. */
  #now(): string {
    return new Date(this.#parts.clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
  }

  #conditions(service: SeenService, conditions: readonly object[], signal: AbortSignal): Promise<void> {
    return this.#patch(service, { status: { conditions } }, signal, "failed to update load balancer status");
  }

  /** A Service that is gone needs no status: that is how a deletion ends. */
  async #patch(service: SeenService, strategic: object, signal: AbortSignal, failed: string): Promise<void> {
    await this.#patchUnless(["not-found"], service, strategic, signal, failed);
  }

  /** Only of the Service that was seen; false when there is none such. */
  #patchAsSeen(service: SeenService, strategic: object, signal: AbortSignal, failed: string): Promise<boolean> {
    return this.#patchUnless(["not-found", "conflict"], service, strategic, signal, failed);
  }

  async #patchUnless(
    kinds: readonly ("not-found" | "conflict")[],
    { metadata }: SeenService,
    strategic: object,
    signal: AbortSignal,
    failed: string,
  ): Promise<boolean> {
    const { namespace, name, uid } = metadata;
    try {
      await this.#parts.kube.patch(services, { namespace, name, subresource: "status" }, { strategic, uid }, { signal });
      return true;
    } catch (cause) {
      signal.throwIfAborted();
      if (isApiError(cause, ...kinds)) return false;
      throw new Error(`${failed}: ${(cause as Error).message}`, { cause });
    }
  }
}

function finalizersAdded(present: readonly string[]): object {
  if (present.length === 0) return { finalizers: [cleanupFinalizer] };
  return { "$setElementOrder/finalizers": [...present, cleanupFinalizer], finalizers: [cleanupFinalizer] };
}

function finalizersRemoved(rest: readonly string[]): object {
  if (rest.length === 0) return { finalizers: null };
  return { "$deleteFromPrimitiveList/finalizers": [cleanupFinalizer], "$setElementOrder/finalizers": rest };
}
