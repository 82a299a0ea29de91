/** Ingresses, their classes and the Services behind them, as much of them as is read here. */
import type * as state from "../service-state.ts";
import type { LabelSelector } from "../targets/binding.ts";
import type { PortRef } from "./routing-json.ts";

export interface BackendView {
  /** Undefined: the backend is no Service. */
  readonly service?: { readonly name: string; readonly port: PortRef };
}

export interface PathView {
  readonly path: string;
  readonly pathType: string;
  readonly backend: BackendView;
}

export interface IngressView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  readonly isDeleted: boolean;
  readonly className?: string;
  readonly defaultBackend?: BackendView;
  readonly rules: readonly { readonly host: string; readonly paths: readonly PathView[] }[];
  readonly tlsHosts: readonly string[];
}

/** `namespace/name` */
export const keyOf = ({ namespace, name }: Pick<IngressView, "namespace" | "name">) => `${namespace}/${name}`;

export interface ClassView {
  readonly name: string;
  readonly controller: string;
  readonly isDefault: boolean;
  readonly parameters?: { readonly apiGroup?: string; readonly kind: string; readonly name: string };
}

export interface KeyValue {
  readonly key: string;
  readonly value: string;
}

/** The spec of an IngressClassParams. */
export interface ClassParams {
  readonly name: string;
  readonly loadBalancerName?: string;
  readonly certificateArn?: readonly string[];
  readonly namespaceSelector?: LabelSelector;
  readonly group?: { readonly name: string };
  readonly scheme?: "internal" | "internet-facing";
  readonly inboundCIDRs?: readonly string[];
  readonly sslPolicy?: string;
  readonly sslRedirectPort?: string;
  readonly subnets?: { readonly ids?: readonly string[]; readonly tags?: Readonly<Record<string, readonly string[]>> };
  readonly ipAddressType?: "ipv4" | "dualstack" | "dualstack-without-public-ipv4";
  readonly tags?: readonly KeyValue[];
  readonly targetType?: "instance" | "ip";
  readonly loadBalancerAttributes?: readonly KeyValue[];
  readonly listeners?: readonly { readonly protocol?: string; readonly port?: number; readonly listenerAttributes?: readonly KeyValue[] }[];
  readonly minimumLoadBalancerCapacity?: { readonly capacityUnits: number };
  readonly ipamConfiguration?: { readonly ipv4IPAMPoolId?: string };
  readonly prefixListsIDs?: readonly string[];
  readonly wafv2AclArn?: string;
  readonly wafv2AclName?: string;
}

export type ServicePortView = Omit<state.ServicePortView, "protocol">;

/** A Service behind an Ingress. */
export interface ServiceView extends Pick<state.ServiceView, "namespace" | "name" | "uid" | "annotations" | "type" | "ipFamilies"> {
  readonly ports: readonly ServicePortView[];
}

/** Whether two states of an Ingress ask for the same. Its finalizers are ours, and its status too. */
export function sameWish({ finalizers: _a, ...before }: IngressView, { finalizers: _b, ...after }: IngressView): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}
