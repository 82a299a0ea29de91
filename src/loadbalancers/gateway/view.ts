/** Gateways, their listeners and their routes, as much of them as is read here. */
import type { LabelSelector } from "../targets/binding.ts";

export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/** `namespace/name` */
export const keyOf = ({ namespace, name }: ObjectName) => `${namespace}/${name}`;

export interface Identity extends ObjectName {
  readonly uid: string;
  readonly generation: number;
  /** RFC 3339, to the second; empty where nobody says. */
  readonly createdAt: string;
}

/** A condition of the API, as it is stored. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime?: string;
}

export type RouteKind = "HTTPRoute" | "GRPCRoute" | "TLSRoute" | "TCPRoute" | "UDPRoute";
export type Protocol = "HTTP" | "HTTPS" | "TLS" | "TCP" | "UDP";

/** Whence routes, or ListenerSets, may attach. */
export interface AllowedNamespaces {
  readonly from: string;
  readonly selector?: LabelSelector;
}

export interface ListenerView {
  readonly name: string;
  readonly port: number;
  /** Any text: whether it is served is said in its status. */
  readonly protocol: string;
  /** Empty: all. */
  readonly hostname: string;
  readonly namespaces: AllowedNamespaces;
  /** Empty: those of its protocol. */
  readonly kinds: readonly string[];
  readonly isPassthrough: boolean;
}

export interface ParametersRef {
  readonly group: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

export interface GatewayView extends Identity {
  readonly className: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  readonly isDeleted: boolean;
  readonly listeners: readonly ListenerView[];
  readonly allowedListeners: AllowedNamespaces;
  readonly parametersRef?: ParametersRef;
  /** What bindings are labelled and annotated with. */
  readonly infrastructure: {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
}

export interface ClassView {
  readonly name: string;
  readonly generation: number;
  readonly controllerName: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  readonly isDeleted: boolean;
  readonly parametersRef?: ParametersRef;
  readonly conditions: readonly Condition[];
}

export interface ListenerSetView extends Identity {
  readonly isDeleted: boolean;
  readonly parent: { readonly kind: string; readonly namespace: string; readonly name: string };
  readonly listeners: readonly ListenerView[];
}

export interface ParentRef {
  readonly group: string;
  readonly kind: string;
  /** Empty: the route's own. */
  readonly namespace: string;
  readonly name: string;
  readonly sectionName: string;
  /** 0: any. */
  readonly port: number;
}

export interface ValueMatch {
  /** `Exact` or `RegularExpression` */
  readonly type: string;
  readonly name: string;
  readonly value: string;
}

/** What a rule of a route matches. Of a route that matches everything there is none. */
export type RouteMatch =
  | {
      readonly of: "http";
      /** `Exact`, `PathPrefix` or `RegularExpression` */
      readonly path?: { readonly type: string; readonly value: string };
      readonly headers: readonly ValueMatch[];
      readonly queries: readonly ValueMatch[];
      /** Empty: any. */
      readonly method: string;
    }
  | {
      readonly of: "grpc";
      readonly call?: { readonly type: string; readonly service: string; readonly method: string };
      readonly headers: readonly ValueMatch[];
    };

export interface PathChange {
  readonly type: "ReplaceFullPath" | "ReplacePrefixMatch";
  readonly value: string;
}

export type RouteFilter =
  | {
      readonly type: "RequestRedirect";
      readonly scheme?: string;
      readonly hostname?: string;
      readonly port?: number;
      readonly path?: PathChange;
      readonly statusCode: number;
    }
  | { readonly type: "URLRewrite"; readonly hostname?: string; readonly path?: PathChange }
  | { readonly type: "ExtensionRef"; readonly group: string; readonly kind: string; readonly name: string }
  /** One that no load balancer has: `what` is its name in the API. */
  | { readonly type: "unsupported"; readonly what: string };

export interface BackendRef {
  readonly group: string;
  readonly kind: string;
  /** Empty: the route's own. */
  readonly namespace: string;
  readonly name: string;
  readonly port?: number;
  readonly weight: number;
}

export interface RouteRule {
  readonly matches: readonly RouteMatch[];
  readonly filters: readonly RouteFilter[];
  readonly backends: readonly BackendRef[];
}

/** What a controller says of a route's attachment to one parent. */
export interface ParentStatus {
  readonly parentRef: ParentRef;
  readonly controllerName: string;
  readonly conditions: readonly Condition[];
}

export interface RouteView extends Identity {
  readonly kind: RouteKind;
  readonly isDeleted: boolean;
  readonly hostnames: readonly string[];
  readonly parentRefs: readonly ParentRef[];
  readonly rules: readonly RouteRule[];
}

/** A ReferenceGrant: who may refer to what in its namespace. */
export interface GrantView extends ObjectName {
  readonly from: readonly { readonly group: string; readonly kind: string; readonly namespace: string }[];
  readonly to: readonly { readonly group: string; readonly kind: string; readonly name?: string }[];
}

export const routeKeyOf = ({ kind, namespace, name }: Pick<RouteView, "kind" | "namespace" | "name">) => `${kind} ${namespace}/${name}`;
