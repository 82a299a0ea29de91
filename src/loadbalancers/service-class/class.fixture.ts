/** A Service and its surroundings, for tests of what it asks for. */

import { desireService, type ServiceDesire } from "./desire.ts";
import type { ServiceSources } from "./draft.ts";
import { groupFixture, networkFixture } from "./network.fixture.ts";
import { type ClassGates, type ClassSettings, defaultSettings } from "./settings.ts";
import type { ServicePortView, ServiceView } from "./view.ts";

export const prefix = "service.beta.kubernetes.io/";

export const uid = "6f1e0c5a-4b7d-4c39-9d0a-2f6a8f2c1b11";

export const port = (number: number, more: Partial<ServicePortView> = {}): ServicePortView => ({
  name: "",
  protocol: "TCP",
  port: number,
  targetPort: 8080,
  nodePort: 31234,
  ...more,
});

export interface Wish extends Partial<Omit<ServiceView, "annotations">> {
  /** Names are those after `aws-load-balancer-`; `/name` leaves that out. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly settings?: Partial<Omit<ClassSettings, "gates">>;
  readonly gates?: Partial<ClassGates>;
  readonly around?: Partial<ServiceSources>;
}

export const service = ({ annotations = {}, settings: _s, gates: _g, around: _a, ...view }: Wish = {}): ServiceView => ({
  namespace: "shop",
  name: "web-frontend",
  uid,
  annotations: Object.fromEntries(
    Object.entries(annotations).map(([name, value]) => [
      name.startsWith("/") ? prefix + name.slice(1) : `${prefix}aws-load-balancer-${name}`,
      value,
    ]),
  ),
  type: "LoadBalancer",
  loadBalancerClass: "service.k8s.aws/nlb",
  isDeleted: false,
  ports: [port(80)],
  ipFamilies: ["IPv4"],
  sourceRanges: [],
  local: false,
  healthCheckNodePort: 0,
  allocatesNodePorts: true,
  ...view,
});

export function desire(wish: Wish = {}): ServiceDesire {
  const { settings = {}, gates = {}, around = {} } = wish;
  return desireService(service(wish), {
    settings: { ...defaultSettings, cluster: "prod-eu", vpc: "vpc-1", ...settings, gates: { ...defaultSettings.gates, ...gates } },
    network: networkFixture,
    groups: groupFixture,
    backendGroup: "sg-backend",
    vpcCidrs: ["10.0.0.0/16", "2001:db8::/56"],
    targetGroups: [],
    takenNames: [],
    service: () => undefined,
    isForeignTag: () => false,
    ...around,
  });
}
