import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { annotationTable } from "../../src/loadbalancers/service/annotations.ts";
import { classicOf, groupNamed, networkOf, rulesOf } from "../bed/balancers.ts";
import { certificate, type ServiceWish, type ServiceWorld, type ServiceWorldOptions, serviceWorld } from "../bed/service-world.ts";

async function bed(t: TestContext, options?: ServiceWorldOptions): Promise<ServiceWorld> {
  const world = await serviceWorld(options);
  t.after(() => world.close());
  world.start();
  return world;
}

interface Row {
  readonly annotation: keyof typeof annotationTable | "source-ranges";
  readonly what: string;
  readonly wish: ServiceWish | ((world: ServiceWorld) => ServiceWish);
  /** Annotations that are given once the load balancer stands. */
  readonly edits?: Readonly<Record<string, string>>;
  readonly options?: ServiceWorldOptions;
  readonly sees: (world: ServiceWorld) => unknown;
  readonly expect: unknown | ((world: ServiceWorld) => unknown);
  /** What it asks for is what everybody gets: of the other rows it is checked that the annotation makes a difference. */
  readonly asDefault?: true;
}

const managed = { config: "NLBSecurityGroupMode=Managed" };
const twoPorts = {
  ports: [
    { name: "http", port: 80, nodePort: 31080 },
    { name: "HTTPS-Port".toLowerCase(), port: 443, nodePort: 31443 },
  ],
};
const onePort = { ports: [{ port: 80, nodePort: 31080 }] };
const classic = (world: ServiceWorld) => classicOf(world, "web")!;
const network = (world: ServiceWorld) => networkOf(world, "web")!;
const listeners = (world: ServiceWorld) =>
  classic(world)
    .listeners.toSorted((a, b) => a.port - b.port)
    .map(({ protocol, port, instanceProtocol, certificate: cert }) => `${protocol}:${port} ${instanceProtocol}${cert ? " cert" : ""}`);
const fronts = (world: ServiceWorld) =>
  network(world).listeners.map(({ protocol, port, certificate: cert }) => `${protocol}:${port}${cert ? " cert" : ""}`);
const check = (world: ServiceWorld) => network(world).groups[0]!.check;
const tls = { "ssl-cert": certificate };

/** An account with as many elastic IPs as zones. */
function withAddresses(world: ServiceWorld): readonly string[] {
  return ["1", "2", "3"].map((n) => {
    const id = `eipalloc-0000000000000000${n}`;
    world.aws.account.ec2.addresses.put(id, {
      ...({ allocationId: id, id, publicIp: `203.0.113.${n}`, tags: {} } as never as Parameters<
        typeof world.aws.account.ec2.addresses.put
      >[1]),
    });
    return id;
  });
}

