import assert from "node:assert/strict";
import { test } from "node:test";
import { wantedGroups } from "../model.ts";
import { desireClassic } from "./desire-classic.ts";
import { port, type WishOptions, wish } from "./wish.fixture.ts";

const desired = (options?: WishOptions) => desireClassic(wish("classic", options));
const model = (options?: WishOptions) => desired(options).model;
const target = (annotations: Record<string, string>, rest: WishOptions = {}) => model({ annotations, ...rest }).healthCheck.target;
const certificate = "arn:aws:acm:us-east-1:123456789012:certificate/x";

test("every row of the listener table", () => {
  const rows: readonly (readonly [certificate: boolean, backend: string | undefined, protocol: string, instanceProtocol: string])[] = [
    [true, undefined, "ssl", "tcp"],
    [true, "", "ssl", "tcp"],
    [true, "tcp", "ssl", "tcp"],
    [true, "ssl", "ssl", "ssl"],
    [true, "http", "https", "http"],
    [true, "https", "https", "https"],
    [false, "http", "http", "http"],
    [false, "https", "tcp", "tcp"],
    [false, "bacon", "tcp", "tcp"],
    [false, undefined, "tcp", "tcp"],
  ];
  for (const [secure, backend, protocol, instanceProtocol] of rows) {
    const annotations = { ...(secure && { "ssl-cert": certificate }), ...(backend !== undefined && { "backend-protocol": backend }) };
    const [listener] = model({ annotations }).listeners;
    assert.deepEqual(
      listener,
      { port: 443, instancePort: 31443, protocol, instanceProtocol, ...(secure && { certificate }) },
      `certificate ${secure}, backend ${backend}`,
    );
  }
});

test("a backend protocol that is none is refused when there is a certificate", () => {
  for (const backend of ["bacon", "http=", "HTTP"]) {
    const [problem] = desired({ annotations: { "ssl-cert": certificate, "backend-protocol": backend } }).problems;
    assert.equal(
      problem?.message,
      `Invalid backend protocol ${backend} for ${certificate} in service.beta.kubernetes.io/aws-load-balancer-backend-protocol`,
    );
  }
});

test("ssl-ports chooses by number and by name", () => {
  const ports = [port(80, 30080, { name: "Web" }), port(443, 30443, { name: "tls" })];
  const protocols = (sslPorts: string) =>
    model({ annotations: { "ssl-cert": certificate, "ssl-ports": sslPorts }, service: { ports } }).listeners.map(
      ({ protocol }) => protocol,
    );
  assert.deepEqual(protocols("443"), ["tcp", "ssl"]);
  assert.deepEqual(protocols("web"), ["ssl", "tcp"]);
  assert.deepEqual(protocols("other, 443"), ["tcp", "tcp"]);
  assert.deepEqual(protocols("*"), ["ssl", "ssl"]);
});

test("the health check has the defaults of the reference, and each of its overrides", () => {
  assert.deepEqual(model().healthCheck, { target: "TCP:31443", healthyThreshold: 2, unhealthyThreshold: 6, interval: 10, timeout: 5 });
  assert.equal(target({ "backend-protocol": "https" }), "SSL:31443");
  assert.equal(target({ "healthcheck-protocol": "http" }), "http:31443/");
  assert.equal(target({ "healthcheck-protocol": "HTTPS", "healthcheck-path": "/ready", "healthcheck-port": "8443" }), "HTTPS:8443/ready");
  assert.equal(target({ "healthcheck-protocol": "SSL", "healthcheck-path": "/ready" }), "SSL:31443");
  assert.equal(target({ "healthcheck-port": "traffic-port" }), "TCP:31443");
});

test("a Service with local traffic is checked on its own port", () => {
  const service = { local: true, healthCheckNodePort: 32000 };
  assert.equal(target({}, { service }), "HTTP:32000/healthz");
  assert.equal(target({ "healthcheck-port": "traffic-port" }, { service }), "HTTP:31443/healthz");
});

test("a shared probe serves the others, and annotations win over it", () => {
  const settings = { sharedProbe: { port: 10256, path: "/healthz" } };
  assert.equal(target({}, { settings }), "HTTP:10256/healthz");
  assert.equal(target({ "healthcheck-protocol": "tcp" }, { settings }), "tcp:10256");
});

test("thresholds that AWS would refuse are all named at once", () => {
  const annotations = {
    "healthcheck-healthy-threshold": "1",
    "healthcheck-unhealthy-threshold": "1",
    "healthcheck-interval": "1",
    "healthcheck-timeout": "1",
  };
  assert.equal(
    desired({ annotations }).problems[0]?.message,
    'cannot update health check for load balancer "a0f1e2d3c4b5a69788796a5b4c3d2e1f": "some of the load balancer health check parameters are invalid: ' +
      "HealthCheck validation errors: HealthyThreshold must be at least 2; Interval must be at least 5; Timeout must be at least 2; " +
      'UnhealthyThreshold must be at least 2"',
  );
});

test("the managed group lets clients in on every port, also those without a node port, and the ICMP they need", () => {
  const [first] = wantedGroups(model({ service: { ports: [port(80, 30080), port(81, 0)] }, sourceRanges: ["10.0.0.0/8"] }));
  assert.ok(first?.kind === "managed");
  assert.equal(first.group.name, "k8s-elb-a0f1e2d3c4b5a69788796a5b4c3d2e1f");
  assert.deepEqual(first.group.rules, [
    { protocol: "tcp", fromPort: 80, toPort: 80, cidr: "10.0.0.0/8" },
    { protocol: "tcp", fromPort: 81, toPort: 81, cidr: "10.0.0.0/8" },
    { protocol: "icmp", fromPort: 3, toPort: 4, cidr: "10.0.0.0/8" },
  ]);
});

test("given groups replace the managed one, the configured group comes next, extra ones are appended", () => {
  const groups = (annotations: Record<string, string>, elbSecurityGroup?: string) =>
    wantedGroups(model({ annotations, settings: { elbSecurityGroup } })).map((entry) => (entry.kind === "given" ? entry.id : "managed"));
  assert.deepEqual(groups({}), ["managed"]);
  assert.deepEqual(groups({ "extra-security-groups": " sg-x, ,sg-y" }), ["managed", "sg-x", "sg-y"]);
  assert.deepEqual(groups({ "extra-security-groups": "sg-x" }, "sg-global"), ["sg-global", "sg-x"]);
  assert.deepEqual(groups({ "security-groups": "sg-1,sg-2", "extra-security-groups": "sg-x" }, "sg-global"), ["sg-1", "sg-2", "sg-x"]);
});
