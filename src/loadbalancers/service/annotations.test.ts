import assert from "node:assert/strict";
import { test } from "node:test";
import { annotationPrefix } from "./annotations.ts";
import type { Kind } from "./kinds.ts";
import { readOptions } from "./options.ts";
import { wantedKindOf } from "./type-annotation.ts";

const keyed = (annotations: Record<string, string>) =>
  Object.fromEntries(Object.entries(annotations).map(([name, value]) => [annotationPrefix + name, value]));
const read = (kind: Kind, annotations: Record<string, string>) => readOptions(keyed(annotations), kind);
const problems = (kind: Kind, annotations: Record<string, string>) => read(kind, annotations).problems.map(({ message }) => message);

test("the kind is exact and case-sensitive", () => {
  const kinds = ["nlb", "nlb-ip", "external", "elb", "NLB", "toString", ""].map((type) => wantedKindOf(keyed({ type })));
  assert.deepEqual([...kinds, wantedKindOf({})], ["network", "foreign", "foreign", "unknown", "unknown", "unknown", "classic", "classic"]);
});

test("without annotations everything has its default and nothing is wrong", () => {
  for (const kind of ["classic", "network"] as const) {
    const { options, problems: found, warnings } = read(kind, {});
    assert.deepEqual([found, warnings], [[], []]);
    assert.equal(options.internal, false);
    assert.equal(options.idleTimeout, 60);
    assert.equal(options.crossZone, false);
    assert.equal(options.sslPorts, "all");
  }
});

test("a value that cannot be read is refused with its key, value and what is allowed", () => {
  for (const name of ["access-log-enabled", "cross-zone-load-balancing-enabled", "connection-draining-enabled"]) {
    assert.deepEqual(problems("classic", { [name]: "maybe" }), [
      `error parsing service annotation: ${annotationPrefix}${name}=maybe (takes \`true\` or \`false\`)`,
    ]);
  }
  for (const name of ["connection-idle-timeout", "connection-draining-timeout", "access-log-emit-interval"]) {
    assert.match(problems("classic", { [name]: "99999999999" })[0] ?? "", /^error parsing service annotation: /, name);
    assert.deepEqual(problems("network", { [name]: "x" }), [], "a network load balancer never looks at it");
  }
  assert.match(problems("classic", { "healthcheck-interval": "3.3" })[0] ?? "", /^failed parsing health check annotation value/);
  assert.match(problems("network", { "healthcheck-interval": "non-numeric" })[0] ?? "", /^failed to parse annotation/);
});

test("present but empty counts as absent, except where it never did", () => {
  for (const name of [
    "ssl-cert",
    "ssl-ports",
    "backend-protocol",
    "proxy-protocol",
    "access-log-enabled",
    "internal",
    "additional-resource-tags",
  ]) {
    assert.deepEqual(problems("classic", { [name]: "" }), [], name);
  }
  assert.deepEqual(problems("classic", { subnets: "" }), ["unable to resolve empty subnet slice"]);
  assert.equal(problems("classic", { "healthcheck-timeout": "" }).length, 1);
  assert.deepEqual(problems("network", { "extra-security-groups": "" }), [
    `BYO extra security group annotation "${annotationPrefix}extra-security-groups" is not supported by NLB`,
  ]);
  assert.deepEqual(problems("classic", { "target-group-attributes": "" }), [
    "target group attributes annotation is only supported for NLB",
  ]);
  assert.deepEqual(problems("network", { "target-group-attributes": "" }), []);
});

test("proxy protocol knows one value", () => {
  assert.equal(read("classic", { "proxy-protocol": "*" }).options.proxyProtocol, true);
  assert.deepEqual(problems("classic", { "proxy-protocol": "80" }), [
    `annotation "${annotationPrefix}proxy-protocol"="80" detected, but the only value supported currently is '*'`,
  ]);
  assert.deepEqual(problems("network", { "proxy-protocol": "80" }), []);
});

test("internal is any text but false, and an odd one is pointed out", () => {
  const internal = (value: string) => read("classic", { internal: value });
  assert.deepEqual(
    ["true", "false", "", "False", "0.0.0.0/0"].map((value) => internal(value).options.internal),
    [true, false, false, true, true],
  );
  assert.equal(internal("True").warnings.length, 1);
  assert.equal(internal("true").warnings.length, 0);
});

test("target group attributes: each fault has its own words", () => {
  const faults = (value: string) => problems("network", { "target-group-attributes": value });
  const prefix = "error validating target group attributes: ";
  assert.deepEqual(faults("preserve_client_ip.enabled"), [`${prefix}attribute value is empty for "preserve_client_ip.enabled"`]);
  assert.match(faults("preserve_client_ip.enabled=True")[0] ?? "", /invalid attribute value for "preserve_client_ip.enabled": True/);
  assert.match(faults("preserve_client_ip.enabled= true ")[0] ?? "", /invalid attribute value/);
  assert.match(
    faults("deregistration_delay=1")[0] ?? "",
    /the attribute "deregistration_delay" is not supported by the controller or is invalid/,
  );
  assert.deepEqual(faults("proxy_protocol_v2.enabled=x,proxy_protocol_v2.enabled=true"), []);
});

test("a key that looks like a typo of a known one is pointed out; another controller's are left alone", () => {
  const warnings = (annotations: Record<string, string>) => read("classic", annotations).warnings.map(({ message }) => message);
  assert.match(
    warnings({ "ssl-certs": "x" })[0] ?? "",
    /ssl-certs is not known and has no effect: did you mean .*aws-load-balancer-ssl-cert\?/,
  );
  assert.deepEqual(warnings({ scheme: "internal", "nlb-target-type": "ip" }), []);
  assert.deepEqual(readOptions({ "example.com/other": "x" }, "classic").warnings, []);
});

test("a name must be one that AWS takes", () => {
  for (const name of ["web", "a", "my-lb-1", "x".repeat(32)]) assert.deepEqual(problems("network", { name }), [], name);
  for (const name of ["-web", "web-", "internal-web", "x".repeat(33), "a_b"]) assert.equal(problems("network", { name }).length, 1, name);
});
