/** Services with the load balancer controller's class over its annotations, as both controllers are given them. */
import type { ServiceSpec } from "../../src/kube/types.ts";

/** What Services name and somebody else has made. */
export interface ClassGiven {
  readonly namespace: string;
  readonly subnets: readonly string[];
  readonly publicSubnets: readonly string[];
  /** One address in each of the private subnets. */
  readonly addresses: readonly string[];
  /** One for each of the public subnets. */
  readonly allocations: readonly string[];
  readonly securityGroup: string;
  /** Of another security group: what its tag `Name` says. */
  readonly securityGroupName: string;
  readonly certificates: readonly [string, string];
  readonly targetGroup: string;
}

export interface JudgedService {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Partial<ServiceSpec>;
}

/** Names are those after `aws-load-balancer-`; `/name` leaves that out. */
type Annotations = Readonly<Record<string, string>>;

const prefix = "service.beta.kubernetes.io/";
const keyed = (annotations: Annotations) =>
  Object.fromEntries(
    Object.entries(annotations).map(([name, value]) => [
      name.startsWith("/") ? prefix + name.slice(1) : `${prefix}aws-load-balancer-${name}`,
      value,
    ]),
  );

type Port = NonNullable<ServiceSpec["ports"]>[number];
const tcp = (port: number, name = `p${port}`): Port => ({ name, port, targetPort: 8080, protocol: "TCP" });
const udp = (port: number, name = `u${port}`): Port => ({ name, port, targetPort: 8080, protocol: "UDP" });

const ip = { "nlb-target-type": "ip" };
const loadBalancerClass = "service.k8s.aws/nlb";

/** By name; `canary` is led to by another and has no load balancer. */
export function judgedServices(given: ClassGiven): Readonly<Record<string, JudgedService>> {
  const of = (annotations: Annotations, ports: readonly Port[] = [tcp(80)], spec: Partial<ServiceSpec> = {}): JudgedService => ({
    annotations: keyed(annotations),
    spec: { type: "LoadBalancer", loadBalancerClass, ports: [...ports], ...spec },
  });
  const weighted = {
    type: "forward",
    forwardConfig: {
      baseServiceWeight: 10,
      targetGroups: [
        { serviceName: "canary", servicePort: 80, weight: 20 },
        { targetGroupARN: given.targetGroup, weight: 5 },
      ],
    },
  };
  const [first, second] = given.certificates;
  return {
    canary: { annotations: {}, spec: { type: "ClusterIP", ports: [tcp(80)] } },
    pods: of(ip),
    nodes: of({}, [tcp(80), tcp(443)]),
    local: of({}, [tcp(80)], { externalTrafficPolicy: "Local" }),
    handed: of({ ...ip, type: "external" }, [tcp(80)], { loadBalancerClass: undefined }),
    legacy: of({ type: "nlb-ip", internal: "false" }, [tcp(80)], { loadBalancerClass: undefined }),
    public: of({
      ...ip,
      scheme: "internet-facing",
      subnets: given.publicSubnets.join(),
      "eip-allocations": given.allocations.join(),
    }),
    fixed: of({ ...ip, subnets: given.subnets.join(), "private-ipv4-addresses": given.addresses.join() }),
    dual: of({ ...ip, "ip-address-type": "dualstack", subnets: given.subnets.join() }),
    tls: of(
      {
        ...ip,
        "ssl-cert": `${first},${second}`,
        "ssl-ports": "p443",
        "ssl-negotiation-policy": "ELBSecurityPolicy-TLS13-1-2-2021-06",
        "alpn-policy": "HTTP2Preferred",
        "backend-protocol": "ssl",
        "listener-attributes.TCP-80": "tcp.idle_timeout.seconds=400",
      },
      [tcp(80), tcp(443)],
    ),
    both: of({ ...ip, "enable-tcp-udp-listener": "true" }, [tcp(53), udp(53)]),
    datagrams: of({ ...ip, "healthcheck-port": "9000" }, [udp(514)]),
    guests: of({ ...ip, "security-group-prefix-lists": "pl-0123456789abcdef0" }, [tcp(80)], {
      loadBalancerSourceRanges: ["10.0.0.0/8", "192.168.0.0/16"],
    }),
    grouped: of({
      ...ip,
      "security-groups": `${given.securityGroup},${given.securityGroupName}`,
      "manage-backend-security-group-rules": "true",
      "inbound-sg-rules-on-private-link-traffic": "off",
    }),
    ungrouped: of({ "disable-nlb-sg": "true" }, [tcp(80)], { loadBalancerSourceRanges: ["10.1.0.0/16"] }),
    weighted: of({ ...ip, "/actions.TCP-80": JSON.stringify(weighted) }),
    checked: of(
      {
        ...ip,
        "healthcheck-protocol": "HTTP",
        "healthcheck-port": "8081",
        "healthcheck-path": "/up",
        "healthcheck-success-codes": "200-204",
        "healthcheck-interval": "20",
        "healthcheck-timeout": "7",
        "healthcheck-healthy-threshold": "4",
        "healthcheck-unhealthy-threshold": "4",
        "target-group-attributes": "deregistration_delay.timeout_seconds=60",
        "target-group-attributes.443": "preserve_client_ip.enabled=true",
        "proxy-protocol-per-target-group": "443",
      },
      [tcp(80), tcp(443)],
    ),
    dressed: of({
      ...ip,
      name: `${given.namespace}-front`,
      attributes: "load_balancing.cross_zone.enabled=true",
      "additional-resource-tags": "team=shop,cost=1",
      "multi-cluster-target-group": "true",
      "proxy-protocol": "*",
    }),
    labelled: of({ "target-node-labels": "pool=front", "healthcheck-port": "p80" }),
  };
}
