/** The network load balancer a Service asks for. Pure: the same inputs always give the same model. */
import type { NetworkListener, NetworkLoadBalancer, NodeAccess, Problem, SecurityGroups, SubnetMapping, TargetGroup } from "../model.ts";
import { networkSecurityGroupName, targetGroupName } from "../names.ts";
import { forwardTo } from "../routing.ts";
import type { ServiceOptions } from "./options.ts";
import { serviceNoun } from "./owner.ts";
import { usesCertificate } from "./ports.ts";
import { targetHealthCheck } from "./target-health-check.ts";
import type { ServicePort } from "./view.ts";
import { clientRules, type Desired, type Wish } from "./wish.ts";

export function desireNetwork(wish: Wish): Desired<NetworkLoadBalancer> {
  const problems: Problem[] = [];
  const { check, problems: checkProblems } = targetHealthCheck(wish);
  problems.push(...checkProblems, ...attributeProblems(wish));

  const fronts = frontsOf(wish.ports);
  if (fronts === undefined) {
    problems.push({
      message:
        "mixed protocol is not supported for LoadBalancer: TCP and UDP on one port need the same node port, so that one listener can serve both",
    });
  }
  const served = (fronts ?? []).map((front) => serve(front, wish, check));
  return {
    problems,
    model: {
      kind: "network",
      name: wish.name,
      askedBy: serviceNoun,
      internal: wish.options.internal,
      addressType: wish.dualStack && !served.some(({ listener }) => listener.protocol.includes("UDP")) ? "dualstack" : "ipv4",
      subnets: mappings(wish),
      securityGroups: groupsFor(wish),
      listeners: served.map(({ listener }) => listener),
      targetGroups: served.map(({ group }) => group),
      attributes: attributesFor(wish.options),
      tags: wish.tags,
    },
  };
}

/** What the traffic of a target group travels in. */
const transports = {
  TCP: ["tcp"],
  TLS: ["tcp"],
  UDP: ["udp"],
  TCP_UDP: ["tcp", "udp"],
  QUIC: ["udp"],
  TCP_QUIC: ["tcp", "udp"],
  HTTP: ["tcp"],
  HTTPS: ["tcp"],
} as const satisfies Record<TargetGroup["protocol"], readonly ("tcp" | "udp")[]>;

/** What the nodes must let in: client addresses are preserved, so clients themselves, and the health checks. */
export function nodeAccess(model: NetworkLoadBalancer, wish: Wish): NodeAccess {
  const { targetGroups } = model;
  return {
    kind: "from-clients",
    loadBalancer: model.name,
    ports: targetGroups.flatMap(({ port, protocol }) => transports[protocol].map((transport) => ({ protocol: transport, port }))),
    cidrs: clientsOf(wish),
    healthPorts: [
      ...new Set(targetGroups.map(({ healthCheck, port }) => (healthCheck.port === "traffic-port" ? port : Number(healthCheck.port)))),
    ],
  };
}

/** Where a Service is open to everybody, those whom the cloud config lets in. */
function clientsOf({ sourceRanges, settings: { publicNetworkAllowList = [] } }: Wish): readonly string[] {
  const isOpen = sourceRanges.every((cidr) => cidr === "0.0.0.0/0");
  return isOpen && publicNetworkAllowList.length > 0 ? publicNetworkAllowList : sourceRanges;
}

interface Front {
  readonly port: ServicePort;
  readonly protocol: "TCP" | "UDP" | "TCP_UDP";
}

/** One listener a port number. TCP and UDP share one when they also share the node port; otherwise AWS cannot serve both. */
function frontsOf(ports: readonly ServicePort[]): Front[] | undefined {
  const fronts: Front[] = [];
  for (const same of Map.groupBy(ports, ({ port }) => port).values()) {
    const [port] = same;
    if (port === undefined) continue;
    if (same.some(({ nodePort }) => nodePort !== port.nodePort)) return undefined;
    fronts.push({ port, protocol: same.length > 1 ? "TCP_UDP" : port.protocol === "UDP" ? "UDP" : "TCP" });
  }
  return fronts;
}

function serve(
  { port, protocol }: Front,
  wish: Wish,
  healthCheck: TargetGroup["healthCheck"],
): { listener: NetworkListener; group: TargetGroup } {
  const { options, settings, service } = wish;
  const secure = protocol === "TCP" && usesCertificate(options, port, "network");
  const backend = secure && options.backendProtocol === "ssl" ? "TLS" : protocol;
  const name = targetGroupName(settings.clusterId, service, {
    servicePort: port.port,
    nodePort: port.nodePort,
    protocol: backend,
    healthCheckProtocol: healthCheck.protocol,
    healthCheckInterval: healthCheck.interval,
  });
  const tls = { protocol: "TLS", certificates: [options.certificate ?? ""], sslPolicy: options.sslPolicy } as const;
  return {
    listener: {
      port: port.port,
      protocol,
      certificates: [],
      attributes: {},
      forward: forwardTo(name),
      why: `the Service has port ${port.port}`,
      ...(secure && tls),
    },
    group: {
      name,
      targetType: "instance",
      protocol: backend,
      port: port.nodePort,
      healthCheck,
      attributes: options.targetGroupAttributes ?? {},
      targets: wish.instances.toSorted(),
    },
  };
}

function groupsFor({ options, settings, service, sourceRanges, groupTags, ownership }: Wish): SecurityGroups {
  if (!settings.managedNetworkGroups) return { kind: "as-it-is" };
  if (options.securityGroups.length > 0) return { kind: "wanted", groups: options.securityGroups.map((id) => ({ kind: "given", id })) };
  const group = {
    name: networkSecurityGroupName(settings.clusterName, service),
    description: "[k8s] Managed SecurityGroup for LoadBalancer",
    tags: groupTags,
    ownership,
    rules: clientRules(service.ports, sourceRanges),
  };
  return { kind: "wanted", groups: [{ kind: "managed", group }] };
}

function attributesFor({ crossZone, accessLog }: ServiceOptions): Record<string, string> {
  const base = { "load_balancing.cross_zone.enabled": String(crossZone), "access_logs.s3.enabled": String(accessLog.enabled) };
  if (!accessLog.enabled) return base;
  return { ...base, "access_logs.s3.bucket": accessLog.bucket ?? "", "access_logs.s3.prefix": accessLog.prefix ?? "" };
}

function attributeProblems({ options, service }: Wish): Problem[] {
  const keepsClientIp = options.targetGroupAttributes?.["preserve_client_ip.enabled"] !== "false";
  if (keepsClientIp || !service.ports.some(({ protocol }) => protocol === "UDP")) return [];
  return [{ message: "error validating target group attributes: client IP preservation can't be disabled for UDP ports" }];
}

function mappings({ subnets, options }: Wish): SubnetMapping[] {
  return subnets.map((subnet, i) => ({
    subnet,
    allocation: options.eipAllocations?.[i],
    privateIpv4Address: options.privateIpv4Addresses?.[i],
  }));
}

/** What is wrong with addresses that are given for a new load balancer; one that stands has its own for good. */
export function mappingProblems({ subnets, options }: Wish): Problem[] {
  const check = (what: string, given: readonly string[] | undefined) =>
    given === undefined || given.length === subnets.length
      ? []
      : [{ message: `error creating load balancer: Must have same number of ${what} (${given.length}) and SubnetIDs (${subnets.length})` }];
  return [...check("EIP AllocationIDs", options.eipAllocations), ...check("Private IPv4Addresses", options.privateIpv4Addresses)];
}
