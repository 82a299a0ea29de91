/** What annotations of Services with the load balancer controller's class bring about in the account. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { BindingWorldOptions } from "../bed/binding-world.ts";
import { type Annotations, type ClassWorld, classWorld } from "../bed/class-world.ts";

async function bed(t: TestContext, options?: BindingWorldOptions): Promise<ClassWorld> {
  const world = await classWorld(options);
  t.after(() => world.close());
  return world;
}

const ip = { "nlb-target-type": "ip" };

interface Balancer {
  readonly name: string;
  readonly arn: string;
  readonly scheme: string;
  readonly ipAddressType: string;
  readonly ipv6SourceNat: string;
  readonly privateLinkRules: string;
  readonly groupIds: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  readonly attributes: Readonly<Record<string, string>>;
  readonly capacity?: { readonly units: number };
  readonly zones: readonly {
    readonly subnetId: string;
    readonly allocationId?: string;
    readonly privateAddress?: string;
    readonly ipv6Address?: string;
    readonly sourceNatPrefix?: string;
  }[];
}
interface Listener {
  readonly port: number;
  readonly protocol: string;
  readonly certificate?: string;
  readonly moreCertificates: readonly string[];
  readonly sslPolicy?: string;
  readonly alpnPolicy?: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly actions: readonly {
    readonly ForwardConfig?: { readonly TargetGroups?: readonly { readonly TargetGroupArn?: string; readonly Weight?: number }[] };
  }[];
}
interface Group {
  readonly name: string;
  readonly arn: string;
  readonly protocol: string;
  readonly port: number;
  readonly targetType: string;
  readonly ipAddressType: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

const balancers = (world: ClassWorld) => world.all<Balancer>("elbv2/load-balancers");
const listeners = (world: ClassWorld) => world.all<Listener>("elbv2/listeners").toSorted((a, b) => a.port - b.port);
const groups = (world: ClassWorld) => world.all<Group>("elbv2/target-groups");

/** The rules of the managed group: `tcp 80-80 0.0.0.0/0`. */
function rules(world: ClassWorld): readonly string[] {
  const managed = world
    .all<{ id: string; tags: Readonly<Record<string, string>> }>("ec2/security-groups")
    .find(({ tags }) => tags["service.k8s.aws/resource"] === "ManagedLBSecurityGroup");
  return world
    .all<{ groupId: string; egress: boolean; protocol: string; fromPort?: number; toPort?: number; peer: unknown }>(
      "ec2/security-group-rules",
    )
    .filter(({ groupId, egress }) => groupId === managed?.id && !egress)
    .map(({ protocol, fromPort, toPort, peer }) => `${protocol} ${fromPort}-${toPort} ${JSON.stringify(peer)}`)
    .toSorted();
}

/** After a change nothing more is written, however long one waits. */
async function assertRests(world: ClassWorld): Promise<void> {
  world.resetCalls();
  await world.change("web", { "additional-resource-tags": "at=rest" });
  await world.world.advance(120_000);
  const { AddTags = 0, CreateTags = 0, ...others } = world.mutations();
  assert.ok(AddTags + CreateTags > 0, "it was looked at");
  assert.deepEqual(others, {}, world.lines.slice(-5).join("\n"));
}

const failure = (world: ClassWorld) => world.events("web").filter((event) => event.includes("Failed"));

