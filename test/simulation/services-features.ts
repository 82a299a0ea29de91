/** Services with everything on, and edits that touch everything. */
import { certificate, type ServiceWish, type ServiceWorld, serviceWorld } from "../bed/service-world.ts";

export interface Scenario {
  readonly kind: "classic" | "network";
  world(seed?: number): Promise<ServiceWorld>;
  wish(world: ServiceWorld): ServiceWish;
  edit(world: ServiceWorld): Promise<void>;
}

const ports = [
  { name: "http", port: 80, nodePort: 31080 },
  { name: "https", port: 443, nodePort: 31443 },
];

export const classicWithAll: Scenario = {
  kind: "classic",
  world: (seed) => serviceWorld({ seed }),
  wish: (world) => ({
    annotations: {
      "ssl-cert": certificate,
      "ssl-ports": "https",
      "ssl-negotiation-policy": "ELBSecurityPolicy-TLS-1-2-2017-01",
      "backend-protocol": "tcp",
      "proxy-protocol": "*",
      "access-log-enabled": "true",
      "access-log-emit-interval": "5",
      "access-log-s3-bucket-name": "logs",
      "access-log-s3-bucket-prefix": "web",
      "connection-draining-enabled": "true",
      "connection-draining-timeout": "30",
      "connection-idle-timeout": "90",
      "cross-zone-load-balancing-enabled": "true",
      "extra-security-groups": world.network.nodeGroupId,
      "additional-resource-tags": "team=web",
      "healthcheck-healthy-threshold": "3",
      "healthcheck-interval": "20",
    },
    spec: { ports, externalTrafficPolicy: "Local", healthCheckNodePort: 32000, loadBalancerSourceRanges: ["10.0.0.0/8", "192.168.0.0/16"] },
  }),
  edit: (world) =>
    world.edit(
      "web",
      {
        "proxy-protocol": null,
        "cross-zone-load-balancing-enabled": "false",
        "connection-idle-timeout": null,
        "additional-resource-tags": "team=shop,stage=prod",
        "extra-security-groups": null,
        "healthcheck-interval": "30",
        subnets: world.network.publicSubnetIds.slice(0, 2).join(","),
      },
      {
        ports: [
          { name: "https", port: 443, nodePort: 31443 },
          { name: "alt", port: 8443, nodePort: 31844 },
        ],
        loadBalancerSourceRanges: ["10.0.0.0/8"],
      },
    ),
};

export const networkWithAll: Scenario = {
  kind: "network",
  world: (seed) => serviceWorld({ seed, config: "NLBSecurityGroupMode=Managed" }),
  wish: () => ({
    annotations: {
      type: "nlb",
      "ssl-cert": certificate,
      "ssl-ports": "443",
      "access-log-enabled": "true",
      "access-log-s3-bucket-name": "logs",
      "cross-zone-load-balancing-enabled": "true",
      "additional-resource-tags": "team=web",
      "target-group-attributes": "preserve_client_ip.enabled=true,proxy_protocol_v2.enabled=true",
      "healthcheck-healthy-threshold": "4",
    },
    spec: { ports, externalTrafficPolicy: "Local", healthCheckNodePort: 32000, loadBalancerSourceRanges: ["10.0.0.0/8", "192.168.0.0/16"] },
  }),
  edit: (world) =>
    world.edit(
      "web",
      {
        "ssl-ports": "8443",
        "healthcheck-protocol": "TCP",
        "healthcheck-port": "traffic-port",
        "cross-zone-load-balancing-enabled": "false",
        "target-group-attributes": "proxy_protocol_v2.enabled=false",
      },
      {
        ports: [
          { name: "https", port: 443, nodePort: 31443 },
          { name: "alt", port: 8443, nodePort: 31844 },
        ],
        loadBalancerSourceRanges: ["10.0.0.0/8"],
      },
    ),
};
