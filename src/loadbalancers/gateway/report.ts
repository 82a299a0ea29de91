/** What users see of Gateways: finalizers, status and Events, on the Gateways, their ListenerSets and their routes. */
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { Frozen, KubeObject, Resource } from "../../kube/resource.ts";
import type { ReportParts } from "../controller-report.ts";
import { gateways, listenerSets, routes } from "./api.ts";
import { refToApi } from "./route-status.ts";
import { isSameStatus } from "./same-status.ts";
import {
  checkpointAnnotation,
  type GatewayState,
  type ListenerSetState,
  planAnnotation,
  type RouteState,
  sentSecretsAnnotation,
} from "./states.ts";
import type { GatewayStatus, ListenerStatus } from "./status.ts";
import { VersionedReport } from "./versioned-report.ts";
import type { Condition, ParentStatus } from "./view.ts";

export type SeenGateway = Frozen<GatewayState>;
export type SeenRoute = Frozen<RouteState>;
export type SeenSet = Frozen<ListenerSetState>;

/** What came of saying something: there was nothing new to say, it is said, or the object has changed since it was seen. */
export type Telling = "nothing" | "told" | "stale";

export class Report extends VersionedReport<SeenGateway> {
  readonly #kube: KubeClient;

  constructor(parts: ReportParts) {
    super(gateways, parts, {
      FailedAddFinalizer: "Failed add gateway finalizer due to ",
      FailedRemoveFinalizer: "Failed remove gateway finalizer due to ",
    });
    this.#kube = parts.kube;
  }

  /** Says nothing that is said already. */
  async publish(gateway: SeenGateway, status: Partial<GatewayStatus>, signal: AbortSignal): Promise<Telling> {
    const before = gateway.status as Readonly<Record<string, unknown>>;
    const changed = Object.entries(status).filter(([field, value]) => !isSameStatus(before[field], value));
    if (changed.length === 0) return "nothing";
    return (await this.patch(gateway, { status: Object.fromEntries(changed) }, "status", signal)) ? "told" : "stale";
  }

  /** Annotations that a dry run and add-ons write; null takes one away. False: the Gateway has changed since it was seen. */
  async annotate(gateway: SeenGateway, annotations: Readonly<Record<string, string | null>>, signal: AbortSignal): Promise<boolean> {
    if (Object.keys(annotations).length === 0) return true;
    return this.patch(gateway, { metadata: { annotations } }, undefined, signal);
  }

  recordCheckpoint(gateway: SeenGateway, checkpoint: string, signal: AbortSignal): Promise<boolean> {
    return this.annotate(gateway, { [checkpointAnnotation]: checkpoint || null }, signal);
  }

  /** Which Secrets AWS has: whoever comes later sees whether one was changed meanwhile. */
  async recordSecrets(gateway: SeenGateway, digests: Readonly<Record<string, string>>, signal: AbortSignal): Promise<boolean> {
    const text = (pairs: Readonly<Record<string, string>>) =>
      Object.entries(pairs)
        .map((pair) => pair.join("="))
        .toSorted()
        .join();
    const wanted = text(digests);
    return wanted === text(gateway.sentSecrets) || this.annotate(gateway, { [sentSecretsAnnotation]: wanted || null }, signal);
  }

  /** What a dry run would make; empty: nothing is written on the Gateway. */
  async recordPlan(gateway: SeenGateway, plan: string, signal: AbortSignal): Promise<boolean> {
    return gateway.plan === plan || this.annotate(gateway, { [planAnnotation]: plan || null }, signal);
  }

  /**
   * Several Gateways write to the list of one route's parents, so it is replaced only as it was seen. False: it has changed since,
   * and has to be looked at again.
   */
  async tellRoute(route: SeenRoute, parents: readonly ParentStatus[], signal: AbortSignal): Promise<boolean> {
    if (isSameStatus(route.parents, parents)) return true;
    const told = parents.map(({ parentRef, controllerName, conditions }) => ({
      parentRef: refToApi(parentRef),
      controllerName,
      conditions,
    }));
    return this.#status(routes[route.view.kind], route, { parents: told }, signal);
  }

  async tellSet(
    set: SeenSet,
    status: { readonly conditions: readonly Condition[]; readonly listeners: readonly ListenerStatus[] },
    signal: AbortSignal,
  ): Promise<boolean> {
    if (isSameStatus(set.conditions, status.conditions) && isSameStatus(set.listeners, status.listeners)) return true;
    return this.#status(listenerSets, set, status, signal);
  }

  async #status(
    of: Resource<KubeObject>,
    { metadata: { namespace, name, uid, resourceVersion } }: SeenRoute | SeenSet,
    status: object,
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      await this.#kube.patch(
        of,
        { namespace, name, subresource: "status" },
        { merge: { metadata: { resourceVersion }, status }, uid },
        { signal },
      );
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (isApiError(error, "not-found")) return true;
      if (isApiError(error, "conflict")) return false;
      throw error;
    }
  }
}
