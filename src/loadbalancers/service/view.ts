/** A Service as the load-balancer domain sees it: what it reads, and nothing else. */

export interface ServicePort {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  /** 0 when none is allocated. */
  readonly nodePort: number;
}

export interface ServiceView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly ports: readonly ServicePort[];
  readonly sourceRanges: readonly string[];
  readonly sessionAffinity: string;
  readonly loadBalancerIP: string;
  /** Only nodes that run a pod take traffic, and a port of its own tells which do. */
  readonly local: boolean;
  readonly healthCheckNodePort: number;
  readonly ipFamilies: readonly string[];
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
