import assert from "node:assert/strict";
import { test } from "node:test";
import { desireNetwork, mappingProblems, nodeAccess } from "./desire-network.ts";
import { port, type WishOptions, wish } from "./wish.fixture.ts";

const desired = (options?: WishOptions) => desireNetwork(wish("network", options));
const model = (options?: WishOptions) => desired(options).model;
const messages = (options?: WishOptions) => desired(options).problems.map(({ message }) => message);
const check = (options?: WishOptions) => model(options).targetGroups[0]?.healthCheck;
const certificate = "arn:aws:acm:us-east-1:123456789012:certificate/x";

/** What the listener of port 443 has without annotations. */
const plain = {
  certificates: [],
  attributes: {},
  forward: { kind: "forward", to: [{ group: "k8s-prodweb-edgegate-e99adf332e" }] },
  why: "the Service has port 443",
};

test("a plain port becomes a TCP listener on a target group with the reference's name", () => {
  const { listeners, targetGroups } = model();
  assert.deepEqual(listeners, [{ ...plain, port: 443, protocol: "TCP" }]);
  assert.deepEqual(targetGroups[0]?.targets, ["i-1", "i-2"]);
  assert.deepEqual(check(), {
    protocol: "TCP",
    port: "traffic-port",
    path: undefined,
    interval: 30,
    healthyThreshold: 3,
    unhealthyThreshold: 3,
    timeout: undefined,
  });
});

test("a certificate makes it TLS, with TLS behind it only when asked for", () => {
  const secure = model({ annotations: { "ssl-cert": certificate, "ssl-negotiation-policy": "p" } });
  assert.deepEqual(secure.listeners[0], { ...plain, port: 443, protocol: "TLS", certificates: [certificate], sslPolicy: "p" });
  const behind = model({ annotations: { "ssl-cert": certificate, "backend-protocol": "ssl" } });
  assert.deepEqual(
    behind.targetGroups.map(({ protocol, name }) => [protocol, name]),
    [["TLS", "k8s-prodweb-edgegate-6991ff6d99"]],
  );
});

test("UDP takes no certificate, and mixed protocols get a listener each", () => {
  const ports = [port(53, 30053, { protocol: "UDP" }), port(443, 31443)];
  const { listeners } = model({ annotations: { "ssl-cert": certificate }, service: { ports } });
  assert.deepEqual(
    listeners.map(({ protocol }) => protocol),
    ["UDP", "TLS"],
  );
});

test("TCP and UDP on one port share a listener when they share the node port, and are refused when not", () => {
  const both = (nodePort: number) => ({ service: { ports: [port(53, 30053), port(53, nodePort, { protocol: "UDP" })] } });
  assert.deepEqual(
    model(both(30053)).listeners.map(({ protocol }) => protocol),
    ["TCP_UDP"],
  );
  assert.match(messages(both(30054))[0] ?? "", /need the same node port/);
});

test("the health check follows the traffic policy, the annotations and the shared probe, in this order", () => {
  const local = { local: true, healthCheckNodePort: 32000 };
  const brief = (options: WishOptions) => {
    const { protocol, port: at, path, interval, healthyThreshold, unhealthyThreshold } = check(options)!;
    return [protocol, at, path, interval, healthyThreshold, unhealthyThreshold];
  };
  assert.deepEqual(brief({ service: local }), ["HTTP", "32000", "/healthz", 10, 2, 2]);
  assert.deepEqual(brief({ annotations: { "healthcheck-protocol": "http" } }), ["HTTP", "traffic-port", "/", 30, 3, 3]);
  assert.deepEqual(brief({ annotations: { "healthcheck-protocol": "tcp", "healthcheck-path": "/x" }, service: local }), [
    "TCP",
    "32000",
    undefined,
    10,
    2,
    2,
  ]);
  const numbers = { "healthcheck-interval": "23", "healthcheck-healthy-threshold": "7", "healthcheck-unhealthy-threshold": "5" };
  assert.deepEqual(brief({ annotations: numbers }), ["TCP", "traffic-port", undefined, 23, 7, 5]);
  const settings = { sharedProbe: { port: 8080, path: "/alive" } };
  assert.deepEqual(brief({ annotations: { "healthcheck-protocol": "tcp", "healthcheck-port": "9" }, settings }), [
    "HTTP",
    "8080",
    "/alive",
    30,
    3,
    3,
  ]);
  assert.deepEqual(brief({ service: local, settings }), ["HTTP", "32000", "/healthz", 10, 2, 2]);
});

