import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Clouds } from "../../aws/cloud.ts";
import { describeInstances } from "../../aws/ec2-actions.ts";
import { describeLoadBalancers as describeClassic } from "../../aws/elb-actions.ts";
import { createLoadBalancer, describeLoadBalancers } from "../../aws/elbv2-actions.ts";
import { noSettings } from "../../aws/settings.ts";
import { eventual } from "../../aws/testing/eventual.ts";
import { type NodeView, nodeView } from "../../identity/node-view.ts";
import type { Stored } from "../../kube/resource.ts";
import type { Node } from "../../kube/types.ts";
import { openGate } from "../../runtime/gate.ts";
import { silentLog } from "../../runtime/log.ts";
import { newRegistry } from "../../runtime/metrics.ts";
import { createCloud } from "../../sandbox/cloud/cloud.ts";
import { launchNodes, standardNetwork } from "../../sandbox/cloud/network.ts";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import { applySurvey } from "../apply.ts";
import { Inventory } from "../inventory.ts";
import { type SeenService, serviceState } from "../service-state.ts";
import { TargetSets } from "../targets/target-set.ts";
import { annotationKey } from "./annotations.ts";
import { surveyService } from "./survey.ts";
import type { WantedKind } from "./type-annotation.ts";

const ask = { cause: "test", signal: new AbortController().signal, urgency: "user" } as const;
const settings = { clusterName: "kubernetes", clusterId: "test", disableNodeIngress: false, managedNetworkGroups: false };
const uid = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";

/** An account with nodes in it, and looks at one Service. */
function bed() {
  const world = virtualWorld(1, { environment: { AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE", AWS_SECRET_ACCESS_KEY: "of-no-worth" } });
  const aws = createCloud({ world, seed: 1 });
  const network = standardNetwork(aws, { clusterId: "test" });
  const clouds = new Clouds({
    host: { world, log: silentLog, metrics: newRegistry() },
    transport: aws.handle,
    gate: openGate(),
    settings: { ...noSettings, region: "us-east-1" },
    version: "test",
  });
  const cloud = clouds.in("us-east-1");
  const inventory = new Inventory(cloud, world.clock, { vpc: network.vpcId, cluster: { id: "test", legacy: false } });
  const instances = launchNodes(aws, network, 3).map(({ id }) => aws.account.ec2.instances.update(id, { state: "running" }));
  const nodes = instances.map((instance, index) =>
    nodeOf(`node-${index}`, `aws:///${instance.zone}/${instance.id}`, index === 2 ? { pool: "big" } : {}),
  );
  const look = (service: SeenService, wanted: WantedKind) =>
    eventual(world, surveyService(service, wanted, { inventory, nodes: { list: () => nodes }, settings }, ask));
  /** Carries out what a look says. */
  const make = async (service: SeenService, wanted: WantedKind) => {
    const survey = await look(service, wanted);
    const targetSets = new TargetSets();
    const parts = { inventory, clock: world.clock, targetSets, began: targetSets.now(), wanted: async () => survey.targets, onStep() {} };
    return eventual(world, applySurvey(survey, parts, ask));
  };
  return { world, aws, cloud, network, instances, look, make };
}

function nodeOf(name: string, providerID: string, labels: Record<string, string>): NodeView {
  const node: Node = {
    metadata: { name, uid: name, resourceVersion: "1", labels, creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { providerID },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  };
  return nodeView(node as Stored<Node>);
}

/** Annotations are given by the part of their key that differs. */
function service(annotations: Readonly<Record<string, string>> = {}, hostname = ""): SeenService {
  const full = Object.fromEntries(Object.entries(annotations).map(([name, value]) => [annotationKey(name as "type"), value]));
  return serviceState({
    metadata: { name: "web", namespace: "shop", uid, resourceVersion: "1", annotations: full },
    spec: { type: "LoadBalancer", ports: [{ port: 80, nodePort: 31080 }], ipFamilies: ["IPv4"] },
    status: { loadBalancer: hostname === "" ? {} : { ingress: [{ hostname }] } },
  } as unknown as Parameters<typeof serviceState>[0]);
}

const messages = (problems: readonly { readonly message: string }[]) => problems.map(({ message }) => message).join("; ");

// Virtual time does not wait for files.
before(async () => {
  const { cloud } = bed();
  await Promise.all([describeInstances, describeClassic, describeLoadBalancers].map((action) => cloud.preload(action)));
});

test("a Service that has nothing yet gets steps to everything, and none once they are carried out", async () => {
  for (const kind of ["classic", "network"] as const) {
    const { look, make } = bed();
    const first = await look(service(), kind);
    assert.deepEqual([first.found, first.problems], [undefined, []]);
    assert.ok(first.steps.some(({ action }) => action.name === "CreateLoadBalancer"));
    const { hostname } = await make(service(), kind);
    const again = await look(service({}, hostname ?? ""), kind);
    assert.deepEqual([again.found?.hostname, again.steps.map(({ what }) => what)], [hostname, []]);
  }
});

test("nodes that the labels do not name are no targets", async () => {
  const { look, instances } = bed();
  const { targets } = await look(service({ "target-node-labels": "pool=big" }), "network");
  assert.deepEqual(targets.running, [instances[2]!.id]);
});

test("a chosen name that somebody else's load balancer has is a problem that names it, and nothing is planned", async () => {
  const { look, cloud, world, network } = bed();
  const theirs = cloud.call(createLoadBalancer, { Name: "front", Type: "network", Subnets: [...network.publicSubnetIds] }, ask);
  await eventual(world, theirs);
  const { problems, steps } = await look(service({ name: "front" }), "network");
  assert.match(messages(problems), /"front": a load balancer of this name exists in this account and region and is not this Service's/);
  assert.deepEqual(steps, []);
});

test("a type that changed after the address was published is refused, unless a replacement is asked for", async () => {
  const { look, make } = bed();
  const { hostname = "" } = await make(service(), "classic");
  const refused = await look(service({ type: "nlb" }, hostname), "network");
  assert.equal(refused.other?.kind, "classic");
  assert.match(messages(refused.problems), /^cannot update Load Balancer Type annotation .* set .*type-change: replace$/);
  assert.deepEqual(refused.steps, []);
  const replaced = await look(service({ type: "nlb", "type-change": "replace" }, hostname), "network");
  assert.deepEqual(replaced.problems, []);
  assert.ok(replaced.steps.length > 0);
});

test("an unknown type makes nothing new, and is no more than a warning for what stands", async () => {
  const { look, make } = bed();
  const before = await look(service({ type: "nbl" }), "unknown");
  assert.match(messages(before.problems), /"nbl" is not known: no load balancer is created for it/);
  const { hostname = "" } = await make(service({ type: "nlb" }), "network");
  const standing = await look(service({ type: "nbl" }, hostname), "unknown");
  assert.deepEqual([standing.kind.name, standing.problems], ["network", []]);
  assert.match(messages(standing.warnings), /the network load balancer that exists is kept/);
});
