/**
 * Services with the class of the reference's load balancer controller change hands between it and ours without a single
 * change, and what ours makes is, part by part, what the reference makes.
 *
 * Where the two differ, and ours is as it should be:
 * - Ours shows on a TargetGroupBinding how many targets it has and whether they are all there, in fields and conditions of its
 *   status that the reference has not.
 * - Ours notes on a Service that its load balancer is as wanted, in an annotation that means nothing to the reference.
 * - The reference of this version takes the type of ICMP for its code: that annotation is not judged here.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { configMaps, endpointSlices, services } from "../../src/kube/builtin.ts";
import type { StoredMeta } from "../../src/kube/resource.ts";
import { checkpointAnnotation } from "../../src/loadbalancers/service-state.ts";
import { targetGroupBindings } from "../../src/loadbalancers/targets/binding.ts";
import { eventually } from "../bed/bed.ts";
import { type ClassGiven, judgedServices } from "./class-table.ts";
import { type InCharge, type IngressCluster, ingressCluster } from "./ingress-cluster.ts";
import { changes, left, settled, stateOf, userOf } from "./judged-account.ts";

const patienceMs = 240_000;
const prefixes = ["service.k8s.aws"];
const theirFlags = ["--service-max-concurrent-reconciles=8", "--targetgroupbinding-max-concurrent-reconciles=8"];

test("Services of the class change hands, and back, and neither can tell who made them", { timeout: 1_200_000 }, async (t) => {
  const judged = await ingressCluster(t);
  judged.cloud.controls.change({ quotas: { ...judged.cloud.account.settings().quotas, addresses: 20 } });
  const theirs = await prepare(judged, "theirs");
  const mine = await prepare(judged, "mine");
  const before = judged.cloud.controls.snapshot();

  let reference = await judged.reference(...theirFlags);
  await make(judged, theirs, reference);
  await judged.quiet();
  assert.deepEqual(await reference.errors(), [], "the reference finds AWS as it knows it");
  await reference.stop();
  const alone = await lookOnce(judged);

  const made = judged.cloud.controls.snapshot();
  const objects = await objectsOf(judged);
  const mutations = judged.mutations(0).length;
  const since = { calls: judged.calls(), atLeast: 10 };
  let ours = await judged.ours();
  await judged.quiet(since);
  t.diagnostic(`taken over ${Object.keys(judgedServices(theirs)).length - 1} Services with ${judged.calls() - since.calls} calls`);
  assert.deepEqual(
    judged.mutations(mutations).map(({ action, input }) => ({ action, input })),
    [],
    "taken over without a call that changes anything",
  );
  assert.deepEqual(changes(judged.cloud, made), []);
  assert.deepEqual(await objectsOf(judged), objects, "taken over without a write that changes anything");
  assert.deepEqual(await ours.errors(), []);
  await ours.stop();
  assert.deepEqual(await lookOnce(judged), alone, "the reference does with its own what it did before");
  assert.deepEqual(changes(judged.cloud, made), [], "handed back as it was");

  ours = await judged.ours();
  await make(judged, mine, ours);
  await judged.quiet();
  assert.deepEqual(await ours.errors(), []);
  await ours.stop();
  await lookOnce(judged);
  assert.deepEqual(
    stateOf(judged.cloud, mine.namespace, prefixes),
    stateOf(judged.cloud, theirs.namespace, prefixes),
    "what Fairlead makes is what the reference makes",
  );

  reference = await judged.reference(...theirFlags);
  await removeAll(judged, mine, reference);
  await reference.stop();
  ours = await judged.ours();
  await removeAll(judged, theirs, ours);
  await eventually(() => assert.deepEqual(left(judged.cloud, before), []), patienceMs);
});

async function prepare({ cluster, cloud, network, namespace }: IngressCluster, name: string): Promise<ClassGiven> {
  await namespace(name);
  const user = userOf(cloud, network, name);
  await user.securityGroup("side");
  const end = name === "theirs" ? 77 : 78;
  const given: ClassGiven = {
    namespace: name,
    subnets: network.privateSubnetIds,
    publicSubnets: network.publicSubnetIds,
    addresses: network.privateSubnetIds.map((id) => cloud.account.ec2.subnets.get(id)!.cidr!.replace(/\.0\/\d+$/, `.${end}`)),
    allocations: await Promise.all(network.publicSubnetIds.map(() => user.allocation())),
    securityGroup: await user.securityGroup("front"),
    securityGroupName: `${name}-side`,
    certificates: [await user.certificate("shop.example.com"), await user.certificate("other.example.com")],
    targetGroup: (await user.targetGroup("given", { Protocol: "TCP" })).arn,
  };
  await settled(cloud, patienceMs);
  // Pods of the Service `web` are behind all of them.
  const { endpoints } = await cluster.admin.get(endpointSlices, { namespace: name, name: "web-1" });
  for (const [service, { spec }] of Object.entries(judgedServices(given)))
    await cluster.admin.create(endpointSlices, {
      metadata: { name: `${service}-1`, namespace: name, labels: { "kubernetes.io/service-name": service } },
      addressType: "IPv4",
      ports: (spec.ports ?? []).map((port) => ({ name: port.name!, port: 8080, protocol: port.protocol! })),
      endpoints,
    });
  return given;
}

/** Creates all of it, and waits until every Service has an address and every binding is brought about. */
async function make({ cluster: { admin } }: IngressCluster, given: ClassGiven, by: InCharge): Promise<void> {
  const { namespace } = given;
  for (const [name, { annotations, spec }] of Object.entries(judgedServices(given)))
    await admin.create(services, { metadata: { namespace, name, annotations }, spec: { selector: { app: "web" }, ...spec } });
  await eventually(async () => {
    const { items } = await admin.list(services, { namespace });
    const waiting = items.filter(({ spec, status }) => spec?.type === "LoadBalancer" && !status?.loadBalancer?.ingress?.[0]?.hostname);
    const bindings = await admin.list(targetGroupBindings, { namespace });
    const late = bindings.items.filter(({ metadata, status }) => status?.observedGeneration !== metadata.generation);
    const names = [...waiting, ...late].map(({ metadata }) => metadata.name);
    assert.deepEqual(names, [], (await by.errors()).slice(-3).join("\n"));
  }, patienceMs);
}

