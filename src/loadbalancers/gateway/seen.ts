/** The objects that Gateways follow from, as informers keep them. Made when the API server serves their kinds. */
import type { KubeClient } from "../../kube/client.ts";
import { type Informer, informer } from "../../kube/informer.ts";
import type { KubeObject, Resource, Stored } from "../../kube/resource.ts";
import type { Identified } from "../../kube/store.ts";
import type { Services } from "../service-state.ts";
import {
  gatewayClasses,
  gateways,
  listenerRuleConfigurations,
  listenerSets,
  loadBalancerConfigurations,
  referenceGrants,
  routes,
  targetGroupConfigurations,
} from "./api.ts";
import type { ListenerRuleSettings, LoadBalancerSettings, TargetGroupConfiguration } from "./config.ts";
import type { Flavour } from "./flavours.ts";
import {
  type ClassState,
  type ConfigurationState,
  classState,
  configurationState,
  type GatewayState,
  gatewayState,
  grantState,
  type ListenerSetState,
  listenerSetState,
  type RouteState,
  routeState,
  type State,
} from "./states.ts";
import type { GrantView, RouteKind } from "./view.ts";

/** A namespace, whichever informer keeps it. */
export interface NamespaceState {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly labels: Readonly<Record<string, string>>;
}

/** An informer by its key, as the process shares it. */
export type Shared = <V extends Identified>(key: { readonly name: string; make(client: KubeClient): Informer<V> }) => Informer<V>;

export type GatewayKeys = ReturnType<typeof gatewayKeys>;

/**
 * Keys of the informers, of one namespace or of all where it is empty. To be called once per process: every call gives keys of its
 * own.
 */
export function gatewayKeys(namespace: string) {
  const key = <T extends KubeObject, V extends Identified>(of: Resource<T>, project: (object: Stored<T>) => V) => ({
    name: of.plural,
    make: (client: KubeClient): Informer<V> => informer({ client, of, ...(namespace !== "" && of.namespaced && { namespace }), project }),
  });
  const routeKey = (kind: RouteKind) => key(routes[kind], (object) => routeState(kind, object));
  return {
    gateways: key(gateways, gatewayState),
    classes: key(gatewayClasses, classState),
    sets: key(listenerSets, listenerSetState),
    grants: key(referenceGrants, grantState),
    loadBalancers: key(loadBalancerConfigurations, configurationState<LoadBalancerSettings>),
    targetGroups: key(targetGroupConfigurations, configurationState<TargetGroupConfiguration>),
    rules: key(listenerRuleConfigurations, configurationState<ListenerRuleSettings>),
    routes: {
      HTTPRoute: routeKey("HTTPRoute"),
      GRPCRoute: routeKey("GRPCRoute"),
      TLSRoute: routeKey("TLSRoute"),
      TCPRoute: routeKey("TCPRoute"),
      UDPRoute: routeKey("UDPRoute"),
    },
  };
}

/** As much of an informer as those read who only look. */
export type Readable<V extends Identified> = Pick<Informer<V>, "get" | "list">;

/** The objects of one kind of Gateway, followed or listed once. */
export interface Objects {
  readonly gateways: Readable<GatewayState>;
  readonly classes: Readable<ClassState>;
  /** Absent where the API server does not serve them, or a gate is closed. */
  readonly sets?: Readable<ListenerSetState>;
  readonly grants: Readable<State<GrantView>>;
  readonly loadBalancers: Readable<ConfigurationState<LoadBalancerSettings>>;
  readonly targetGroups: Readable<ConfigurationState<TargetGroupConfiguration>>;
  readonly rules: Readable<ConfigurationState<ListenerRuleSettings>>;
  readonly routes: readonly Readable<RouteState>[];
  readonly namespaces: Readable<NamespaceState>;
  readonly services: Pick<Services, "get" | "list">;
}

/** The informers of one kind of Gateway. */
export interface Stores {
  readonly gateways: Informer<GatewayState>;
  readonly classes: Informer<ClassState>;
  readonly grants: Informer<State<GrantView>>;
  readonly loadBalancers: Informer<ConfigurationState<LoadBalancerSettings>>;
  readonly targetGroups: Informer<ConfigurationState<TargetGroupConfiguration>>;
  readonly rules: Informer<ConfigurationState<ListenerRuleSettings>>;
  readonly routes: readonly Informer<RouteState>[];
}

export function storesOf(keys: GatewayKeys, shared: Shared, { routeKinds }: Pick<Flavour, "routeKinds">): Stores {
  return {
    gateways: shared(keys.gateways),
    classes: shared(keys.classes),
    grants: shared(keys.grants),
    loadBalancers: shared(keys.loadBalancers),
    targetGroups: shared(keys.targetGroups),
    rules: shared(keys.rules),
    routes: routeKinds.map((kind) => shared(keys.routes[kind])),
  };
}

/** Resolves when everything that existed at the start is known. */
export async function allSynced({ routes: some, ...stores }: Stores): Promise<void> {
  await Promise.all([...Object.values(stores), ...some].map(({ synced }) => synced));
}