const rows: readonly Row[] = [
  { annotation: "type", what: "nlb", wish: { annotations: { type: "nlb" } }, sees: (w) => network(w).loadBalancer.type, expect: "network" },
  {
    annotation: "type-change",
    what: "with a change",
    wish: { annotations: { "type-change": "replace" } },
    edits: { type: "nlb" },
    sees: (w) => networkOf(w, "web")?.loadBalancer.type,
    expect: "network",
  },
  {
    annotation: "name",
    what: "classic",
    wish: { annotations: { name: "shop" } },
    sees: (w) => classicOf(w, "web", "shop")?.name,
    expect: "shop",
  },
  {
    annotation: "internal",
    what: "classic",
    wish: { annotations: { internal: "true" } },
    sees: (w) => [
      classic(w).scheme,
      ...classic(w)
        .subnetIds.map((id) => w.aws.account.ec2.subnets.get(id)?.tags.Name)
        .toSorted(),
    ],
    expect: ["internal", "test-private-us-east-1a", "test-private-us-east-1b", "test-private-us-east-1c"],
  },
  {
    annotation: "internal",
    what: "false",
    asDefault: true,
    wish: { annotations: { internal: "false" } },
    sees: (w) => classic(w).scheme,
    expect: "internet-facing",
  },
  {
    annotation: "internal",
    what: "network, any text but false",
    wish: { annotations: { type: "nlb", internal: "0.0.0.0/0" } },
    sees: (w) => network(w).loadBalancer.scheme,
    expect: "internal",
  },
  {
    annotation: "subnets",
    what: "by id and by name",
    wish: (w) => ({ annotations: { subnets: ` ${w.network.publicSubnetIds[1]} , test-public-us-east-1a ` } }),
    sees: (w) => classic(w).subnetIds.toSorted(),
    expect: (w: ServiceWorld) => w.network.publicSubnetIds.slice(0, 2).toSorted(),
  },
  {
    annotation: "ssl-cert",
    what: "classic, all ports",
    wish: { annotations: tls, spec: twoPorts },
    sees: listeners,
    expect: ["SSL:80 TCP cert", "SSL:443 TCP cert"],
  },
  {
    annotation: "ssl-cert",
    what: "network, all ports",
    wish: { annotations: { type: "nlb", ...tls }, spec: twoPorts },
    sees: fronts,
    expect: ["TLS:80 cert", "TLS:443 cert"],
  },
  {
    annotation: "ssl-ports",
    what: "by number",
    wish: { annotations: { ...tls, "ssl-ports": "443,8443" }, spec: twoPorts },
    sees: listeners,
    expect: ["TCP:80 TCP", "SSL:443 TCP cert"],
  },
  {
    annotation: "ssl-ports",
    what: "by name",
    wish: { annotations: { ...tls, "ssl-ports": "http" }, spec: twoPorts },
    sees: listeners,
    expect: ["SSL:80 TCP cert", "TCP:443 TCP"],
  },
  {
    annotation: "ssl-ports",
    what: "network, no match",
    wish: { annotations: { type: "nlb", ...tls, "ssl-ports": "8443" }, spec: twoPorts },
    sees: fronts,
    expect: ["TCP:80", "TCP:443"],
  },
  {
    annotation: "ssl-negotiation-policy",
    what: "classic",
    wish: { annotations: { ...tls, "ssl-negotiation-policy": "ELBSecurityPolicy-TLS-1-2-2017-01" } },
    sees: (w) => classic(w).listeners[0]?.policyNames,
    expect: ["k8s-SSLNegotiationPolicy-ELBSecurityPolicy-TLS-1-2-2017-01"],
  },
  {
    annotation: "ssl-negotiation-policy",
    what: "network",
    wish: { annotations: { type: "nlb", ...tls, "ssl-negotiation-policy": "ELBSecurityPolicy-TLS13-1-2-2021-06" } },
    sees: (w) => network(w).listeners[0]?.sslPolicy,
    expect: "ELBSecurityPolicy-TLS13-1-2-2021-06",
  },
  ...(
    [
      ["tcp", "SSL:80 TCP cert"],
      ["ssl", "SSL:80 SSL cert"],
      ["http", "HTTPS:80 HTTP cert"],
      ["https", "HTTPS:80 HTTPS cert"],
    ] as const
  ).map(
    ([protocol, expect]): Row => ({
      annotation: "backend-protocol",
      what: `classic ${protocol} with a certificate`,
      wish: { annotations: { ...tls, "backend-protocol": protocol } },
      sees: listeners,
      expect: [expect],
      ...(protocol === "tcp" && { asDefault: true }),
    }),
  ),
  {
    annotation: "backend-protocol",
    what: "classic http without a certificate",
    wish: { annotations: { "backend-protocol": "http" } },
    sees: listeners,
    expect: ["HTTP:80 HTTP"],
  },
  {
    annotation: "backend-protocol",
    what: "classic https without a certificate",
    wish: { annotations: { "backend-protocol": "https" }, spec: onePort },
    sees: (w) => [listeners(w), classic(w).healthCheck.Target],
    expect: [["TCP:80 TCP"], "SSL:31080"],
  },
  {
    annotation: "backend-protocol",
    what: "network ssl",
    wish: { annotations: { type: "nlb", ...tls, "backend-protocol": "ssl" } },
    sees: (w) => network(w).groups[0]?.protocol,
    expect: "TLS",
  },
  {
    annotation: "proxy-protocol",
    what: "on every port",
    wish: { annotations: { "proxy-protocol": "*" }, spec: twoPorts },
    sees: (w) => classic(w).backendPolicies,
    expect: { 31080: ["k8s-proxyprotocol-enabled"], 31443: ["k8s-proxyprotocol-enabled"] },
  },
  {
    annotation: "access-log-enabled",
    what: "classic, with all that belongs to it",
    wish: {
      annotations: {
        "access-log-enabled": "true",
        "access-log-emit-interval": "5",
        "access-log-s3-bucket-name": "b",
        "access-log-s3-bucket-prefix": "p",
      },
    },
    sees: (w) => classic(w).attributes.accessLog,
    expect: { enabled: true, emitInterval: 5, bucket: "b", prefix: "p" },
  },
  {
    annotation: "access-log-emit-interval",
    what: "5",
    wish: { annotations: { "access-log-enabled": "true", "access-log-emit-interval": "5", "access-log-s3-bucket-name": "b" } },
    sees: (w) => classic(w).attributes.accessLog.emitInterval,
    expect: 5,
  },
  {
    annotation: "access-log-s3-bucket-name",
    what: "network",
    wish: { annotations: { type: "nlb", "access-log-enabled": "true", "access-log-s3-bucket-name": "b" } },
    sees: (w) => [
      network(w).loadBalancer.attributes["access_logs.s3.enabled"],
      network(w).loadBalancer.attributes["access_logs.s3.bucket"],
    ],
    expect: ["true", "b"],
  },
  {
    annotation: "access-log-s3-bucket-prefix",
    what: "network",
    wish: {
      annotations: { type: "nlb", "access-log-enabled": "true", "access-log-s3-bucket-name": "b", "access-log-s3-bucket-prefix": "p" },
    },
    sees: (w) => network(w).loadBalancer.attributes["access_logs.s3.prefix"],
    expect: "p",
  },
  {
    annotation: "connection-draining-enabled",
    what: "on",
    wish: { annotations: { "connection-draining-enabled": "T" } },
    sees: (w) => classic(w).attributes.draining.enabled,
    expect: true,
  },
  {
    annotation: "connection-draining-timeout",
    what: "60",
    wish: { annotations: { "connection-draining-enabled": "true", "connection-draining-timeout": "60" } },
    sees: (w) => classic(w).attributes.draining,
    expect: { enabled: true, timeout: 60 },
  },
  {
    annotation: "connection-idle-timeout",
    what: "100",
    wish: { annotations: { "connection-idle-timeout": "100" } },
    sees: (w) => classic(w).attributes.idleTimeout,
    expect: 100,
  },
  {
    annotation: "cross-zone-load-balancing-enabled",
    what: "classic",
    wish: { annotations: { "cross-zone-load-balancing-enabled": "true" } },
    sees: (w) => classic(w).attributes.crossZone,
    expect: true,
  },
  {
    annotation: "cross-zone-load-balancing-enabled",
    what: "network",
    wish: { annotations: { type: "nlb", "cross-zone-load-balancing-enabled": "1" } },
    sees: (w) => network(w).loadBalancer.attributes["load_balancing.cross_zone.enabled"],
    expect: "true",
  },
  {
    annotation: "extra-security-groups",
    what: "after the managed one",
    wish: (w) => ({ annotations: { "extra-security-groups": ` ${w.network.nodeGroupId} , ` } }),
    sees: (w) => classic(w).groupIds,
    expect: (w: ServiceWorld) => [groupNamed(w, `k8s-elb-${w.loadBalancerOf("web")}`), w.network.nodeGroupId],
  },
  {
    annotation: "security-groups",
    what: "classic: no group is made",
    wish: (w) => ({ annotations: { "security-groups": w.network.nodeGroupId } }),
    sees: (w) => [classic(w).groupIds, groupNamed(w, `k8s-elb-${w.loadBalancerOf("web")}`)],
    expect: (w: ServiceWorld) => [[w.network.nodeGroupId], undefined],
  },
  {
    annotation: "security-groups",
    what: "network, managed mode",
    options: managed,
    wish: (w) => ({ annotations: { type: "nlb", "security-groups": ` ${w.network.nodeGroupId} ` } }),
    sees: (w) => network(w).loadBalancer.groupIds,
    expect: (w: ServiceWorld) => [w.network.nodeGroupId],
  },
  {
    annotation: "security-groups",
    what: "network, otherwise ignored",
    asDefault: true,
    wish: (w) => ({ annotations: { type: "nlb", "security-groups": w.network.nodeGroupId } }),
    sees: (w) => network(w).loadBalancer.groupIds,
    expect: [],
  },
  {
    annotation: "additional-resource-tags",
    what: "classic, reserved keys left out",
    wish: { annotations: { "additional-resource-tags": "team=a b,x=,=y,kubernetes.io/cluster/test=mine" } },
    sees: (w) => classic(w).tags,
    expect: { team: "a b", x: "", "kubernetes.io/service-name": "default/web", "kubernetes.io/cluster/test": "owned" },
  },
  {
    annotation: "additional-resource-tags",
    what: "network, every part",
    wish: { annotations: { type: "nlb", "additional-resource-tags": "team=a" } },
    sees: (w) => [network(w).loadBalancer.tags.team, network(w).groups[0]?.tags.team, network(w).listeners[0]?.tags.team],
    expect: ["a", "a", "a"],
  },
  {
    annotation: "target-node-labels",
    what: "that no node has",
    wish: { annotations: { "target-node-labels": "role=edge" } },
    sees: (w) => classic(w).instances,
    expect: [],
  },
  {
    annotation: "healthcheck-protocol",
    what: "classic",
    wish: { annotations: { "healthcheck-protocol": "HTTP" }, spec: onePort },
    sees: (w) => classic(w).healthCheck.Target,
    expect: "HTTP:31080/",
  },
  {
    annotation: "healthcheck-protocol",
    what: "network",
    wish: { annotations: { type: "nlb", "healthcheck-protocol": "https" } },
    sees: (w) => [check(w).protocol, check(w).path],
    expect: ["HTTPS", "/"],
  },
  {
    annotation: "healthcheck-port",
    what: "classic",
    wish: { annotations: { "healthcheck-port": "30000" } },
    sees: (w) => classic(w).healthCheck.Target,
    expect: "TCP:30000",
  },
  {
    annotation: "healthcheck-port",
    what: "classic, traffic-port with local traffic",
    wish: { annotations: { "healthcheck-port": "traffic-port" }, spec: { ...onePort, externalTrafficPolicy: "Local" } },
    sees: (w) => classic(w).healthCheck.Target,
    expect: "HTTP:31080/healthz",
  },
  {
    annotation: "healthcheck-port",
    what: "network",
    wish: { annotations: { type: "nlb", "healthcheck-port": "30000" } },
    sees: (w) => check(w).port,
    expect: "30000",
  },
  {
    annotation: "healthcheck-path",
    what: "classic",
    wish: { annotations: { "healthcheck-protocol": "HTTPS", "healthcheck-path": "/up", "healthcheck-port": "30000" } },
    sees: (w) => classic(w).healthCheck.Target,
    expect: "HTTPS:30000/up",
  },
  {
    annotation: "healthcheck-path",
    what: "network, dropped for TCP",
    asDefault: true,
    wish: { annotations: { type: "nlb", "healthcheck-path": "/up" } },
    sees: (w) => check(w).path,
    expect: undefined,
  },
  {
    annotation: "healthcheck-healthy-threshold",
    what: "both numbers, classic",
    wish: { annotations: { "healthcheck-healthy-threshold": "4", "healthcheck-unhealthy-threshold": "3" } },
    sees: (w) => [classic(w).healthCheck.HealthyThreshold, classic(w).healthCheck.UnhealthyThreshold],
    expect: [4, 3],
  },
  {
    annotation: "healthcheck-unhealthy-threshold",
    what: "network",
    wish: { annotations: { type: "nlb", "healthcheck-healthy-threshold": "7", "healthcheck-unhealthy-threshold": "5" } },
    sees: (w) => [check(w).healthyThreshold, check(w).unhealthyThreshold],
    expect: [7, 5],
  },
  {
    annotation: "healthcheck-interval",
    what: "classic and its timeout",
    wish: { annotations: { "healthcheck-interval": "20", "healthcheck-timeout": "9" } },
    sees: (w) => [classic(w).healthCheck.Interval, classic(w).healthCheck.Timeout],
    expect: [20, 9],
  },
  {
    annotation: "healthcheck-interval",
    what: "network",
    wish: { annotations: { type: "nlb", "healthcheck-interval": "23" } },
    sees: (w) => check(w).interval,
    expect: 23,
  },
  {
    annotation: "healthcheck-timeout",
    what: "network",
    wish: { annotations: { type: "nlb", "healthcheck-timeout": "7" } },
    sees: (w) => check(w).timeout,
    expect: 7,
  },
  {
    annotation: "private-ipv4-addresses",
    what: "one a subnet, in the order of the subnets",
    wish: (w) => ({
      annotations: {
        type: "nlb",
        internal: "true",
        subnets: [w.network.privateSubnetIds[1], w.network.privateSubnetIds[0]].join(","),
        "private-ipv4-addresses": "10.0.64.77, 10.0.32.77",
      },
    }),
    sees: (w) => Object.fromEntries(network(w).loadBalancer.zones.map(({ subnetId, privateAddress }) => [subnetId, privateAddress])),
    expect: (w: ServiceWorld) => ({ [w.network.privateSubnetIds[1]!]: "10.0.64.77", [w.network.privateSubnetIds[0]!]: "10.0.32.77" }),
  },
  {
    annotation: "target-group-attributes",
    what: "both",
    wish: { annotations: { type: "nlb", "target-group-attributes": "preserve_client_ip.enabled=false,proxy_protocol_v2.enabled=true" } },
    sees: (w) => network(w).groups[0]?.attributes,
    expect: { "preserve_client_ip.enabled": "false", "proxy_protocol_v2.enabled": "true" },
  },
  {
    annotation: "eip-allocations",
    what: "one elastic IP a subnet, in the order of the subnets",
    options: { settings: { quotas: { addresses: 5 } } },
    wish: (w) => ({ annotations: { type: "nlb", "eip-allocations": withAddresses(w).toReversed().join(", ") } }),
    sees: (w) => w.network.publicSubnetIds.map((id) => network(w).loadBalancer.zones.find(({ subnetId }) => subnetId === id)?.allocationId),
    expect: ["eipalloc-00000000000000003", "eipalloc-00000000000000002", "eipalloc-00000000000000001"],
  },
  {
    annotation: "source-ranges",
    what: "of the annotation, normalised and once",
    wish: { annotations: { "service.beta.kubernetes.io/load-balancer-source-ranges": "10.0.0.0/8 , 192.168.0.0/16,10.0.0.0/8" } },
    sees: (w) => rulesOf(w, classic(w).groupIds[0]!),
    expect: ["icmp 3-4 from 10.0.0.0/8", "icmp 3-4 from 192.168.0.0/16", "tcp 80 from 10.0.0.0/8", "tcp 80 from 192.168.0.0/16"],
  },
];

