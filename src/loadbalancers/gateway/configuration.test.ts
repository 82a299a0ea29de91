import assert from "node:assert/strict";
import { test } from "node:test";
import { missingKinds, servesSets } from "./activation.ts";
import type { LoadBalancerSettings, TargetGroupConfiguration } from "./config.ts";
import { configurationOf, processedAnnotation, readClass } from "./configuration.ts";
import { flavours } from "./flavours.ts";
import { gateway } from "./gateway.fixture.ts";
import type { ClassView } from "./view.ts";

const ref = (name: string, namespace?: string) => ({
  group: "gateway.k8s.aws",
  kind: "LoadBalancerConfiguration",
  name,
  ...(namespace && { namespace }),
});

const accepted = { type: "Accepted", status: "True", reason: "Accepted", message: "" } as const;

const gatewayClass = (more: Partial<ClassView> = {}): ClassView => ({
  name: "alb",
  generation: 1,
  controllerName: "gateway.k8s.aws/alb",
  annotations: { [processedAnnotation]: "7" },
  finalizers: [],
  isDeleted: false,
  conditions: [accepted],
  ...more,
});

const sources = (
  loadBalancers: Readonly<Record<string, LoadBalancerSettings>>,
  targetGroups: Readonly<Record<string, TargetGroupConfiguration>> = {},
) => ({
  loadBalancer: (key: string) => (loadBalancers[key] ? { spec: loadBalancers[key], resourceVersion: "7" } : undefined),
  targetGroup: (key: string) => (targetGroups[key] ? { spec: targetGroups[key], resourceVersion: "8" } : undefined),
});

const both = {
  "infra/class": { scheme: "internal", tags: { a: "class" } },
  "shop/own": { scheme: "internet-facing", loadBalancerName: "own" },
} as const;
const own = gateway([], { parametersRef: ref("own") });
const configured = gatewayClass({ parametersRef: ref("class", "infra") });

test("a Gateway has what its class says and what it says itself, either, or nothing", () => {
  assert.deepEqual(configurationOf(gateway([]), gatewayClass(), sources({})), { config: {} });
  assert.deepEqual(configurationOf(gateway([]), configured, sources(both)).config, both["infra/class"]);
  assert.deepEqual(configurationOf(own, gatewayClass(), sources(both)).config, both["shop/own"]);
  assert.deepEqual(configurationOf(own, configured, sources(both)).config, {
    scheme: "internal",
    tags: { a: "class" },
    loadBalancerName: "own",
  });
});

test("what keeps a Gateway from being configured is said", () => {
  const faults: readonly [() => unknown, RegExp][] = [
    [() => configurationOf(own, gatewayClass({ conditions: [] }), sources(both)), /gateway class \[alb\] is not accepted/],
    [() => configurationOf(own, gatewayClass({ conditions: [{ ...accepted, status: "False" }] }), sources(both)), /is not accepted/],
    [
      () => configurationOf(own, { ...configured, annotations: { [processedAnnotation]: "6" } }, sources(both)),
      /hasn't processed latest loadbalancer config\. Processed version 6, Latest version 7/,
    ],
    [() => configurationOf(gateway([]), configured, sources({})), /LoadBalancerConfiguration \(class,infra\) not found/],
    [() => configurationOf(own, gatewayClass(), sources({})), /LoadBalancerConfiguration \(own,shop\) not found/],
    [
      () => configurationOf(gateway([], { parametersRef: { ...ref("own"), kind: "ConfigMap" } }), gatewayClass(), sources(both)),
      /it takes a gateway\.k8s\.aws\/LoadBalancerConfiguration/,
    ],
  ];
  for (const [read, told] of faults) assert.throws(read, told);
});

test("the default of target groups: found beside its configuration, without a reference of its own", () => {
  const named = { "shop/own": { defaultTargetGroupConfiguration: { name: "t" } } };
  const settings = { defaultConfiguration: { targetType: "ip" } } as const;
  const read = (targetGroups: Readonly<Record<string, TargetGroupConfiguration>>) =>
    configurationOf(own, gatewayClass(), sources(named, targetGroups)).targets;
  assert.deepEqual(read({ "shop/t": settings }), settings);
  assert.throws(() => read({}), /failed to resolve default TargetGroupConfiguration shop\/t: not found/);
  assert.throws(() => read({ "shop/t": { ...settings, targetReference: { name: "web" } } }), /it has a targetReference/);
});

test("a class: the version that it has processed, or why it is not accepted", () => {
  const all = sources({ "infra/class": { defaultTargetGroupConfiguration: { name: "t" } } }, { "infra/t": {} });
  const versionOf = (read: ReturnType<typeof readClass>) => ("fault" in read ? read.fault : read.version);
  assert.equal(versionOf(readClass(gatewayClass(), all)), "");
  assert.equal(versionOf(readClass(configured, sources(both))), "7");
  assert.equal(versionOf(readClass(configured, all)), "7-8");
  assert.equal(versionOf(readClass(gatewayClass({ parametersRef: ref("class") }), all)), "InvalidParametersRef");
  assert.equal(versionOf(readClass(configured, sources({}))), "NotFound");
  assert.equal(
    versionOf(readClass(configured, sources({ "infra/class": { defaultTargetGroupConfiguration: { name: "t" } } }))),
    "InvalidParameters",
  );
});

const api = "gateway.networking.k8s.io";
const everything = new Map<string, ReadonlySet<string>>([
  [`${api}/v1`, new Set(["Gateway", "GatewayClass", "HTTPRoute", "GRPCRoute", "TCPRoute", "UDPRoute", "TLSRoute", "ListenerSet"])],
  [`${api}/v1beta1`, new Set(["ReferenceGrant"])],
  ["gateway.k8s.aws/v1", new Set(["LoadBalancerConfiguration", "TargetGroupConfiguration", "ListenerRuleConfiguration"])],
]);

test("each kind of Gateway waits for exactly the kinds that it needs", () => {
  for (const flavour of Object.values(flavours)) {
    assert.deepEqual(missingKinds(flavour, everything), []);
    for (const [version, kinds] of everything) {
      for (const kind of kinds) {
        const without = new Map([...everything, [version, new Set([...kinds].filter((each) => each !== kind))] as const]);
        const isOptional = kind === "ListenerSet" || (kind.endsWith("Route") && !flavour.routeKinds.some((each) => each === kind));
        assert.deepEqual(missingKinds(flavour, without), isOptional ? [] : [`${kind}.${version}`], `${flavour.name} without ${kind}`);
      }
    }
    assert.ok(missingKinds(flavour, new Map()).length > 0);
  }
  assert.deepEqual([servesSets(everything), servesSets(new Map())], [true, false]);
});
