/** Gateways with a network load balancer. */
import type { Backend } from "../bed/gateway-world.ts";
import { type GatewayGiven, type GatewayWish, to } from "./gateway-table.ts";

const className = "nlb";
const terminated = { mode: "Terminate", certificateRefs: [{ name: "unread" }] };
const tcp = (...backends: readonly Backend[]) => ({ kind: "TCPRoute", rules: [to(...backends)] }) as const;
const udp = (...backends: readonly Backend[]) => ({ kind: "UDPRoute", rules: [to(...backends)] }) as const;

export function networkWishes(given: GatewayGiven): Readonly<Record<string, GatewayWish>> {
  const { namespace, far } = given;
  const [first, second] = given.certificates;
  return {
    "tcp-nodes": { className, listeners: ["TCP:80"], routes: { "tcp-nodes": tcp("node:80") } },
    "tcp-empty": { className, listeners: ["TCP:80"] },
    "tcp-pods": {
      className,
      listeners: ["TCP:80", "TCP:9000"],
      settings: { loadBalancerAttributes: [{ key: "load_balancing.cross_zone.enabled", value: "true" }], tags: { team: "net" } },
      routes: {
        "tcp-pods": { ...tcp("web:80 3", "api:80 1"), parentRefs: [{ name: "tcp-pods", port: 80 }] },
        "tcp-admin": { ...tcp("web:9000", { name: "web", namespace: far, port: 9000 }), parentRefs: [{ name: "tcp-pods", port: 9000 }] },
      },
    },
    datagrams: { className, listeners: ["UDP:514"], routes: { datagrams: udp("dns:514") } },
    both: { className, listeners: ["TCP:53", "UDP:53"], routes: { both: udp("dns:53") } },
    local: { className, listeners: ["TCP:80"], routes: { local: tcp("local:80") } },
    dual: {
      className,
      listeners: ["TCP:80"],
      settings: { ipAddressType: "dualstack", loadBalancerSubnets: given.subnets.map((identifier) => ({ identifier })) },
      routes: { dual: tcp("web:80") },
    },
    discovered: {
      className,
      listeners: [{ name: "tls", protocol: "TLS", port: 443, hostname: "shop.example.com", tls: terminated }],
      routes: { discovered: tcp("web:80") },
    },
    tls: {
      className,
      listeners: [{ name: "tls", protocol: "TLS", port: 443, tls: terminated }],
      settings: {
        listenerConfigurations: [
          {
            protocolPort: "TLS:443",
            defaultCertificate: first,
            certificates: [second],
            sslPolicy: "ELBSecurityPolicy-TLS13-1-2-2021-06",
            alpnPolicy: "HTTP2Preferred",
          },
        ],
      },
      routes: { tls: { kind: "TLSRoute", hostnames: ["shop.example.com"], rules: [to("web:80")] } },
    },
    passed: {
      className,
      listeners: [{ name: "tls", protocol: "TLS", port: 443, tls: { mode: "Passthrough" } }],
      routes: { passed: { kind: "TLSRoute", hostnames: ["shop.example.com"], rules: [to("web:80")] } },
    },
    "tcp-public": {
      className,
      listeners: ["TCP:80"],
      settings: {
        loadBalancerName: `${namespace}-net`,
        scheme: "internet-facing",
        loadBalancerSubnets: given.publicSubnets.map((identifier, i) => ({ identifier, eipAllocation: given.allocations[i]! })),
        sourceRanges: ["10.0.0.0/8"],
        listenerConfigurations: [
          {
            protocolPort: "TCP:80",
            targetGroupStickiness: true,
            listenerAttributes: [{ key: "tcp.idle_timeout.seconds", value: "400" }],
          },
        ],
      },
      routes: { "tcp-public": tcp("web:80") },
    },
    "tcp-ungrouped": {
      className,
      listeners: ["TCP:80"],
      settings: {
        disableSecurityGroup: true,
        loadBalancerSubnets: given.subnets.map((identifier, i) => ({ identifier, privateIPv4Allocation: given.addresses[i]! })),
      },
      routes: { "tcp-ungrouped": tcp("node:80") },
    },
    "tcp-ranges": {
      className,
      listeners: ["TCP:80"],
      settings: { disableSecurityGroup: true, sourceRanges: ["10.9.0.0/16"], scheme: "internet-facing" },
      routes: { "tcp-ranges": tcp("web:80", "api:80") },
    },
    "tcp-grouped": {
      className,
      listeners: ["TCP:80"],
      settings: {
        securityGroups: [given.securityGroup],
        manageBackendSecurityGroupRules: true,
        enforceSecurityGroupInboundRulesOnPrivateLinkTraffic: "off",
      },
      routes: { "tcp-grouped": tcp("web:80") },
    },
    chain: {
      className,
      listeners: ["TCP:80"],
      routes: { chain: tcp({ kind: "Gateway", group: "gateway.networking.k8s.io", name: "plain", port: 80 }) },
    },
  };
}
