/** Wishes for tests: a plain Service with one port, and whatever the test says about it. */

import type { Kind } from "./kinds.ts";
import { readOptions } from "./options.ts";
import type { LoadBalancerSettings, ServicePort, ServiceView } from "./view.ts";
import type { Wish } from "./wish.ts";

export const port = (number: number, nodePort: number, rest: Partial<ServicePort> = {}): ServicePort => ({
  name: "",
  protocol: "TCP",
  port: number,
  nodePort,
  ...rest,
});

export interface WishOptions {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly service?: Partial<ServiceView>;
  readonly settings?: Partial<LoadBalancerSettings>;
  readonly subnets?: readonly string[];
  readonly dualStack?: boolean;
  readonly instances?: readonly string[];
  readonly sourceRanges?: readonly string[];
}

/** Annotations are given by the part of their key that differs. */
export function wish(kind: Kind, { annotations = {}, service = {}, settings = {}, ...rest }: WishOptions = {}): Wish {
  const full = Object.fromEntries(
    Object.entries(annotations).map(([name, value]) => [`service.beta.kubernetes.io/aws-load-balancer-${name}`, value]),
  );
  const view: ServiceView = {
    namespace: "prod-web",
    name: "edge-gateway",
    uid: "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",
    annotations: full,
    ports: [port(443, 31443)],
    sourceRanges: [],
    sessionAffinity: "None",
    loadBalancerIP: "",
    local: false,
    healthCheckNodePort: 0,
    ipFamilies: ["IPv4"],
    hostname: "",
    ...service,
  };
  return {
    name: "a0f1e2d3c4b5a69788796a5b4c3d2e1f",
    service: view,
    options: readOptions(full, kind).options,
    settings: { clusterName: "kubernetes", clusterId: "demo", disableNodeIngress: false, managedNetworkGroups: false, ...settings },
    ports: view.ports,
    subnets: ["subnet-a", "subnet-b"],
    dualStack: false,
    instances: ["i-2", "i-1"],
    sourceRanges: ["0.0.0.0/0"],
    tags: { "kubernetes.io/service-name": "prod-web/edge-gateway", "kubernetes.io/cluster/demo": "owned" },
    groupTags: { "kubernetes.io/cluster/demo": "owned" },
    ownership: { "kubernetes.io/cluster/demo": "owned" },
    ...rest,
  };
}