/** What is seen of a row's Service, with the row's own annotation or without it, and what is expected to be. */
async function look(t: TestContext, { annotation, wish, edits, options, sees, expect }: Row, annotated: boolean) {
  const world = await bed(t, options);
  const asked = typeof wish === "function" ? wish(world) : wish;
  const annotations = Object.entries(asked.annotations ?? {}).filter(([name]) => annotated || !name.endsWith(annotation));
  assert.ok(annotated || annotations.length < Object.keys(asked.annotations ?? {}).length, "the row sets the annotation it is about");
  await world.create("web", { ...asked, annotations: Object.fromEntries(annotations) });
  // Without it the Service may ask for something that is refused.
  await world.world.advance(60_000);
  if (edits) await world.edit("web", edits);
  if (edits) await world.world.advance(10 * 60_000);
  const seen = () => {
    try {
      return sees(world);
    } catch {
      return "nothing of the kind";
    }
  };
  return { seen: annotated ? sees(world) : seen(), expected: typeof expect === "function" ? expect(world) : expect };
}

for (const row of rows) {
  test(`${row.annotation}: ${row.what}`, async (t) => {
    const { seen, expected } = await look(t, row, true);
    assert.deepEqual(seen, expected);
    if (row.asDefault) return;
    const without = await look(t, row, false);
    assert.notDeepEqual(without.seen, without.expected, "without the annotation it is otherwise");
  });
}