test("UDP, TCP and both on one port, with a health check of their own, open what targets need", async (t) => {
  const world = await bed(t);
  world.serve();
  const ports = [
    { name: "dns", port: 53, protocol: "UDP", targetPort: 8053, nodePort: 30053 },
    { name: "dns-tcp", port: 53, protocol: "TCP", targetPort: 8053, nodePort: 30054 },
    { name: "web", port: 80, protocol: "TCP", targetPort: 8080, nodePort: 30080 },
  ];
  await world.classService("web", { "enable-tcp-udp-listener": "true", "healthcheck-port": "9000" }, { ports });
  await world.settled("web");
  assert.deepEqual(
    listeners(world).map(({ port, protocol }) => `${protocol}:${port}`),
    ["TCP_UDP:53", "TCP:80"],
  );
  assert.deepEqual(
    groups(world)
      .map(({ protocol, port, targetType }) => `${protocol}:${port} ${targetType}`)
      .toSorted(),
    ["TCP:30080 instance", "TCP_UDP:30053 instance"],
  );
  const opened = world.bindings().map(({ spec }) => (spec.networking as { ingress: { ports: object[] }[] }).ingress[0]?.ports);
  assert.deepEqual(
    opened.toSorted((a, b) => (a?.length ?? 0) - (b?.length ?? 0)),
    [
      [
        { protocol: "TCP", port: 30080 },
        { protocol: "TCP", port: 9000 },
      ],
      [
        { protocol: "UDP", port: 30053 },
        { protocol: "TCP", port: 30053 },
        { protocol: "TCP", port: 9000 },
      ],
    ],
  );
  await assertRests(world);
});

test("certificates, ALPN, policies and attributes of listeners stand as asked for, and follow", async (t) => {
  const world = await bed(t);
  const arn = (name: string) => `arn:aws:acm:us-east-1:123456789012:certificate/${name}`;
  world.aws.controls.change({ certificates: [arn("a"), arn("b"), arn("c")] });
  world.serve();
  const ports = [
    { name: "http", port: 80, targetPort: 8080 },
    { name: "https", port: 443, targetPort: 8080 },
  ];
  await world.classService(
    "web",
    {
      ...ip,
      "ssl-cert": `${arn("a")}, ${arn("b")}`,
      "ssl-ports": "https",
      "ssl-negotiation-policy": "ELBSecurityPolicy-TLS13-1-2-2021-06",
      "alpn-policy": "HTTP2Preferred",
      "backend-protocol": "ssl",
      "listener-attributes.TCP-80": "tcp.idle_timeout.seconds=400",
    },
    { ports },
  );
  await world.settled("web");
  const [http, https] = listeners(world);
  assert.deepEqual([http?.protocol, http?.attributes], ["TCP", { "tcp.idle_timeout.seconds": "400" }]);
  assert.deepEqual(
    [https?.protocol, https?.certificate, https?.moreCertificates, https?.sslPolicy, https?.alpnPolicy],
    ["TLS", arn("a"), [arn("b")], "ELBSecurityPolicy-TLS13-1-2-2021-06", "HTTP2Preferred"],
  );
  assert.deepEqual(
    groups(world)
      .map(({ protocol }) => protocol)
      .toSorted(),
    ["TCP", "TLS"],
  );
  await assertRests(world);
  await world.change("web", { "ssl-cert": `${arn("a")},${arn("c")}`, "alpn-policy": "None", "ssl-ports": null });
  await world.world.advance(60_000);
  assert.deepEqual(
    listeners(world).map(({ protocol, moreCertificates, alpnPolicy }) => [protocol, moreCertificates, alpnPolicy]),
    [
      ["TLS", [arn("c")], "None"],
      ["TLS", [arn("c")], "None"],
    ],
  );
});

