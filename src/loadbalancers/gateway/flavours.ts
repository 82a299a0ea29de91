/** The two kinds of Gateway: what each serves, and by which names it is known. */
import { application } from "../application/kind.ts";
import type { LoadBalancerKind } from "../kind.ts";
import { boundNetwork } from "../network/bound-kind.ts";
import type { Protocol, RouteKind } from "./view.ts";

export interface Flavour {
  readonly name: "alb" | "nlb";
  /** In GatewayClasses and in the status of routes; also the finalizer of Gateways. */
  readonly controllerName: string;
  /** Of tags and labels. */
  readonly prefix: string;
  readonly routeKinds: readonly RouteKind[];
  readonly protocols: readonly Protocol[];
  /** What may be enabled in front of the load balancer or for it, by the names of annotations. */
  readonly addOns: readonly AddOn[];
  readonly kind: LoadBalancerKind;
  /** Zones of a region in which it must stand. */
  readonly minSubnets: number;
}

export type AddOn = "wafv2" | "shield" | "provisionedcapacity";

export const flavours = {
  alb: {
    name: "alb",
    controllerName: "gateway.k8s.aws/alb",
    prefix: "gateway.k8s.aws.alb",
    routeKinds: ["HTTPRoute", "GRPCRoute"],
    protocols: ["HTTP", "HTTPS"],
    addOns: ["wafv2", "shield", "provisionedcapacity"],
    kind: application as LoadBalancerKind,
    minSubnets: 2,
  },
  nlb: {
    name: "nlb",
    controllerName: "gateway.k8s.aws/nlb",
    prefix: "gateway.k8s.aws.nlb",
    routeKinds: ["TCPRoute", "UDPRoute", "TLSRoute"],
    protocols: ["TCP", "UDP", "TLS"],
    addOns: ["provisionedcapacity"],
    kind: boundNetwork as LoadBalancerKind,
    minSubnets: 1,
  },
} as const satisfies Readonly<Record<string, Flavour>>;

/** The flavour of a GatewayClass; undefined where another controller serves it. */
export const flavourOf = (controllerName: string): Flavour | undefined =>
  Object.values(flavours).find((each) => each.controllerName === controllerName);

/** Routes that a listener takes where it does not say which. */
export const kindsByProtocol: Readonly<Record<string, readonly RouteKind[]>> = {
  TCP: ["TCPRoute"],
  UDP: ["UDPRoute"],
  TLS: ["TLSRoute", "TCPRoute"],
  HTTP: ["HTTPRoute"],
  HTTPS: ["HTTPRoute", "GRPCRoute"],
};
