import assert from "node:assert/strict";
import { test } from "node:test";
import type { NetworkLoadBalancer, Rule } from "../model.ts";
import type { FoundNetwork } from "../network/find.ts";
import { desire, port, service, type Wish } from "./class.fixture.ts";
import { networkFixture } from "./network.fixture.ts";

function model(wish: Wish = {}): NetworkLoadBalancer {
  const { model: wanted, problems } = desire(wish);
  assert.deepEqual(problems, [], JSON.stringify(wish.annotations));
  return wanted;
}
const fault = (wish: Wish) =>
  desire(wish)
    .problems.map(({ message }) => message)
    .join("; ");
const warnings = (wish: Wish) =>
  desire(wish)
    .warnings.map(({ message }) => message)
    .join("\n");
const annotated = (annotations: Readonly<Record<string, string>>) => ({ annotations });

const standing: FoundNetwork = {
  kind: "network",
  name: "k8s-shop-webfront-d54417e97a",
  hostname: "h",
  internal: true,
  subnets: ["subnet-private2"],
  securityGroups: ["sg-a"],
  createdAt: 0,
  arn: "arn:lb",
  state: "active",
  addressType: "ipv4",
  zones: [{ subnet: "subnet-private2" }],
  sourceNat: false,
};

test("names are the reference's", () => {
  const nameOf = (wish: Wish) => model(wish).targetGroups[0]?.name;
  assert.equal(model().name, "k8s-shop-webfront-d54417e97a");
  assert.equal(model(annotated({ scheme: "internet-facing" })).name, "k8s-shop-webfront-f993fd5660");
  const [managed] = model().securityGroups.kind === "wanted" ? (model().securityGroups as { groups: readonly object[] }).groups : [];
  assert.equal((managed as { group: { name: string } }).group.name, "k8s-shop-webfront-e1a8bb31bd");
  assert.equal(nameOf({}), "k8s-shop-webfront-b9fdc6cf3f");
  assert.equal(nameOf({ local: true, healthCheckNodePort: 32000 }), "k8s-shop-webfront-e950236fb9");
  assert.equal(nameOf(annotated({ "nlb-target-type": "ip" })), "k8s-shop-webfront-8779e467a6");
  assert.equal(
    nameOf({ ...annotated({ "nlb-target-type": "ip" }), ports: [port(80, { targetPort: "http" })] }),
    "k8s-shop-webfront-63dacb3826",
  );
  assert.equal(model(annotated({ name: "mine" })).name, "mine");
  assert.match(
    fault(annotated({ name: "x".repeat(33) })),
    /^load balancer name cannot be longer than 32 characters \(annotation .*-name takes/,
  );
});

test("the scheme: annotation, old annotation, what stands, the flag", () => {
  const internal = (wish: Wish) => model(wish).internal;
  assert.equal(internal({}), true);
  assert.equal(internal({ settings: { defaultScheme: "internet-facing" } }), false);
  assert.equal(internal(annotated({ internal: "false" })), false);
  assert.equal(internal(annotated({ internal: "true", scheme: "internet-facing" })), false);
  assert.equal(internal({ settings: { defaultScheme: "internet-facing" }, around: { standing } }), true);
  assert.match(
    fault(annotated({ scheme: "public" })),
    /^unknown scheme: public \(annotation .*-scheme takes `internal` or `internet-facing`\)$/,
  );
  assert.match(
    fault(annotated({ internal: "maybe" })),
    /^failed to parse bool annotation, service.beta.kubernetes.io\/aws-load-balancer-internal: maybe/,
  );
});

test("subnets: those named, those it stands in, those discovered for its scheme", () => {
  const subnets = (wish: Wish) => model(wish).subnets.map(({ subnet }) => subnet);
  assert.deepEqual(subnets({}), ["subnet-private1", "subnet-private2"]);
  assert.deepEqual(subnets(annotated({ scheme: "internet-facing" })), ["subnet-public1", "subnet-public2"]);
  assert.deepEqual(subnets(annotated({ subnets: "private2, subnet-private1" })), ["subnet-private2", "subnet-private1"]);
  const old = networkFixture.subnets.map((subnet) => (subnet.id === "subnet-private1" ? { ...subnet, ipv6Cidrs: [] } : subnet));
  const dual = { ...annotated({ "ip-address-type": "dualstack" }), around: { network: { ...networkFixture, subnets: old } } };
  assert.deepEqual(subnets(dual), ["subnet-private2"], "one without IPv6 is none for dual stack");
  assert.deepEqual(subnets({ around: { standing } }), ["subnet-private2"]);
  assert.deepEqual(subnets({ ...annotated({ scheme: "internet-facing" }), around: { standing } }), ["subnet-public1", "subnet-public2"]);
  assert.match(fault(annotated({ subnets: "subnet-x" })), /couldn't find all subnets, want: \[subnet-x\], found: \[\]/);
  assert.match(fault(annotated({ subnets: "" })), /unable to resolve at least one subnet/);
  assert.match(fault(annotated({ subnets: "subnet-old", "ip-address-type": "dualstack" })), /do not have an associated IPv6 CIDR block/);
  assert.match(fault(annotated({ subnets: "subnet-private1,subnet-public1" })), /multiple subnets in same Availability Zone a/);
});

test("addresses are checked against scheme, family, number and subnets", () => {
  const rows: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
    [{ "eip-allocations": "e1,e2" }, /^EIP allocations can only be set for internet facing load balancers$/],
    [{ "eip-allocations": "e1", scheme: "internet-facing" }, /^count of EIP allocations \(1\) and subnets \(2\) must match$/],
    [{ "eip-allocations": "", scheme: "internet-facing" }, /^count of EIP allocations \(0\) and subnets \(2\) must match$/],
    [
      { "private-ipv4-addresses": "10.0.11.5,10.0.12.5", scheme: "internet-facing" },
      /^private IPv4 addresses can only be set for internal/,
    ],
    [{ "private-ipv4-addresses": "10.0.1.5" }, /^count of private IPv4 addresses \(1\) and subnets \(2\) must match$/],
    [{ "private-ipv4-addresses": "10.0.1.5,x" }, /^private IPv4 addresses must be valid IP address: x$/],
    [{ "private-ipv4-addresses": "10.0.1.5,2001:db8::1" }, /^private IPv4 addresses must be valid IPv4 address: 2001:db8::1$/],
    [{ "private-ipv4-addresses": "10.0.1.5,10.0.1.6" }, /^expect one private IPv4 address configured for subnet: subnet-private1$/],
    [{ "ipv6-addresses": "a,b" }, /^IPv6 addresses can only be set for dualstack load balancers$/],
    [{ "ipv6-addresses": "a", "ip-address-type": "dualstack" }, /^count of IPv6 addresses \(1\) and subnets \(2\) must match$/],
    [{ "ipv6-addresses": "a,b", "ip-address-type": "dualstack" }, /^IPv6 addresses must be valid IP address: a$/],
    [{ "ipv6-addresses": "10.0.1.1,10.0.1.2", "ip-address-type": "dualstack" }, /^IPv6 addresses must be valid IPv6 address: 10.0.1.1$/],
    [
      { "ipv6-addresses": "2001:db8::1,2001:db8::2", "ip-address-type": "dualstack" },
      /^expect one IPv6 address configured for subnet: subnet-private1$/,
    ],
    [{ "ip-address-type": "ipv6" }, /^unknown IPAddressType: ipv6/],
  ];
  for (const [annotations, text] of rows) assert.match(fault({ annotations }), text, JSON.stringify(annotations));
  assert.deepEqual(
    model(annotated({ "private-ipv4-addresses": "10.0.2.5,10.0.1.5" })).subnets.map(({ privateIpv4Address }) => privateIpv4Address),
    ["10.0.1.5", "10.0.2.5"],
    "in whichever order they are given",
  );
  const both = {
    scheme: "internet-facing",
    "ip-address-type": "dualstack",
    "eip-allocations": "e1,e2",
    "ipv6-addresses": "2001:db8:0:12::5,2001:db8:0:11::5",
  };
  assert.deepEqual(model(annotated(both)).subnets, [
    { subnet: "subnet-public1", allocation: "e1", ipv6Address: "2001:db8:0:11::5" },
    { subnet: "subnet-public2", allocation: "e2", ipv6Address: "2001:db8:0:12::5" },
  ]);
  const moved = { ...annotated({ "private-ipv4-addresses": "10.0.2.9" }), around: { standing } };
  assert.match(warnings(moved), /AWS changes no private address to 10.0.2.9 there/);
});

test("prefixes of source NAT are checked in the reference's words", () => {
  const on = { "ip-address-type": "dualstack", "enable-prefix-for-ipv6-source-nat": "on" };
  const prefixes = (text: string, more: Readonly<Record<string, string>> = on) =>
    fault(annotated({ ...more, "source-nat-ipv6-prefixes": text }));
  assert.match(
    fault(annotated({ "enable-prefix-for-ipv6-source-nat": "yes" })),
    /^Invalid enable-prefix-for-ipv6-source-nat value: yes\. Valid values are \['on', 'off'\]\./,
  );
  assert.match(
    fault(annotated({ "enable-prefix-for-ipv6-source-nat": "on" })),
    /only applicable to Network Load Balancers using Dualstack/,
  );
  assert.match(prefixes("a,b", {}), /^source-nat-ipv6-prefixes annotation can only be set for/);
  assert.match(
    prefixes("a,b", { "ip-address-type": "dualstack" }),
    /only applicable if enable-prefix-for-ipv6-source-nat annotation is set to on/,
  );
  assert.match(prefixes("auto_assigned"), /^Number of values in source-nat-ipv6-prefixes \(1\) must match the number of subnets \(2\)\.$/);
  assert.match(prefixes("x,auto_assigned"), /^Invalid value in source-nat-ipv6-prefixes: x\.$/);
  assert.match(prefixes("2001:db8:0:1::/64,auto_assigned"), / Prefix length must be 80, but 64 is specified\.$/);
  assert.match(prefixes("10.0.0.0/80,auto_assigned"), / Value must be a valid IPv6 CIDR\.$/);
  assert.match(prefixes("2001:db9::/80,auto_assigned"), / Value must be within subnet CIDR range: \[2001:db8:0:1::\/64\]\.$/);
  const wanted = model(annotated({ ...on, "source-nat-ipv6-prefixes": "2001:db8:0:1:1::/80,auto_assigned" }));
  assert.deepEqual(
    [wanted.sourceNat, wanted.subnets.map(({ sourceNatIpv6Prefix }) => sourceNatIpv6Prefix)],
    [true, ["2001:db8:0:1:1::/80", "auto_assigned"]],
  );
});

const groupsOf = ({ securityGroups }: NetworkLoadBalancer) =>
  securityGroups.kind === "wanted"
    ? securityGroups.groups.map((group) => (group.kind === "given" ? group.id : "managed"))
    : securityGroups.kind;
const sourceOf = (wish: Wish) => desire(wish).bindings[0]?.spec.networking?.ingress?.[0]?.from[0]?.securityGroup?.groupID;

test("security groups: managed, given, shared, none, and what cannot be", () => {
  assert.deepEqual(groupsOf(model()), ["managed", "sg-backend"]);
  assert.equal(sourceOf({}), "sg-backend");
  const alone = { around: { backendGroup: undefined as never } };
  assert.deepEqual(groupsOf(model(alone)), ["managed"]);
  assert.equal(sourceOf(alone), "<managed security group>");
  const given = annotated({ "security-groups": "front, sg-c" });
  assert.deepEqual(groupsOf(model(given)), ["sg-c", "sg-a", "sg-b"], "ids first, then all that carry the name");
  assert.equal(desire(given).bindings[0]?.spec.networking, undefined);
  const manages = { ...given.annotations, "manage-backend-security-group-rules": "true" };
  assert.deepEqual(groupsOf(model(annotated(manages))), ["sg-c", "sg-a", "sg-b", "sg-backend"]);
  assert.equal(sourceOf({ ...given, settings: { managesBackendRules: true } }), "sg-backend");
  assert.equal(
    sourceOf({ ...annotated({ ...manages, "manage-backend-security-group-rules": "false" }), settings: { managesBackendRules: true } }),
    undefined,
  );
  assert.match(
    fault({ ...annotated(manages), ...alone }),
    /^backendSG feature is required to manage worker node SG rules when frontendSG is manually specified$/,
  );
  assert.match(
    fault(annotated({ "security-groups": "sg-x,nobody" })),
    /^couldn't find all security groups: requested ids \[sg-x\] but found \[\], requested names \[nobody\] but found \[\]$/,
  );
  assert.deepEqual(groupsOf(model({ gates: { securityGroups: false } })), []);
  assert.deepEqual(groupsOf(model(annotated({ "disable-nlb-sg": "true" }))), []);
  assert.match(fault({ ...annotated({ "disable-nlb-sg": "true" }), around: { standing } }), /^conflicting security groups configuration$/);
  assert.match(fault({ gates: { securityGroups: false }, around: { standing } }), /^conflicting security groups configuration$/);
  assert.deepEqual(groupsOf(model({ around: { standing: { ...standing, securityGroups: [] } } })), "as-it-is");
  assert.deepEqual(groupsOf(model({ ...annotated({ "security-groups": "" }) })), ["managed", "sg-backend"]);
  assert.match(fault(annotated({ "inbound-sg-rules-on-private-link-traffic": "maybe" })), /value must be one of \[on, off\]/);
});

function rulesOf(wish: Wish): readonly string[] {
  const { securityGroups } = model(wish);
  const [first] = securityGroups.kind === "wanted" ? securityGroups.groups : [];
  const text = ({ protocol, fromPort, toPort, cidr, prefixList }: Rule) => `${protocol} ${fromPort}-${toPort} ${cidr ?? prefixList}`;
  return first?.kind === "managed" ? first.group.rules.map(text) : [];
}

test("the managed group lets in whom the Service lets in", () => {
  assert.deepEqual(rulesOf({}), ["tcp 80-80 0.0.0.0/0"]);
  const dual = { "ip-address-type": "dualstack" };
  assert.deepEqual(rulesOf(annotated(dual)), ["tcp 80-80 0.0.0.0/0", "tcp 80-80 ::/0"]);
  assert.deepEqual(rulesOf({ ports: [port(53, { protocol: "UDP" })] }), ["udp 53-53 0.0.0.0/0"]);
  const icmp = { ...dual, "enable-icmp-for-path-mtu-discovery": "on" };
  assert.deepEqual(rulesOf(annotated(icmp)).slice(2), ["icmp 3-4 0.0.0.0/0", "icmpv6 2-0 ::/0"]);
  assert.deepEqual(rulesOf(annotated({ "security-group-prefix-lists": "pl-1, pl-2" })), ["tcp 80-80 pl-1", "tcp 80-80 pl-2"]);
  assert.deepEqual(rulesOf(annotated({ "security-group-prefix-lists": "pl-1", "/load-balancer-source-ranges": "10.1.1.1/8" })), [
    "tcp 80-80 10.0.0.0/8",
    "tcp 80-80 pl-1",
  ]);
  assert.deepEqual(rulesOf({ ...annotated({ "/load-balancer-source-ranges": "10.0.0.0/8" }), sourceRanges: ["192.168.0.0/16"] }), [
    "tcp 80-80 192.168.0.0/16",
  ]);
  assert.match(fault({ sourceRanges: ["2001:db8::/32"] }), /^unsupported v6 cidr 2001:db8::\/32 when lb is not dualstack$/);
  assert.match(fault({ sourceRanges: ["everybody"] }), /^invalid CIDR address: everybody/);
});

const listenersOf = (wish: Wish) => model(wish).listeners.map(({ protocol, port: number }) => `${protocol}:${number}`);
const backs = (wish: Wish) => model(wish).targetGroups.map(({ protocol }) => protocol);
const cert = { "ssl-cert": "arn:c1, arn:c2" };

test("listeners: TLS by certificate and port, never for UDP", () => {
  const ports = [port(80, { name: "http" }), port(443, { name: "https" }), port(53, { name: "dns", protocol: "UDP" })];
  const wish = (annotations: Readonly<Record<string, string>>) => ({ ports, annotations });
  assert.deepEqual(listenersOf(wish(cert)), ["TLS:80", "TLS:443", "UDP:53"]);
  assert.deepEqual(listenersOf(wish({ ...cert, "ssl-ports": "https" })), ["TCP:80", "TLS:443", "UDP:53"]);
  assert.deepEqual(listenersOf(wish({ ...cert, "ssl-ports": "80" })), ["TLS:80", "TCP:443", "UDP:53"]);
  assert.match(fault(wish({ ...cert, "ssl-ports": "https, 8443, *" })), /^Unused port in ssl-ports annotation \[8443 \*\]$/);
  assert.deepEqual(backs(wish(cert)), ["TCP", "TCP", "UDP"]);
  assert.deepEqual(backs(wish({ ...cert, "backend-protocol": "ssl" })), ["TLS", "TLS", "UDP"]);
  const [tls] = model(wish({ ...cert, "alpn-policy": "HTTP2Only", "ssl-negotiation-policy": "p" })).listeners;
  assert.deepEqual([tls?.certificates, tls?.sslPolicy, tls?.alpnPolicy], [["arn:c1", "arn:c2"], "p", "HTTP2Only"]);
  assert.equal(model(wish(cert)).listeners[0]?.sslPolicy, "ELBSecurityPolicy-2016-08");
  assert.equal(model({ ...wish(cert), gates: { enhancedDefaults: true } }).listeners[0]?.alpnPolicy, "None");
  assert.match(fault(wish({ ...cert, "alpn-policy": "h2" })), /^invalid ALPN policy h2, policy must be one of \[None, HTTP1Only/);
  assert.deepEqual(fault(wish({ "alpn-policy": "h2" })), "", "what no listener uses stops nothing");
});

test("listeners: attributes by protocol and port", () => {
  const key = "listener-attributes.TCP-80";
  assert.deepEqual(model(annotated({ [key]: "tcp.idle_timeout.seconds=400" })).listeners[0]?.attributes, {
    "tcp.idle_timeout.seconds": "400",
  });
  assert.match(
    fault(annotated({ [key]: "x" })),
    /^failed to parse stringMap annotation, service.beta.kubernetes.io\/aws-load-balancer-listener-attributes.TCP-80: x/,
  );
  assert.deepEqual(model(annotated({ ...cert, "listener-attributes.TLS-80": "a=b" })).listeners[0]?.attributes, {});
  assert.match(
    warnings(annotated({ ...cert, "listener-attributes.TLS-80": "a=b" })),
    /listener-attributes.TLS-80 has no effect: the load balancer has no such listener or port/,
  );
});

test("listeners: TCP and UDP of one port, QUIC", () => {
  const tcp = port(53, { name: "tcp", nodePort: 30001 });
  const udp = port(53, { name: "udp", protocol: "UDP", nodePort: 30002 });
  const merge = annotated({ "enable-tcp-udp-listener": "true" });
  for (const ports of [
    [tcp, udp],
    [udp, tcp],
  ]) {
    assert.deepEqual(listenersOf({ ports, ...merge }), ["TCP_UDP:53"]);
    assert.equal(model({ ports, ...merge }).targetGroups[0]?.port, ports[0]?.nodePort, "the first port stands for both");
  }
  assert.deepEqual(listenersOf({ ports: [tcp, udp], gates: { tcpUdpListener: true } }), ["TCP_UDP:53"]);
  assert.deepEqual(
    listenersOf({ ports: [tcp, udp], ...annotated({ "enable-tcp-udp-listener": "false" }), gates: { tcpUdpListener: true } }),
    ["TCP:53"],
  );
  assert.match(warnings({ ports: [udp, tcp] }), /TCP:53 has no listener: UDP:53 has the port/);
  assert.match(
    warnings({ ports: [tcp, udp], ...annotated({ "enable-tcp-udp-listener": "si" }) }),
    /enable-tcp-udp-listener: si is not understood/,
  );
  assert.match(fault({ ports: [tcp, tcp], ...merge }), /^protocols can't match for merging: TCP$/);
  assert.match(fault({ ports: [tcp, udp, udp], ...merge }), /^can only merge two ports, not 3/);
  assert.match(fault({ ports: [tcp, port(53, { protocol: "SCTP" })], ...merge }), /^unsupported protocol for merging: SCTP$/);
  const quic = annotated({ "quic-enabled-ports": "udp, nobody", "disable-nlb-sg": "true" });
  assert.deepEqual([listenersOf({ ports: [udp], ...quic }), backs({ ports: [udp], ...quic })], [["QUIC:53"], ["QUIC"]]);
  assert.deepEqual(listenersOf({ ports: [udp, tcp], ...annotated({ ...quic.annotations, ...merge.annotations }) }), ["TCP_QUIC:53"]);
  assert.match(fault({ ports: [tcp], ...annotated({ "quic-enabled-ports": "53" }) }), /^Unsupported QUIC upgrade for protocol TCP$/);
});

test("target types, and Services that cannot have them", () => {
  const type = (wish: Wish) => model(wish).targetGroups[0]?.targetType;
  assert.equal(type({}), "instance");
  assert.equal(type({ settings: { defaultTargetType: "ip" } }), "ip");
  assert.equal(type(annotated({ type: "nlb-ip" })), "ip");
  assert.equal(type({ ...annotated({ type: "nlb-ip" }), gates: { ipTargetType: false } }), "ip");
  assert.equal(type(annotated({ "nlb-target-type": "pods" })), "instance");
  assert.match(warnings(annotated({ "nlb-target-type": "pods" })), /nlb-target-type: pods counts as instance/);
  assert.match(
    fault({ ...annotated({ "nlb-target-type": "ip" }), gates: { ipTargetType: false } }),
    /^unsupported targetType: ip when EnableIPTargetType is false$/,
  );
  assert.match(fault({ type: "ClusterIP" }), /^unsupported service type "ClusterIP" for load balancer target type "instance"$/);
  assert.match(
    fault({ ports: [port(80, { nodePort: 0 })], allocatesNodePorts: false }),
    /^unable to support instance target type with an unallocated NodePort$/,
  );
  assert.match(fault({ ports: [port(80, { nodePort: 0 })] }), /^TargetGroup port is empty\. When using Instance targets/);
  assert.match(fault({ ipFamilies: ["IPv6"] }), /^unsupported IPv6 configuration, lb not dual-stack$/);
  assert.equal(
    model({ ipFamilies: ["IPv4", "IPv6"], ...annotated({ "ip-address-type": "dualstack" }) }).targetGroups[0]?.addressType,
    "ipv6",
  );
  const labelled = desire(annotated({ "target-node-labels": "pool=edge", "multi-cluster-target-group": "true" })).bindings[0]?.spec;
  assert.deepEqual([labelled?.nodeSelector, labelled?.multiClusterTargetGroup], [{ matchLabels: { pool: "edge" } }, true]);
});

test("health checks: defaults by traffic policy, ports by name, what is taken only by HTTP", () => {
  const check = (wish: Wish) => model(wish).targetGroups[0]?.healthCheck;
  const base = { interval: 10, healthyThreshold: 3, unhealthyThreshold: 3, keepsAll: true };
  assert.deepEqual(check({}), { protocol: "TCP", port: "traffic-port", timeout: 10, ...base });
  const local = { local: true, healthCheckNodePort: 32000 };
  assert.deepEqual(check(local), {
    protocol: "HTTP",
    port: "32000",
    path: "/healthz",
    timeout: 6,
    matcher: { kind: "http", codes: "200-399" },
    ...base,
    healthyThreshold: 2,
    unhealthyThreshold: 2,
  });
  assert.equal(check({ ...local, ...annotated({ "nlb-target-type": "ip" }) })?.protocol, "TCP", "pods know no traffic policy");
  const given = {
    "healthcheck-protocol": "https",
    "healthcheck-port": "9",
    "healthcheck-path": "/up",
    "healthcheck-success-codes": "200",
    "healthcheck-interval": "20",
    "healthcheck-timeout": "5",
    "healthcheck-healthy-threshold": "4",
    "healthcheck-unhealthy-threshold": "5",
  };
  assert.deepEqual(check(annotated(given)), {
    protocol: "HTTPS",
    port: "9",
    path: "/up",
    interval: 20,
    timeout: 5,
    healthyThreshold: 4,
    unhealthyThreshold: 5,
    matcher: { kind: "http", codes: "200" },
    keepsAll: true,
  });
  const gated = check({ ...annotated(given), gates: { healthCheckAdvanced: false } });
  assert.deepEqual([gated?.timeout, gated?.matcher], [10, undefined]);
  const named = (wish: Wish) => check({ ...wish, annotations: { ...wish.annotations, "healthcheck-port": "http" } })?.port;
  assert.equal(named({ ports: [port(80, { name: "http" })] }), "31234");
  assert.equal(named({ ports: [port(80, { name: "http" })], ...annotated({ "nlb-target-type": "ip" }) }), "8080");
  assert.match(
    fault({ ports: [port(80, { name: "http", targetPort: "p" })], ...annotated({ "nlb-target-type": "ip", "healthcheck-port": "http" }) }),
    /^cannot use named healthCheckPort for IP TargetType/,
  );
  assert.match(
    fault(annotated({ "healthcheck-port": "nobody" })),
    /^failed to resolve healthCheckPort: unable to find port nobody on service shop\/web-frontend$/,
  );
  assert.match(fault(annotated({ "healthcheck-protocol": "ftp" })), /^unsupported health check protocol ftp/);
  assert.match(fault(annotated({ "healthcheck-interval": "soon" })), /^failed to parse int32 annotation, .*healthcheck-interval: soon/);
  assert.match(warnings(annotated({ "healthcheck-path": "/up" })), /healthcheck-path has no effect: the health check does not use it/);
});

test("attributes of target groups: base, port, proxy protocol", () => {
  const proxy = "proxy_protocol_v2.enabled";
  const of = (annotations: Readonly<Record<string, string>>) =>
    model({ annotations, ports: [port(80), port(81, { nodePort: 31235 })] }).targetGroups.map(({ attributes }) => attributes);
  assert.deepEqual(of({}), [{ [proxy]: "false" }, { [proxy]: "false" }]);
  assert.deepEqual(of({ "target-group-attributes": "a=1,b=2", "target-group-attributes.81": "a=9,b=,c=" }), [
    { a: "1", b: "2", [proxy]: "false" },
    { a: "9", b: "2", [proxy]: "false" },
  ]);
  assert.deepEqual(of({ "target-group-attributes": `${proxy}=` }), [{}, {}]);
  assert.deepEqual(of({ "proxy-protocol-per-target-group": "81", "target-group-attributes": `${proxy}=true` }), [
    { [proxy]: "false" },
    { [proxy]: "true" },
  ]);
  assert.deepEqual(of({ "proxy-protocol": "*", "proxy-protocol-per-target-group": "81" }), [{ [proxy]: "true" }, { [proxy]: "true" }]);
  assert.match(
    fault(annotated({ "proxy-protocol": "80" })),
    /^invalid value 80 for Load Balancer proxy protocol v2 annotation, only value currently supported is \*/,
  );
  assert.match(
    fault(annotated({ "proxy-protocol-per-target-group": "80,x" })),
    /^invalid port number in proxy-protocol-per-target-group: x/,
  );
  assert.match(
    fault(annotated({ "target-group-attributes": "preserve_client_ip.enabled=maybe" })),
    /^failed to parse attribute preserve_client_ip.enabled=maybe/,
  );
});

test("attributes of the load balancer: deprecated annotations go before the list", () => {
  const of = (annotations: Readonly<Record<string, string>>) => model({ annotations }).attributes;
  assert.deepEqual(of({}), {});
  assert.deepEqual(of({ attributes: "load_balancing.cross_zone.enabled=false,x=1", "cross-zone-load-balancing-enabled": "true" }), {
    "load_balancing.cross_zone.enabled": "true",
    x: "1",
  });
  const logs = { "access-log-s3-bucket-name": "b", "access-log-s3-bucket-prefix": "p" };
  assert.deepEqual(of({ ...logs, "access-log-enabled": "true" }), {
    "access_logs.s3.bucket": "b",
    "access_logs.s3.enabled": "true",
    "access_logs.s3.prefix": "p",
  });
  assert.deepEqual(of({ ...logs, "access-log-enabled": "false" }), {});
  assert.match(
    fault(annotated({ attributes: "dns_record.client_routing_policy=near" })),
    /^invalid dns_record.client_routing_policy set in annotation aws-load-balancer-attributes: got 'near' expected one of/,
  );
  assert.equal(model(annotated({ "minimum-load-balancer-capacity": "CapacityUnits=5" })).capacity, 5);
  assert.equal(
    model({ ...annotated({ "minimum-load-balancer-capacity": "x" }), gates: { capacityReservation: false } }).capacity,
    undefined,
  );
  assert.match(
    fault(annotated({ "minimum-load-balancer-capacity": "Units=5" })),
    /^invalid key to set the capacity: Units, Expected key: CapacityUnits/,
  );
  assert.match(fault(annotated({ "minimum-load-balancer-capacity": "CapacityUnits=x" })), /^invalid value to set the capacity: x/);
});

test("tags: marks before flags before annotations, or flags last", () => {
  const marks = {
    "elbv2.k8s.aws/cluster": "prod-eu",
    "service.k8s.aws/stack": "shop/web-frontend",
    "service.k8s.aws/resource": "LoadBalancer",
  };
  const of = (wish: Wish) => model(wish).tags;
  assert.deepEqual(of({}), marks);
  const wish = {
    ...annotated({ "additional-resource-tags": "team=shop,service.k8s.aws/stack=x" }),
    settings: { defaultTags: { team: "ops" } },
  };
  assert.deepEqual(of(wish), { team: "ops", ...marks });
  assert.deepEqual(of({ ...wish, gates: { defaultTagsLowPriority: true } }), { team: "shop", ...marks });
  assert.match(
    fault({ ...annotated({ "additional-resource-tags": "cost=1" }), settings: { externalManagedTags: ["cost"] } }),
    /^external managed tag key cost cannot be specified on Service$/,
  );
  const { listeners, targetGroups } = model();
  assert.deepEqual(
    [listeners[0]?.tags?.["service.k8s.aws/resource"], targetGroups[0]?.tags?.["service.k8s.aws/resource"]],
    ["80", "shop/web-frontend:80"],
  );
  assert.equal(model({ gates: { listenerRulesTagging: false } }).listeners[0]?.untagged, true);
});

const portsOpened = (wish: Wish) =>
  desire(wish).bindings[0]?.spec.networking?.ingress?.map(({ ports }) =>
    ports.map(({ protocol, port: number }) => `${protocol}:${number ?? "all"}`).join(" "),
  );
const sources = (wish: Wish) =>
  desire(wish).bindings[0]?.spec.networking?.ingress?.map(({ from }) => from.map(({ ipBlock }) => ipBlock?.cidr).join(" "));

test("what targets let in from the load balancer's group, by protocol and health check", () => {
  const udp = { ports: [port(53, { protocol: "UDP" })] };
  const both = { ports: [port(53), port(53, { protocol: "UDP" })], gates: { tcpUdpListener: true } };
  const health = annotated({ "healthcheck-port": "9" });
  assert.deepEqual(portsOpened({}), ["TCP:31234"]);
  assert.deepEqual(portsOpened(annotated(cert)), ["TCP:31234"]);
  assert.deepEqual(portsOpened(udp), ["UDP:31234 TCP:31234"]);
  assert.deepEqual(portsOpened({ ...udp, ...health }), ["UDP:31234 TCP:9"]);
  assert.deepEqual(portsOpened(both), ["UDP:31234 TCP:31234"]);
  assert.deepEqual(portsOpened({ ...both, ...health }), ["UDP:31234 TCP:31234 TCP:9"]);
  assert.deepEqual(portsOpened(health), ["TCP:31234 TCP:9"]);
  assert.deepEqual(portsOpened({ ports: [port(80, { targetPort: "http" })], ...annotated({ "nlb-target-type": "ip" }) }), ["TCP:http"]);
  const all = { settings: { restrictsRules: false } };
  assert.deepEqual(
    [portsOpened(all), portsOpened({ ...udp, ...all }), portsOpened({ ...both, ...all })],
    [["TCP:all"], ["TCP:all UDP:all"], ["TCP:all UDP:all"]],
  );
  assert.deepEqual(portsOpened({ ...annotated(cert), ...all }), ["TCP:all"]);
});

test("what targets let in for a load balancer without groups: clients, or its subnets", () => {
  const none = { "disable-nlb-sg": "true" };
  const open = { ...none, scheme: "internet-facing" };
  const ip = { "nlb-target-type": "ip" };
  const subnetCidrs = "10.0.1.0/24 10.0.2.0/24";
  assert.deepEqual(sources(annotated(open)), ["0.0.0.0/0"]);
  assert.deepEqual(sources(annotated(none)), ["10.0.0.0/16"], "clients of an internal one are in the VPC");
  assert.deepEqual(sources(annotated({ ...none, ...ip })), [subnetCidrs], "pods see the load balancer's addresses");
  assert.deepEqual(sources(annotated({ ...none, ...ip, "target-group-attributes": "preserve_client_ip.enabled=true" })), ["10.0.0.0/16"]);
  assert.deepEqual(sources(annotated({ ...none, "target-group-attributes": "preserve_client_ip.enabled=false" })), [subnetCidrs]);
  assert.deepEqual(sources({ ...annotated(none), sourceRanges: ["192.168.0.0/16"] }), ["192.168.0.0/16", subnetCidrs]);
  assert.deepEqual(sources({ ...annotated(open), sourceRanges: ["0.0.0.0/0"] }), ["0.0.0.0/0"]);
  assert.deepEqual(portsOpened({ ...annotated(none), ports: [port(53, { protocol: "UDP" })] }), ["UDP:31234", "TCP:31234"]);
  assert.deepEqual(
    portsOpened({ ...annotated({ ...none, "enable-tcp-udp-listener": "true" }), ports: [port(53), port(53, { protocol: "UDP" })] }),
    ["TCP:31234 UDP:31234"],
  );
  assert.deepEqual(portsOpened(annotated({ ...none, "healthcheck-port": "9" })), ["TCP:31234", "TCP:9"]);
  const quic = { ports: [port(443, { name: "q", protocol: "UDP" })], ...annotated({ ...none, ...ip, "quic-enabled-ports": "q" }) };
  assert.deepEqual(
    [sources(quic), portsOpened(quic)],
    [
      ["10.0.0.0/16", subnetCidrs],
      ["UDP:8080", "TCP:8080"],
    ],
    "health checks of QUIC go by TCP",
  );
  const merged = { ports: [port(53), port(53, { protocol: "UDP" })], ...annotated({ ...none, ...ip, "enable-tcp-udp-listener": "true" }) };
  assert.deepEqual(portsOpened(merged)?.[0], "TCP:8080 UDP:8080");
  const ipv6 = { ...annotated({ ...open, ...ip, "ip-address-type": "dualstack" }), ipFamilies: ["IPv6"] };
  assert.deepEqual(sources(ipv6), ["2001:db8:0:11::/64 2001:db8:0:12::/64"]);
  assert.equal(desire(annotated({ ...none, "manage-backend-security-group-rules": "false" })).bindings[0]?.spec.networking, undefined);
});

const canary = service({
  name: "web-canary",
  uid: "0b9c2f7e-1d53-4f0e-8a86-5c1d7e90aa02",
  ports: [port(81, { name: "http", targetPort: 8081 })],
});

test("weighted target groups: Services, ARNs, and what is wrong with them", () => {
  const around = { service: (namespace: string, name: string) => (namespace === "shop" && name === "web-canary" ? canary : undefined) };
  const action = (config: object, more: object = {}) => JSON.stringify({ type: "forward", forwardConfig: config, ...more });
  const wish = (text: string, more: Readonly<Record<string, string>> = {}): Wish => ({
    annotations: { "nlb-target-type": "ip", "/actions.TCP-80": text, ...more },
    around,
  });
  const share = { serviceName: "web-canary", servicePort: 81, weight: 20 };
  const wanted = model(
    wish(
      action({
        baseServiceWeight: 10,
        targetGroups: [share, { targetGroupARN: "arn:theirs", weight: 5 }],
        targetGroupStickinessConfig: { enabled: true },
      }),
    ),
  );
  assert.deepEqual(wanted.listeners[0]?.forward, {
    kind: "forward",
    to: [
      { group: "k8s-shop-webfront-8779e467a6", weight: 10 },
      { weight: 20, group: "k8s-shop-webcanar-20bbd0c1ed" },
      { weight: 5, arn: "arn:theirs" },
    ],
    stickiness: { enabled: true },
  });
  assert.deepEqual(
    desire(wish(action({ targetGroups: [share] }))).bindings.map(({ spec }) => spec.serviceRef),
    [
      { name: "web-frontend", port: 80 },
      { name: "web-canary", port: 81 },
    ],
  );
  const other = desire({ ...wish(action({ targetGroups: [share] })), uid: "another" });
  assert.notEqual(other.bindings[1]?.name, "k8s-shop-webcanar-20bbd0c1ed", "two Services that share a backend have a group each");
  const rows: readonly (readonly [string, RegExp])[] = [
    ["{", /^failed to parse json annotation, service.beta.kubernetes.io\/actions.TCP-80: \{/],
    [action({}, { type: "redirect" }), /^unknown action type: redirect/],
    ['{"type":"forward"}', /^missing ForwardConfig/],
    [
      action({ targetGroups: [{ weight: 1 }] }),
      /^invalid ForwardConfig: invalid TargetGroupTuple: precisely one of targetGroupARN and serviceName can be specified/,
    ],
    [action({ targetGroups: [{ ...share, targetGroupARN: "x" }] }), /precisely one of/],
    [action({ targetGroups: [{ serviceName: "web-canary" }] }), /invalid TargetGroupTuple: missing servicePort/],
    [action({ targetGroups: [{ ...share, weight: 1000 }] }), /target group weight must be between 0 and 999/],
    [
      action({ targetGroups: [share, { targetGroupARN: "x" }] }),
      /^invalid ForwardConfig: weight must be set when routing to multiple target groups/,
    ],
    [action({ targetGroups: [{ ...share, serviceName: "nobody" }] }), /unable to find service shop\/nobody/],
    [action({ targetGroups: [{ ...share, servicePort: "x" }] }), /unable to find port x on service shop\/web-canary/],
  ];
  for (const [text, message] of rows) assert.match(fault(wish(text)), message);
  assert.match(
    fault({ ...wish(action({ targetGroups: [share] })), gates: { weightedTargetGroups: false } }),
    /^weighted target groups feature is disabled$/,
  );
  const tls = desire({
    annotations: { ...cert, "nlb-target-type": "ip", "/actions.TLS-80": action({ targetGroups: [{ ...share, decrypt: true }] }) },
    around,
  });
  assert.deepEqual(
    tls.model.targetGroups.map(({ protocol }) => protocol),
    ["TCP", "TCP"],
  );
  assert.equal(
    desire({ annotations: { ...cert, "nlb-target-type": "ip", "/actions.TLS-80": action({ targetGroups: [share] }) }, around }).model
      .targetGroups[1]?.protocol,
    "TLS",
  );
  assert.match(
    warnings({ annotations: { "/actions.TCP-81": "{" } }),
    /actions.TCP-81 has no effect: the load balancer has no such listener or port/,
  );
});

test("annotations that are misspelt, unused or another cloud's", () => {
  assert.match(
    warnings(annotated({ "healtcheck-port": "9" })),
    /annotation service.beta.kubernetes.io\/aws-load-balancer-healtcheck-port is not known and has no effect: did you mean .*healthcheck-port/,
  );
  assert.equal(warnings({ annotations: { "/azure-load-balancer-internal": "true", "/aws-load-balancer-type": "external" } }), "");
  assert.match(warnings(annotated({ "ssl-ports": "80" })), /ssl-ports has no effect: there is no certificate/);
  assert.match(warnings(annotated({ "target-group-attributes.81": "a=b" })), /target-group-attributes.81 has no effect/);
  assert.match(
    warnings(annotated({ scheme: "internal", internal: "true" })),
    /aws-load-balancer-internal has no effect: aws-load-balancer-scheme takes precedence/,
  );
  assert.match(
    warnings(annotated({ "manage-backend-security-group-rules": "maybe" })),
    /manage-backend-security-group-rules has no effect/,
  );
  assert.match(
    warnings({ ...annotated({ "nlb-target-type": "ip", "target-node-labels": "a=b" }) }),
    /target-node-labels has no effect: pods are registered/,
  );
  assert.equal(warnings({}), "");
  assert.equal(
    warnings(annotated({ scheme: "x", "healthcheck-path": "/" })),
    "",
    "of one that cannot be read nobody knows what it would use",
  );
});