test("dual stack with addresses and source NAT of the user's, made and changed in place", async (t) => {
  const world = await bed(t, { ipv6: true });
  world.serve();
  const subnets = [...world.network.privateSubnetIds];
  const ports = [{ name: "dns", port: 53, protocol: "UDP", targetPort: 8053 }];
  await world.classService("web", { ...ip, subnets: subnets.join() }, { ports });
  await world.settled("web");
  assert.deepEqual(
    balancers(world).map(({ ipAddressType, ipv6SourceNat }) => [ipAddressType, ipv6SourceNat]),
    [["ipv4", "off"]],
  );
  const arn = balancers(world)[0]?.arn;
  const cidrs = subnets.map((id) => world.all<{ id: string; ipv6Cidr: string }>("ec2/subnets").find((each) => each.id === id)!.ipv6Cidr);
  const inside = (end: string) => cidrs.map((cidr) => cidr.replace(/::\/64$/, end));
  const prefixes = inside(":9::/80");
  const dual: Annotations = {
    "ip-address-type": "dualstack",
    "ipv6-addresses": inside("::77").join(),
    "enable-prefix-for-ipv6-source-nat": "on",
    "source-nat-ipv6-prefixes": prefixes.join(),
  };
  await world.change("web", dual);
  await world.world.advance(60_000);
  const [lb] = balancers(world);
  assert.equal(lb?.arn, arn, world.events("web").join("\n"));
  assert.deepEqual([lb?.ipAddressType, lb?.ipv6SourceNat], ["dualstack", "on"]);
  assert.deepEqual(
    lb?.zones.map(({ ipv6Address, sourceNatPrefix }) => [ipv6Address, sourceNatPrefix]),
    inside("::77").map((each, i) => [each, prefixes[i]]),
  );
  await assertRests(world);
  await world.change(
    "web",
    { "source-nat-ipv6-prefixes": null, "enable-prefix-for-ipv6-source-nat": "off", "ipv6-addresses": null },
    { ports: [{ name: "x", port: 80, targetPort: 8080 }] },
  );
  await world.world.advance(120_000);
  assert.deepEqual(
    balancers(world).map(({ ipAddressType, ipv6SourceNat }) => [ipAddressType, ipv6SourceNat]),
    [["dualstack", "off"]],
    world.events("web").join("\n"),
  );
});

test("elastic IPs and private addresses are those asked for; other ones later are told of, and nothing is broken", async (t) => {
  const world = await bed(t);
  world.serve();
  const subnets = [...world.network.publicSubnetIds];
  const allocations = await world.allocate(subnets.length + 1);
  const asked = allocations.slice(0, subnets.length);
  await world.classService("web", { ...ip, scheme: "internet-facing", subnets: subnets.join(), "eip-allocations": asked.join() });
  await world.settled("web");
  assert.deepEqual(
    balancers(world)[0]?.zones.map(({ allocationId }) => allocationId),
    asked,
  );
  await assertRests(world);
  await world.change("web", { "eip-allocations": [...asked.slice(1), allocations.at(-1)].join() });
  await world.world.advance(60_000);
  assert.match(world.events("web").join("\n"), /LoadBalancerWarning: .*AWS changes no elastic IP/);
  assert.deepEqual(failure(world), []);

  const privates = [...world.network.privateSubnetIds];
  const addresses = privates.map((id) =>
    world
      .all<{ id: string; cidr: string }>("ec2/subnets")
      .find((each) => each.id === id)!
      .cidr.replace(/\.0\/\d+$/, ".77"),
  );
  await world.classService("inside", { ...ip, subnets: privates.join(), "private-ipv4-addresses": addresses.toReversed().join() });
  await world.settled("inside");
  const inside = balancers(world).find(({ scheme }) => scheme === "internal");
  assert.deepEqual(
    inside?.zones.map(({ privateAddress }) => privateAddress),
    addresses,
  );
});

test("who may come in is said by source ranges, prefix lists and ICMP; of given groups nobody touches the rules", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.classService("web", { ...ip, "enable-icmp-for-path-mtu-discovery": "on" }, { loadBalancerSourceRanges: ["10.1.2.3/16"] });
  await world.settled("web");
  assert.equal(rules(world).length, 2, JSON.stringify(rules(world)));
  assert.match(rules(world).join("\n"), /icmp 3-4 .*10\.1\.0\.0\/16.*\ntcp 80-80 .*10\.1\.0\.0\/16/);
  await assertRests(world);
  await world.change(
    "web",
    { "security-group-prefix-lists": "pl-12345678", "enable-icmp-for-path-mtu-discovery": null },
    { loadBalancerSourceRanges: null },
  );
  await world.world.advance(60_000);
  assert.deepEqual(rules(world).length, 1);
  assert.match(rules(world)[0] ?? "", /tcp 80-80 .*pl-12345678/);
  await world.change("web", { "security-groups": world.network.nodeGroupId });
  await world.world.advance(60_000);
  assert.deepEqual(balancers(world)[0]?.groupIds, [world.network.nodeGroupId]);
  assert.equal(world.bindings()[0]?.spec.networking, undefined);
  assert.match(world.events("web").join("\n"), /security-group-prefix-lists has no effect: no security group is made/);
  await world.change("web", { "manage-backend-security-group-rules": "true", "inbound-sg-rules-on-private-link-traffic": "off" });
  await world.world.advance(60_000);
  assert.deepEqual([balancers(world)[0]?.groupIds.length, balancers(world)[0]?.privateLinkRules], [2, "off"]);
  assert.ok(world.bindings()[0]?.spec.networking);
});