test("every annotation of the table has a row in which it makes a difference to the account", () => {
  const tested = new Set<string>(rows.filter(({ asDefault }) => !asDefault).map(({ annotation }) => annotation));
  assert.deepEqual(
    Object.keys(annotationTable).filter((name) => !tested.has(name)),
    [],
  );
});

const refusals: readonly (readonly [string, ServiceWish, RegExp])[] = [
  [
    "extra-security-groups on a network load balancer, also when empty",
    { annotations: { type: "nlb", "extra-security-groups": "" } },
    /is not supported by NLB/,
  ],
  ["target-group-attributes on a classic one", { annotations: { "target-group-attributes": "" } }, /only supported for NLB/],
  [
    "an unknown target group attribute",
    { annotations: { type: "nlb", "target-group-attributes": "stickiness.enabled=true" } },
    /not supported by the controller or is invalid/,
  ],
  [
    "True for an attribute",
    { annotations: { type: "nlb", "target-group-attributes": "proxy_protocol_v2.enabled=True" } },
    /invalid attribute value for "proxy_protocol_v2.enabled": True/,
  ],
  [
    "UDP without client addresses",
    {
      annotations: { type: "nlb", "target-group-attributes": "preserve_client_ip.enabled=false" },
      spec: { ports: [{ port: 53, protocol: "UDP" }] },
    },
    /can't be disabled for UDP ports/,
  ],
  ["a type nobody knows", { annotations: { type: "NLB" } }, /aws-load-balancer-type="NLB" is not known.* did you mean nlb\?/],
  ["session affinity", { spec: { sessionAffinity: "ClientIP" } }, /unsupported load balancer affinity: ClientIP/],
  [
    "UDP on a classic one",
    { spec: { ports: [{ port: 53, protocol: "UDP" }] } },
    /Protocol UDP not supported by LoadBalancer: a network load balancer carries it, set .*-type: nlb/,
  ],
  ["an address that AWS does not give", { spec: { loadBalancerIP: "1.2.3.4" } }, /LoadBalancerIP cannot be specified for AWS ELB/],
  ["a backend protocol nobody knows", { annotations: { ...tls, "backend-protocol": "bacon" } }, /Invalid backend protocol bacon for/],
  ["another proxy protocol", { annotations: { "proxy-protocol": "80" } }, /the only value supported currently is '\*'/],
  ["no subnets", { annotations: { subnets: "\t, ,," } }, /unable to resolve empty subnet slice/],
  ["subnets that are not there", { annotations: { subnets: "a, b, test-public-us-east-1a" } }, /expected to find 3, but found 1 subnets/],
  ["a check too soon", { annotations: { "healthcheck-healthy-threshold": "1" } }, /HealthyThreshold must be at least 2/],
  ["a check that is no number", { annotations: { "healthcheck-interval": "3.3" } }, /failed parsing health check annotation value .*=3\.3/],
  [
    "a network check that is no number",
    { annotations: { type: "nlb", "healthcheck-interval": "non-numeric" } },
    /failed to parse annotation .*=non-numeric/,
  ],
  [
    "a network check by another protocol",
    { annotations: { type: "nlb", "healthcheck-protocol": "ssl" } },
    /Unsupported health check protocol SSL/,
  ],
  ["a network check on no port", { annotations: { type: "nlb", "healthcheck-port": "web" } }, /Invalid health check port 'web'/],
  [
    "too few elastic IPs",
    { annotations: { type: "nlb", "eip-allocations": "eipalloc-1,eipalloc-2" } },
    /same number of EIP AllocationIDs \(2\) and SubnetIDs \(3\)/,
  ],
  [
    "too few private addresses",
    { annotations: { type: "nlb", internal: "true", "private-ipv4-addresses": "" } },
    /same number of Private IPv4Addresses \(1\) and SubnetIDs \(3\)/,
  ],
  ["a name AWS does not take", { annotations: { name: "-shop-" } }, /aws-load-balancer-name="-shop-" is not valid: it takes 1 to 32/],
  ["another way to change the type", { annotations: { "type-change": "yes" } }, /aws-load-balancer-type-change="yes" is not valid/],
  ["no port with a node port", { spec: { allocateLoadBalancerNodePorts: false } }, /no port of the Service has a node port/],
];

