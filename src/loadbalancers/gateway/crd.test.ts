import assert from "node:assert/strict";
import { test } from "node:test";
import { completeBySchema, schemaErrors } from "../../sandbox/cluster/embedded/schema.ts";
import { loadBalancerConfigurationDefinition, targetGroupConfigurationDefinition } from "./crd.ts";
import { listenerRuleConfigurationDefinition } from "./rule-crd.ts";

type Definition = typeof loadBalancerConfigurationDefinition;

/** What the everyday checks of a server say of a spec, and the spec with its defaults. The rest (lengths of lists, rules in CEL) a real server is asked: test/integration. */
function stored(definition: Definition, spec: object) {
  const schema = structuredClone(definition.spec.versions[0]!.schema.openAPIV3Schema) as never;
  const object = {
    apiVersion: "gateway.k8s.aws/v1",
    kind: definition.spec.names.kind,
    metadata: { name: "x" },
    spec: structuredClone(spec),
  } as never;
  completeBySchema(object, schema);
  return { errors: schemaErrors(object, schema).map(({ field }) => field), spec: (object as { spec: unknown }).spec };
}
const balancer = (spec: object) => stored(loadBalancerConfigurationDefinition, spec);
const targets = (spec: object) => stored(targetGroupConfigurationDefinition, spec);
const rule = (spec: object) => stored(listenerRuleConfigurationDefinition, spec);
const isTaken = ({ errors }: { readonly errors: readonly string[] }) => errors.length === 0;

test("two versions are served, the newer is stored, and the older one warns", () => {
  for (const { spec, metadata } of [
    loadBalancerConfigurationDefinition,
    targetGroupConfigurationDefinition,
    listenerRuleConfigurationDefinition,
  ]) {
    assert.equal(metadata.name, `${spec.names.plural}.gateway.k8s.aws`);
    const versions = spec.versions.map(({ name, storage, deprecationWarning }) => [name, storage, deprecationWarning]);
    const warning = `gateway.k8s.aws/v1beta1 ${spec.names.kind} is deprecated; use gateway.k8s.aws/v1 instead`;
    assert.deepEqual(versions, [
      ["v1", true, undefined],
      ["v1beta1", false, warning],
    ]);
    assert.deepEqual(spec.versions[0]?.schema, spec.versions[1]?.schema);
  }
});

test("the names of a listener, and the bounds of a port", () => {
  const takes = (protocolPort: string) => isTaken(balancer({ listenerConfigurations: [{ protocolPort }] }));
  for (const good of ["HTTPS:443", "HTTP:1", "TCP_UDP:65535", "UDP:53", ":80", "TLS:"]) assert.equal(takes(good), true, good);
  for (const bad of ["https:443", "HTTP:0", "HTTP:65536", "QUIC:443", "443", "HTTP:080"]) assert.equal(takes(bad), false, bad);
});

test("words and bounds that a server checks", () => {
  for (const [takes, spec] of [
    [true, {}],
    [true, { loadBalancerName: "a".repeat(32), scheme: "internal", mergingMode: "prefer-gateway" }],
    [false, { loadBalancerName: "" }],
    [false, { scheme: "public" }],
    [false, { ipAddressType: "ipv6" }],
    [false, { mergingMode: "merge" }],
    [false, { minimumLoadBalancerCapacity: {} }],
    [false, { wafV2: {} }],
    [false, { listenerConfigurations: [{}] }],
    [false, { loadBalancerAttributes: [{ key: "a" }] }],
  ] as const)
    assert.equal(isTaken(balancer(spec)), takes, JSON.stringify(spec));
  assert.equal(isTaken(targets({ targetReference: {} })), false);
  assert.equal(isTaken(targets({ routeConfigurations: [{ routeIdentifier: { kind: "HTTPRoute" } }] })), false);
  assert.equal(isTaken(targets({ defaultConfiguration: { protocol: "QUIC" } })), false);
  assert.equal(isTaken(rule({ conditions: [{ field: "host-header" }] })), false);
  assert.equal(isTaken(rule({ actions: [{ type: "jwt-validation", jwtValidationConfig: { issuer: "i" } }] })), false);
});

test("defaults are filled in", () => {
  assert.deepEqual(targets({ targetReference: { name: "web" } }).spec, { targetReference: { group: "", kind: "Service", name: "web" } });
  assert.deepEqual(balancer({ listenerConfigurations: [{ protocolPort: "TLS:443" }] }).spec, {
    listenerConfigurations: [{ protocolPort: "TLS:443", alpnPolicy: "None" }],
  });
  assert.deepEqual(rule({ actions: [{ type: "forward", forwardConfig: {} }] }).spec, {
    actions: [{ type: "forward", forwardConfig: { targetGroupStickinessConfig: { enabled: false, durationSeconds: 3600 } } }],
  });
});