test("without groups targets let in addresses, QUIC is served, and groups cannot come later", async (t) => {
  const world = await bed(t);
  world.serve();
  const ports = [{ name: "quic", port: 443, protocol: "UDP", targetPort: 8443 }];
  await world.classService("web", { ...ip, "disable-nlb-sg": "true", "quic-enabled-ports": "quic" }, { ports });
  await world.settled("web");
  assert.deepEqual([balancers(world)[0]?.groupIds, listeners(world)[0]?.protocol, groups(world)[0]?.protocol], [[], "QUIC", "QUIC"]);
  const { ingress } = world.bindings()[0]!.spec.networking as { ingress: { from: { ipBlock: { cidr: string } }[]; ports: object[] }[] };
  assert.deepEqual(ingress[0], { from: [{ ipBlock: { cidr: "10.0.0.0/16" } }], ports: [{ protocol: "UDP", port: 8443 }] });
  assert.deepEqual(ingress[1]?.ports, [{ protocol: "TCP", port: 8443 }], "targets are checked by TCP");
  await world.change("web", { "disable-nlb-sg": null });
  await world.world.advance(60_000);
  assert.deepEqual([balancers(world)[0]?.groupIds, failure(world)], [[], []]);
});

test("traffic is shared between Services by weight, and follows the one that it is shared with", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.service("canary", { ports: [{ name: "http", port: 81, targetPort: 8081 }] });
  await world.pods("canary", 1);
  const action = (weight: number) =>
    JSON.stringify({
      type: "forward",
      forwardConfig: { baseServiceWeight: 9, targetGroups: [{ serviceName: "canary", servicePort: "http", weight }] },
    });
  await world.classService("web", { ...ip, "/actions.TCP-80": action(1) });
  await world.settled("web");
  const weights = () => listeners(world)[0]?.actions[0]?.ForwardConfig?.TargetGroups?.map(({ Weight }) => Weight);
  assert.deepEqual([weights(), groups(world).length, world.bindings().length], [[9, 1], 2, 2]);
  await assertRests(world);
  await world.say(
    "PATCH",
    "/api/v1/namespaces/default/services/canary",
    { spec: { ports: [{ name: "http", port: 82, targetPort: 8081 }] } },
    "merge",
  );
  await world.world.advance(10 * 60_000);
  assert.ok(
    groups(world).some(({ tags }) => tags["service.k8s.aws/resource"] === "default/canary:82"),
    world.events("web").join("\n"),
  );
  assert.equal(groups(world).length, 2);
  await world.change("web", { "/actions.TCP-80": action(1000) });
  await world.world.advance(60_000);
  assert.match(failure(world).join("\n"), /target group weight must be between 0 and 999/);
  assert.deepEqual(weights(), [9, 1], "what stands stays");
});