for (const [what, wish, said] of refusals) {
  test(`refused before anything is made: ${what}`, async (t) => {
    const world = await bed(t);
    await world.create("web", wish);
    await world.world.advance(10_000);
    assert.ok(
      world.events("web").some((text) => text.startsWith("Warning SyncLoadBalancerFailed: ") && said.test(text)),
      world.events("web").join("\n"),
    );
    assert.deepEqual(world.mutations(), []);
  });
}

test("TLS is put on a live listener and taken off again without the port being closed", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: { type: "nlb" } });
  await world.published("web");
  const { arn } = network(world).listeners[0]!;
  await world.edit("web", tls);
  await world.world.advance(10_000);
  assert.deepEqual(fronts(world), ["TLS:80 cert"]);
  await world.edit("web", { "ssl-cert": null });
  await world.world.advance(10_000);
  assert.deepEqual([fronts(world), network(world).listeners[0]?.arn], [["TCP:80"], arn]);
});

test("TCP and UDP on one port share a listener when they share the node port", async (t) => {
  const world = await bed(t);
  const both = [
    { name: "a", port: 53, nodePort: 31053, protocol: "TCP" },
    { name: "b", port: 53, nodePort: 31053, protocol: "UDP" },
  ];
  await world.create("dns", { annotations: { type: "nlb" }, spec: { ports: both } });
  await world.published("dns");
  assert.deepEqual(
    networkOf(world, "dns")?.listeners.map(({ protocol, port }) => `${protocol}:${port}`),
    ["TCP_UDP:53"],
  );
});

