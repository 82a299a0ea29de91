/** A Service as the controller manager's load balancers follow from it. */
import type * as state from "../service-state.ts";

export type ServicePort = Omit<state.ServicePortView, "targetPort">;

type Read =
  | "namespace"
  | "name"
  | "uid"
  | "annotations"
  | "sourceRanges"
  | "sessionAffinity"
  | "loadBalancerIP"
  | "local"
  | "healthCheckNodePort"
  | "ipFamilies";

export interface ServiceView extends Pick<state.ServiceView, Read> {
  readonly ports: readonly ServicePort[];
  /** Host name in the status; empty when none is published. */
  readonly hostname: string;
}

/** What the cloud config says about load balancers. */
export interface LoadBalancerSettings {
  readonly clusterName: string;
  readonly clusterId: string;
  readonly elbSecurityGroup?: string;
  readonly disableNodeIngress: boolean;
  /** Whom nodes let in where a Service with a network load balancer is open to everybody. */
  readonly publicNetworkAllowList?: readonly string[];
  readonly managedNetworkGroups: boolean;
  readonly sharedProbe?: { readonly port: number; readonly path: string };
}