test("tags, attributes, names and capacity are as asked for; what others keep is left alone", async (t) => {
  const world = await bed(t);
  world.serve("--default-tags=team=platform,env=prod", "--external-managed-tags=cost");
  await world.classService("web", {
    ...ip,
    name: "my-nlb",
    "additional-resource-tags": "team=shop,app=web",
    attributes: "load_balancing.cross_zone.enabled=false,dns_record.client_routing_policy=availability_zone_affinity",
    "cross-zone-load-balancing-enabled": "true",
    "target-group-attributes": "deregistration_delay.timeout_seconds=30,preserve_client_ip.enabled=true",
    "target-group-attributes.80": "deregistration_delay.timeout_seconds=40",
    "minimum-load-balancer-capacity": "CapacityUnits=100",
  });
  await world.settled("web");
  const [lb] = balancers(world);
  const marks = { "elbv2.k8s.aws/cluster": "test", "service.k8s.aws/stack": "default/web" };
  assert.deepEqual(lb?.tags, { app: "web", team: "platform", env: "prod", ...marks, "service.k8s.aws/resource": "LoadBalancer" });
  assert.equal(listeners(world)[0]?.tags["service.k8s.aws/resource"], "80");
  assert.equal(lb?.name, "my-nlb");
  assert.deepEqual(lb?.attributes, {
    "dns_record.client_routing_policy": "availability_zone_affinity",
    "load_balancing.cross_zone.enabled": "true",
  });
  assert.deepEqual(groups(world)[0]?.attributes, { "deregistration_delay.timeout_seconds": "40", "preserve_client_ip.enabled": "true" });
  await world.world.advance(10 * 60_000);
  assert.equal(balancers(world)[0]?.capacity?.units, 100, world.events("web").join("\n"));
  await world.change("web", {
    "minimum-load-balancer-capacity": "CapacityUnits=0",
    "proxy-protocol": "*",
    "additional-resource-tags": "cost=1",
  });
  await world.world.advance(60_000);
  assert.match(failure(world).join("\n"), /external managed tag key cost cannot be specified on Service/);
  await world.change("web", { "additional-resource-tags": null });
  await world.world.advance(10 * 60_000);
  assert.deepEqual([balancers(world)[0]?.capacity, groups(world)[0]?.attributes["proxy_protocol_v2.enabled"]], [undefined, "true"]);
  await world.change("web", { "proxy-protocol": null });
  await world.world.advance(60_000);
  assert.equal(groups(world)[0]?.attributes["proxy_protocol_v2.enabled"], "false");
});

test("pods in the place of nodes: the listener moves when the new targets are registered, and the old group goes", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.classService(
    "web",
    { "nlb-target-type": "instance" },
    { ports: [{ name: "http", port: 80, targetPort: 8080, nodePort: 30080 }] },
    2,
  );
  await world.settled("web");
  assert.equal(groups(world)[0]?.targetType, "instance");
  const before = groups(world)[0]!.arn;
  let targetsAtMove: number | undefined;
  world.onAwsMutation((action) => {
    if (action !== "ModifyListener") return;
    targetsAtMove = world.targets(groups(world).find(({ arn }) => arn !== before)!.arn).length;
  });
  await world.change("web", ip);
  await world.until("the old group is gone", () => groups(world).length === 1 && groups(world)[0]?.targetType === "ip", 600_000);
  assert.equal(targetsAtMove, 2);
  assert.equal(world.bindings().length, 1);
});

test("a Service that becomes IPv6 gets another target group, and the old one goes", async (t) => {
  const world = await bed(t, { ipv6: true });
  world.serve();
  await world.classService("web", { ...ip, "ip-address-type": "dualstack" }, { ipFamilies: ["IPv4"] });
  await world.settled("web");
  const [before] = groups(world);
  assert.equal(before?.ipAddressType, "ipv4");
  await world.change("web", {}, { ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "PreferDualStack" });
  await world
    .until("the old group is gone", () => groups(world).length === 1 && groups(world)[0]?.ipAddressType === "ipv6", 600_000)
    .catch(() => {
      throw new Error([...world.events("web"), ...world.lines.slice(-5)].join("\n"));
    });
  await world.world.advance(60_000);
  assert.deepEqual(
    world.bindings().map(({ spec }) => [spec.targetGroupARN, spec.ipAddressType]),
    [[groups(world)[0]?.arn, "ipv6"]],
  );
  await assertRests(world);
});
