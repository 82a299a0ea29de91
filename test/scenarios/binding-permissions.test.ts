/** The shipped role and policies against what the controller really asks for: nothing is missing, nothing is for nothing. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import type { PolicyRule } from "../../src/kube/types.ts";
import { bindingWorld } from "../bed/binding-world.ts";
import { classWorld } from "../bed/class-world.ts";
import { gatewayWorld } from "../bed/gateway-world.ts";
import { ingressWorld } from "../bed/ingress-world.ts";
import { actionsIn, strictPolicy, usualPolicy } from "../bed/policies.ts";

const feature = "target-group-bindings";
const gate = "target-health.elbv2.k8s.aws/web";

/** A binding's whole life under this policy. */
async function life(policy: typeof usualPolicy) {
  const world = await bindingWorld();
  const arn = await world.group("shop");
  const shared = await world.group("shared");
  await world.service("web");
  await world.pods("web", 2, { gates: [gate], ready: false });
  const nodes = await world.group("nodes", { type: "instance" });
  await world.service("nodes", { type: "NodePort", ports: [{ name: "http", port: 80, nodePort: 30080 }] });
  const from = (port: number) => ({ from: [{ securityGroup: { groupID: world.network.nodeGroupId } }], ports: [{ port }] });
  const [eni] = world.aws.account.ec2.interfaces.values();
  await world.service("own");
  await world.pods("own", 1, { eni: eni!.id });
  const own = await world.group("own");
  world.aws.controls.change({ policy: policy(world.aws, world.network, "test", feature) });
  world.resetCalls();
  world.start("--enable-leader-election=true");
  await world.bind("web", { targetGroupName: "shop" });
  await world.bind("nodes", { targetGroupARN: nodes, serviceRef: { name: "nodes", port: 80 }, networking: { ingress: [from(30080)] } });
  await world.bind("own", { targetGroupARN: own, serviceRef: { name: "own", port: 80 }, networking: { ingress: [from(8080)] } });
  await world.bind("shared", { targetGroupARN: shared, multiClusterTargetGroup: true });
  await world.until("registered", () => world.targets(arn).length === 2 && world.targets(shared).length === 2);
  const [more = ""] = await world.pods("web", 1, { gates: [gate], ready: false });
  await world.world.advance(10_000);
  await world.end("web", more, 30);
  await world.world.advance(10_000);
  await world.remove("web", more);
  await world.world.advance(10_000);
  assert.deepEqual(
    ["nodes", "own"].map((name) => world.condition(name, "NetworkingReady")?.status),
    ["True", "True"],
  );
  const all = ["web", "shared", "nodes", "own"];
  for (const name of all) await world.unbind(name);
  await world.until("gone", () => all.every((name) => world.binding(name) === undefined));
  assert.deepEqual(
    [arn, shared, nodes, own].flatMap((group) => world.targets(group)),
    [],
  );
  world.close();
  return world;
}

for (const [name, policy] of Object.entries({ usual: usualPolicy, strict: strictPolicy })) {
  test(`the ${name} policy allows all that bindings need, and nothing that they do not`, async () => {
    const world = await life(policy);
    const called = Object.keys(world.aws.controls.journal.counts()).toSorted();
    assert.deepEqual(called, actionsIn(feature));
  });
}

/** What an Ingress's whole life asks of the API server. */
async function ingressLife(): Promise<ReadonlySet<string>> {
  const world = await ingressWorld();
  await world.service("web");
  await world.pods("web", 1);
  world.serve("--enable-leader-election=true");
  await world.ingress("shop", { "*": ["Prefix / web:80"] });
  await world.until("served", () => world.hostname("shop") !== "", 120_000);
  await world.drop("shop");
  await world.until("gone", () => world.get("shop") === undefined, 3_600_000);
  world.close();
  return world.asked;
}

/** The same of a Service with the class. */
async function classLife(): Promise<ReadonlySet<string>> {
  const world = await classWorld();
  world.serve("--enable-leader-election=true");
  await world.classService("web", { "nlb-target-type": "ip" });
  await world.settled("web");
  await world.drop("web");
  await world.until("gone", () => world.get("web") === undefined, 3_600_000);
  world.close();
  return world.asked;
}

/** The same of a Gateway of either kind, with everything that it follows from. */
async function gatewayLife(): Promise<ReadonlySet<string>> {
  const world = await gatewayWorld();
  await world.service("web");
  await world.pods("web", 1);
  world.serve("--enable-leader-election=true");
  await world.add("loadbalancerconfigurations", "own", {});
  await world.add("targetgroupconfigurations", "web", { targetReference: { name: "web" } });
  await world.add("listenerruleconfigurations", "rule", {});
  const routes = { alb: ["httproutes", "grpcroutes"], nlb: ["tcproutes", "udproutes", "tlsroutes"] } as const;
  for (const [className, plurals] of Object.entries(routes)) {
    const protocol = className === "alb" ? "HTTP" : "TCP";
    await world.gateway(className, [`${protocol}:80`], { gatewayClassName: className });
    await world.add("listenersets", className, { parentRef: { name: className }, listeners: [] });
    for (const plural of plurals)
      await world.add(plural, plural, { parentRefs: [{ name: className }], rules: [{ backendRefs: [{ name: "web", port: 80 }] }] });
  }
  await world.programmed("alb", "nlb");
  for (const name of ["alb", "nlb"]) await world.drop("gateways", name);
  await world.until("gone", () => ["alb", "nlb"].every((name) => world.get("gateways", name) === undefined), 3_600_000);
  world.close();
  return world.asked;
}

test("the role allows all that is asked of the API server, and nothing that is not", async () => {
  const world = await life(usualPolicy);
  const manifest = readFileSync(new URL("../../deploy/manifests/load-balancer-controller.yaml", import.meta.url), "utf8");
  const roles = parseAllDocuments(manifest)
    .map((document) => document.toJS() as { kind: string; rules?: readonly PolicyRule[] })
    .filter(({ kind }) => kind === "ClusterRole" || kind === "Role");
  const granted = roles.flatMap(({ rules = [] }) =>
    rules.flatMap(({ verbs, apiGroups = [], resources = [] }) =>
      verbs.flatMap((verb) => apiGroups.flatMap((group) => resources.map((resource) => `${verb} ${resource}${group && `.${group}`}`))),
    ),
  );
  // What is watched is listed, too, where the server does not stream lists.
  const asked = new Set(
    [...world.asked, ...(await ingressLife()), ...(await classLife()), ...(await gatewayLife())].flatMap((each) => [
      each,
      each.replace(/^watch /, "list "),
    ]),
  );
  assert.deepEqual([...asked].toSorted(), [...new Set(granted)].toSorted());
});