async function removeAll({ cluster: { admin } }: IngressCluster, given: ClassGiven, by: InCharge): Promise<void> {
  const { namespace } = given;
  const all = Object.keys(judgedServices(given));
  for (const name of all) await admin.delete(services, { namespace, name });
  await eventually(async () => {
    const { items } = await admin.list(services, { namespace });
    const there = items.map(({ metadata }) => metadata.name).filter((name) => all.includes(name));
    assert.deepEqual(there, [], (await by.errors()).slice(-3).join("\n"));
  }, patienceMs);
}

/** Lets the reference look at everything once, and tells what it sent that could change something. */
async function lookOnce(judged: IngressCluster): Promise<readonly string[]> {
  const mutations = judged.mutations(0).length;
  const since = { calls: judged.calls(), atLeast: 100 };
  const reference = await judged.reference(...theirFlags);
  await judged.quiet(since);
  assert.deepEqual(await reference.errors(), []);
  await reference.stop();
  const calls = judged.mutations(mutations).map(({ action, input }) => `${action} ${JSON.stringify(input)}`);
  return [...new Set(calls)].toSorted();
}

/** What Kubernetes keeps, without what ours says beyond the reference. */
async function objectsOf({ cluster: { admin } }: IngressCluster): Promise<unknown> {
  const all = async () => [
    ...(await admin.list(services)).items.map((item) => ({ ...item, metadata: kept(item.metadata) })),
    ...(await admin.list(configMaps)).items.map((item) => ({ ...item, metadata: kept(item.metadata) })),
    ...(await admin.list(targetGroupBindings)).items.map(({ metadata, spec, status }) => ({
      metadata: kept(metadata),
      spec,
      observed: status?.observedGeneration,
    })),
  ];
  return JSON.parse(JSON.stringify(await all()));
}

/** Without what is ours alone, and means nothing to the reference. */
function kept({ annotations: { [checkpointAnnotation]: _, ...annotations } = {}, ...metadata }: StoredMeta): object {
  return { ...metadata, annotations, managedFields: undefined, resourceVersion: undefined };
}