test("two ports that swap their node ports swap what their listeners forward to", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: { type: "nlb" }, spec: twoPorts });
  await world.published("web");
  const swapped = [
    { ...twoPorts.ports[0], nodePort: 31443 },
    { ...twoPorts.ports[1], nodePort: 31080 },
  ];
  await world.edit("web", {}, { ports: swapped });
  await world.world.advance(15_000);
  const { listeners: now, groups } = network(world);
  assert.deepEqual(
    now.map(({ port, actions }) => [port, groups.find(({ arn }) => arn === actions[0]?.TargetGroupArn)?.port]),
    [
      [80, 31443],
      [443, 31080],
    ],
  );
});

test("a Service with both address families gets a dual-stack load balancer where the subnets have IPv6, else a word about it", async (t) => {
  const families = { ipFamilyPolicy: "PreferDualStack", ipFamilies: ["IPv4", "IPv6"] };
  const world = await bed(t, { network: { ipv6: true } });
  await world.create("web", { annotations: { type: "nlb" }, spec: families });
  await world.published("web");
  assert.equal(network(world).loadBalancer.ipAddressType, "dualstack");
  const without = await bed(t);
  await without.create("web", { annotations: { type: "nlb" }, spec: families });
  await without.published("web");
  assert.equal(network(without).loadBalancer.ipAddressType, "ipv4");
  assert.ok(without.events("web").some((text) => /have no IPv6 block: the load balancer is IPv4 only/.test(text)));
});