test("what the health check cannot be is refused by name", () => {
  assert.match(messages({ annotations: { "healthcheck-protocol": "" } })[0] ?? "", /^Unsupported health check protocol /);
  assert.match(messages({ annotations: { "healthcheck-protocol": "udp" } })[0] ?? "", /^Unsupported health check protocol UDP/);
  assert.deepEqual(messages({ annotations: { "healthcheck-port": "http" } }), ["Invalid health check port 'http'"]);
});

test("elastic IPs and private addresses are paired with subnets in the order given", () => {
  const { subnets } = model({ annotations: { "eip-allocations": "eipalloc-1, eipalloc-2" } });
  assert.deepEqual(
    subnets.map(({ subnet, allocation }) => [subnet, allocation]),
    [
      ["subnet-a", "eipalloc-1"],
      ["subnet-b", "eipalloc-2"],
    ],
  );
  const wrong = (options: WishOptions) => mappingProblems(wish("network", options)).map(({ message }) => message);
  assert.deepEqual(wrong({ annotations: { "eip-allocations": "eipalloc-1" } }), [
    "error creating load balancer: Must have same number of EIP AllocationIDs (1) and SubnetIDs (2)",
  ]);
  assert.deepEqual(wrong({ annotations: { "private-ipv4-addresses": "" } }), [
    "error creating load balancer: Must have same number of Private IPv4Addresses (1) and SubnetIDs (2)",
  ]);
});

test("security groups: as they are, given, or managed", () => {
  assert.deepEqual(model({ annotations: { "security-groups": "sg-1" } }).securityGroups, { kind: "as-it-is" });
  const managed = { managedNetworkGroups: true };
  assert.deepEqual(model({ annotations: { "security-groups": " sg-1 ,sg-2" }, settings: managed }).securityGroups, {
    kind: "wanted",
    groups: [
      { kind: "given", id: "sg-1" },
      { kind: "given", id: "sg-2" },
    ],
  });
  const { securityGroups } = model({ annotations: { "ssl-cert": certificate }, settings: managed });
  assert.ok(securityGroups.kind === "wanted" && securityGroups.groups[0]?.kind === "managed");
  assert.equal(securityGroups.groups[0].group.name, "k8s-prodweb-edgegate-f6d62c365a");
  assert.equal(securityGroups.groups[0].group.rules[0]?.protocol, "tcp", "EC2 knows no protocol tls");
});

test("attributes: cross-zone and access logs are always managed, where the logs go only while they are on", () => {
  assert.deepEqual(model().attributes, { "load_balancing.cross_zone.enabled": "false", "access_logs.s3.enabled": "false" });
  const logs = { "access-log-enabled": "true", "access-log-s3-bucket-name": "logs" };
  assert.deepEqual(model({ annotations: logs }).attributes, {
    "load_balancing.cross_zone.enabled": "false",
    "access_logs.s3.enabled": "true",
    "access_logs.s3.bucket": "logs",
    "access_logs.s3.prefix": "",
  });
});

test("client IP preservation cannot be turned off for UDP", () => {
  const annotations = { "target-group-attributes": "preserve_client_ip.enabled=false" };
  assert.deepEqual(messages({ annotations }), []);
  assert.match(
    messages({ annotations, service: { ports: [port(53, 30053, { protocol: "UDP" })] } })[0] ?? "",
    /can't be disabled for UDP ports/,
  );
});

test("nodes let clients in on the node ports and health checks on theirs", () => {
  const ports = [port(53, 30053), port(53, 30053, { protocol: "UDP" }), port(80, 30080)];
  const asked = wish("network", { service: { ports }, sourceRanges: ["10.0.0.0/8"], annotations: { "healthcheck-port": "9000" } });
  assert.deepEqual(nodeAccess(desireNetwork(asked).model, asked), {
    kind: "from-clients",
    loadBalancer: asked.name,
    ports: [
      { protocol: "tcp", port: 30053 },
      { protocol: "udp", port: 30053 },
      { protocol: "tcp", port: 30080 },
    ],
    cidrs: ["10.0.0.0/8"],
    healthPorts: [9000],
  });
});

test("nodes let in the allow list instead of everybody, and nobody else where source ranges are given", () => {
  const settings = { publicNetworkAllowList: ["198.51.100.0/24"] };
  const clients = (options: WishOptions) => {
    const asked = wish("network", options);
    const access = nodeAccess(desireNetwork(asked).model, asked);
    return access.kind === "from-clients" ? access.cidrs : [];
  };
  assert.deepEqual(clients({ settings, sourceRanges: ["0.0.0.0/0"] }), ["198.51.100.0/24"]);
  assert.deepEqual(clients({ settings, sourceRanges: ["10.1.0.0/16"] }), ["10.1.0.0/16"]);
  assert.deepEqual(clients({ sourceRanges: ["0.0.0.0/0"] }), ["0.0.0.0/0"]);
});
