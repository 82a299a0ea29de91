/** `fairlead migrate`: the Gateway that gives what an Ingress has, printed and not applied. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { objectsIn } from "../../src/commands/manifest-file.ts";
import { migrate } from "../../src/commands/migrate.ts";
import { loadBalancerConfigurationDefinition, targetGroupConfigurationDefinition } from "../../src/loadbalancers/gateway/crd.ts";
import { command } from "../bed/command.ts";
import { type IngressWorld, ingressWorld } from "../bed/ingress-world.ts";

async function bed(t: TestContext): Promise<IngressWorld> {
  const world = await ingressWorld();
  t.after(() => world.close());
  for (const name of ["web", "api"]) {
    await world.service(name);
    await world.pods(name, 1);
  }
  const definitions = [gatewayClassDefinition, loadBalancerConfigurationDefinition, targetGroupConfigurationDefinition];
  for (const each of definitions) await world.say("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", each);
  const where = `Zone=us-east-1a\nVPC=${world.network.vpcId}\nSubnetID=${world.network.publicSubnetIds[0]}\nKubernetesClusterID=test\n`;
  await world.world.files.write("/etc/cloud", `[Global]\n${where}`, 0o600);
  return world;
}

/** As much of it as a command reads. */
const gatewayClassDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "gatewayclasses.gateway.networking.k8s.io" },
  spec: {
    group: "gateway.networking.k8s.io",
    scope: "Cluster",
    names: { kind: "GatewayClass", listKind: "GatewayClassList", plural: "gatewayclasses", singular: "gatewayclass" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

const gatewayClass = (name: string, spec: object) => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "GatewayClass",
  metadata: { name },
  spec,
});

const settings = ["--cluster-name=test"];

interface Printed {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
}

const printed = (out: string) => objectsIn(out) as readonly Printed[];
const names = (objects: readonly Printed[]) => objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

test("an Ingress that is served: everything that takes its place is printed, and nothing is changed", async (t) => {
  const world = await bed(t);
  world.serve();
  const annotations = { "target-type": "ip", scheme: "internet-facing", "healthcheck-path": "/up" };
  await world.ingress("shop", { "shop.example.com": ["Prefix / web:80", "Exact /api api:80"] }, annotations);
  await world.until("served", () => world.hostname("shop") !== "", 120_000);
  await world.world.advance(60_000);
  world.resetCalls();
  const { status, out, err } = await command(world, migrate, "ingress/shop", ...settings);
  assert.deepEqual([status, err], [0, ""]);
  assert.deepEqual(world.mutations(), {});
  assert.deepEqual(names(printed(out)), [
    "GatewayClass aws-alb",
    "LoadBalancerConfiguration shop",
    "Gateway shop",
    "TargetGroupConfiguration api",
    "TargetGroupConfiguration web",
    "HTTPRoute shop",
  ]);
});

test("what a Gateway cannot say is told with its annotation, and the status tells it too", async (t) => {
  const world = await bed(t);
  const annotations = { "target-type": "ip", "enable-frontend-nlb": "true", "load-balancer-name": "shop-lb" };
  await world.ingress("shop", { "*": ["Prefix / web:80"] }, annotations);
  const { status, out, err } = await command(world, migrate, "ing/default/shop", ...settings);
  assert.equal(status, 2);
  assert.match(err, /^fairlead migrate: Ingress default\/shop: .*name shop-lb is left out/m);
  assert.match(
    err,
    /^fairlead migrate: Ingress default\/shop: alb\.ingress\.kubernetes\.io\/enable-frontend-nlb: "true": a Gateway has no/m,
  );
  assert.ok(names(printed(out)).includes("Gateway shop"), "the rest is printed all the same");
});

test("a group by its name, or by one of its Ingresses, is one Gateway; a dry run is one until its annotation goes", async (t) => {
  const world = await bed(t);
  const shared = { "group.name": "g", "target-type": "ip" };
  await world.ingress("a", { "a.example.com": ["Prefix / web:80"] }, shared);
  await world.ingress("b", { "b.example.com": ["Prefix / web:80"] }, shared);
  const byIngress = await command(world, migrate, "ingress/b", ...settings);
  const { status, out, err } = await command(world, migrate, "group/g", "--dry-run", "--gateway-class=edge", ...settings);
  assert.deepEqual([byIngress.status, status, err], [0, 0, ""]);
  const objects = printed(out);
  assert.deepEqual(names(objects), [
    "GatewayClass edge",
    "LoadBalancerConfiguration g",
    "Gateway g",
    "TargetGroupConfiguration web",
    "HTTPRoute r01-a",
    "HTTPRoute r02-b",
  ]);
  const { annotations } = objects.find(({ kind }) => kind === "Gateway")!.metadata;
  assert.deepEqual(annotations, { "gateway.k8s.aws/migrated-from": "ingress-group/g", "gateway.k8s.aws/dry-run": "true" });
});

test("a class that exists: it is not printed, what it says to all its Gateways is told, and one of another controller is refused", async (t) => {
  const world = await bed(t);
  await world.ingress("shop", { "*": ["Prefix / web:80"] }, { "target-type": "ip" });
  const classes = "/apis/gateway.networking.k8s.io/v1/gatewayclasses";
  const parametersRef = { group: "gateway.k8s.aws", kind: "LoadBalancerConfiguration", namespace: "default", name: "all" };
  await world.say("POST", classes, gatewayClass("aws-alb", { controllerName: "gateway.k8s.aws/alb", parametersRef }));
  await world.say("POST", classes, gatewayClass("nlb", { controllerName: "gateway.k8s.aws/nlb" }));
  const configuration = {
    apiVersion: "gateway.k8s.aws/v1",
    kind: "LoadBalancerConfiguration",
    metadata: { name: "all", namespace: "default" },
    spec: { scheme: "internet-facing" },
  };
  await world.say("POST", "/apis/gateway.k8s.aws/v1/namespaces/default/loadbalancerconfigurations", configuration);
  const { status, out, err } = await command(world, migrate, "ingress/shop", ...settings);
  assert.equal(status, 2, err);
  assert.match(err, /the Gateway would differ: scheme: "internal" \| "internet-facing" \(Ingress \| Gateway\)/);
  assert.ok(!names(printed(out)).includes("GatewayClass aws-alb"));
  const other = await command(world, migrate, "ingress/shop", "--gateway-class=nlb", ...settings);
  assert.equal(other.status, 1);
  assert.match(
    other.err,
    /GatewayClass nlb is served by gateway\.k8s\.aws\/nlb, not by gateway\.k8s\.aws\/alb: name another with --gateway-class/,
  );
});

test("a mistake in an Ingress, and words that name none, are told", async (t) => {
  const world = await bed(t);
  await world.ingress("wrong", { "*": ["Prefix / web:80"] }, { "listen-ports": "[" });
  const wrong = await command(world, migrate, "ingress/wrong", ...settings);
  assert.equal(wrong.status, 1);
  assert.match(wrong.err, /Ingress default\/wrong has no load balancer: .*/);
  const rows = [
    ["ingress/none", 1, /there is no Ingress default\/none/],
    ["group/none", 1, /no Ingress is in group none/],
    ["service/web", 1, /"service\/web" names no Ingress: write ingress\/NAME, or group\/NAME/],
  ] as const;
  for (const [word, status, message] of rows) {
    const answer = await command(world, migrate, word, ...settings);
    assert.equal(answer.status, status, word);
    assert.match(answer.err, message);
  }
  const nothing = await command(world, migrate, ...settings);
  assert.deepEqual([nothing.status, /name one Ingress/.test(nothing.err)], [64, true]);
});
