/**
 * Load balancers of Ingresses, and target groups, change hands between the reference's load balancer controller and ours
 * without a single change, and neither can tell who made them.
 *
 * Where the two differ, and ours is as it should be:
 * - The reference sends the secret of a log-in with every look, because AWS never tells it. Ours sends it when it has changed.
 * - Ours shows on a TargetGroupBinding how many targets it has, and whether they are all there: fields and conditions of its
 *   status that the reference has not.
 * - Ours notes on an Ingress with a log-in which state of its Secret AWS has, in an annotation, because AWS never tells.
 * - Ours notes on the first Ingress of a group that all of its load balancer was as wanted, so that a restart need not read it.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CreateSubscriptionCommand, ShieldClient } from "@aws-sdk/client-shield";
import { configMaps, nodes, pods, secrets, services } from "../../src/kube/builtin.ts";
import { isApiError } from "../../src/kube/errors.ts";
import type { KubeObject, Resource, Stored } from "../../src/kube/resource.ts";
import {
  checkpointAnnotation,
  ingressClasses,
  ingressClassParams,
  ingresses,
  sentSecretsAnnotation,
} from "../../src/loadbalancers/ingress/seen.ts";
import { targetGroupBindings } from "../../src/loadbalancers/targets/binding.ts";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import { classicWebAcls } from "../../src/sandbox/cloud/waf/waf-regional.ts";
import { eventually } from "../bed/bed.ts";
import { type InCharge, type IngressCluster, ingressCluster, unmodelled } from "./ingress-cluster.ts";
import { classParams, type Given, judgedBindings, judgedIngresses, oidcSecret, paramsClass } from "./ingress-table.ts";
import { callsFor, changes, left, settled, userOf } from "./judged-account.ts";

const patienceMs = 240_000;
const prefixes = ["ingress.k8s.aws"];

test("Ingresses and bindings change hands, and back, and nothing changes but who looks at them", { timeout: 1_200_000 }, async (t) => {
  const judged = await ingressCluster(t);
  const { admin } = judged.cluster;
  await admin.create(ingressClasses, { metadata: { name: "alb" }, spec: { controller: "ingress.k8s.aws/alb" } });
  await new ShieldClient(sdkConfig(judged.cloud)).send(new CreateSubscriptionCommand({}));
  const theirs = await prepare(judged, "theirs");
  const mine = await prepare(judged, "mine");
  const before = judged.cloud.controls.snapshot();

  let reference = await judged.reference();
  await make(judged, theirs, reference);
  await judged.quiet();
  assert.deepEqual(await reference.errors(), [], "the reference finds AWS as it knows it");
  assert.deepEqual(unmodelled(judged), []);
  await reference.stop();
  const alone = await restart(judged, [theirs]);

  const made = judged.cloud.controls.snapshot();
  const objects = await objectsOf(judged);
  const mutationsBefore = judged.mutations(0).length;
  const since = { calls: judged.calls(), atLeast: 100 };
  let ours = await judged.ours();
  await judged.quiet(since);
  assert.deepEqual(
    judged.mutations(mutationsBefore).map(({ action, input }) => ({ action, input })),
    [],
    "taken over without a call that changes anything",
  );
  assert.deepEqual(changes(judged.cloud, made), []);
  assert.deepEqual(await objectsOf(judged), objects, "taken over without a write that changes anything");
  assert.deepEqual(await ours.errors(), []);
  await ours.stop();
  const again = await restart(judged, [theirs]);
  assert.deepEqual(again.get("theirs"), alone.get("theirs"), "the reference does with its own what it did before");
  assert.deepEqual(changes(judged.cloud, made), [], "handed back as it was");

  ours = await judged.ours();
  await make(judged, mine, ours);
  await judged.quiet();
  assert.deepEqual(await ours.errors(), []);
  await ours.stop();
  const taken = await restart(judged, [theirs, mine]);
  assert.deepEqual(taken.get("mine"), alone.get("theirs"), "what Fairlead makes is to the reference as its own");

  reference = await judged.reference();
  await removeAll(judged, mine, reference);
  await reference.stop();
  ours = await judged.ours();
  await removeAll(judged, theirs, ours);
  await eventually(() => assert.deepEqual(left(judged.cloud, before), []), patienceMs);
});

async function prepare({ cluster, cloud, network, namespace }: IngressCluster, name: string): Promise<Given> {
  await namespace(name);
  const user = userOf(cloud, network, name);
  await user.securityGroup("side");
  classicWebAcls(cloud.account).put(`${name}-classic`, { id: `${name}-classic`, name: `${name}-classic` });
  const given: Given = {
    namespace: name,
    vpc: network.vpcId,
    subnets: network.privateSubnetIds,
    publicSubnets: network.publicSubnetIds,
    subnetNames: network.privateSubnetIds.map((id) => cloud.account.ec2.subnets.get(id)!.tags.Name!),
    securityGroup: await user.securityGroup("front"),
    securityGroupName: `${name}-side`,
    prefixList: "pl-0123456789abcdef0",
    certificates: [await user.certificate("shop.example.com"), await user.certificate("other.example.com", "*.example.com")],
    trustStore: await user.trustStore("trusted"),
    targetGroup: await user.targetGroup("given"),
    webAcl: await user.webAcl("acl"),
    classicWebAcl: `${name}-classic`,
    bound: {
      pods: (await user.targetGroup("pods")).arn,
      nodes: (await user.targetGroup("nodes", { TargetType: "instance" })).arn,
      many: (await user.targetGroup("many")).arn,
    },
  };
  const { admin } = cluster;
  await admin.create(secrets, {
    metadata: { name: oidcSecret, namespace: name },
    stringData: { clientID: "client", clientSecret: "of-no-worth" },
  });
  await admin.create(ingressClassParams, { metadata: { name: paramsClass(name) }, spec: classParams(given) });
  await admin.create(ingressClasses, {
    metadata: { name: paramsClass(name) },
    spec: {
      controller: "ingress.k8s.aws/alb",
      parameters: { apiGroup: "elbv2.k8s.aws", kind: "IngressClassParams", name: paramsClass(name) },
    },
  });
  await settled(cloud, patienceMs);
  return given;
}

/** Creates all of it, and waits until every Ingress has an address and every binding is brought about. */
async function make({ cluster: { admin } }: IngressCluster, given: Given, by: InCharge): Promise<void> {
  const { namespace } = given;
  for (const ingress of judgedIngresses(given)) await admin.create(ingresses, ingress);
  for (const [name, spec] of Object.entries(judgedBindings(given)))
    await admin.create(targetGroupBindings, { metadata: { namespace, name }, spec });
  await eventually(async () => {
    const { items } = await admin.list(ingresses, { namespace });
    const waiting = items.filter(({ status }) => !status?.loadBalancer?.ingress?.[0]?.hostname).map(({ metadata }) => metadata.name);
    const bindings = await admin.list(targetGroupBindings, { namespace });
    const late = bindings.items.filter(({ metadata, status }) => status?.observedGeneration !== metadata.generation);
    const trouble = (await by.errors()).slice(-3).join("\n");
    assert.deepEqual([waiting, late.map(({ metadata }) => metadata.name)], [[], []], trouble);
  }, patienceMs);
}

async function removeAll({ cluster: { admin } }: IngressCluster, { namespace }: Given, by: InCharge): Promise<void> {
  const remove = async <T extends KubeObject>(of: Resource<T>) => {
    for (const { metadata } of (await admin.list(of, { namespace })).items) {
      // Bindings of Ingresses go with them.
      await admin.delete(of, { namespace, name: metadata.name }).catch((error: unknown) => {
        if (!isApiError(error, "not-found")) throw error;
      });
    }
  };
  await remove(ingresses);
  await remove(targetGroupBindings);
  await eventually(async () => {
    const names = async <T extends KubeObject>(of: Resource<T>) =>
      (await admin.list(of, { namespace })).items.map((item) => (item as Stored<KubeObject>).metadata.name);
    assert.deepEqual([await names(ingresses), await names(targetGroupBindings)], [[], []], (await by.errors()).slice(-3).join("\n"));
  }, patienceMs);
}

/** Lets the reference look at everything once, and tells which calls it made that could change something, by namespace. */
async function restart(judged: IngressCluster, given: readonly Given[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const mutations = judged.mutations(0).length;
  const since = { calls: judged.calls(), atLeast: 100 };
  const reference = await judged.reference();
  await judged.quiet(since);
  assert.deepEqual(await reference.errors(), []);
  await reference.stop();
  const calls = judged.mutations(mutations);
  return new Map(given.map(({ namespace }) => [namespace, callsFor(judged.cloud, namespace, calls, prefixes)]));
}

/** What Kubernetes keeps, without what ours says beyond the reference. */
async function objectsOf({ cluster: { admin } }: IngressCluster): Promise<Readonly<Record<string, unknown>>> {
  const kinds: readonly Resource<KubeObject>[] = [ingresses, targetGroupBindings, services, pods, nodes, configMaps];
  const all = await Promise.all(
    kinds.map(async (kind) => {
      const { items } = await admin.list(kind);
      return items.map((item) => [`${kind.plural} ${item.metadata.namespace}/${item.metadata.name}`, comparable(item, kind.kind)] as const);
    }),
  );
  return Object.fromEntries(all.flat());
}

function comparable(object: Stored<KubeObject>, kind: string): unknown {
  const { managedFields: _fields, resourceVersion: _version, annotations = {}, ...metadata } = object.metadata;
  const { [sentSecretsAnnotation]: _sent, [checkpointAnnotation]: _checkpoint, ...theirs } = annotations;
  const { status, ...rest } = object as Stored<KubeObject> & { readonly status?: Readonly<Record<string, unknown>> };
  const { targets: _targets, conditions: _conditions, ...kept } = status ?? {};
  return { ...rest, metadata: { ...metadata, annotations: theirs }, status: kind === "TargetGroupBinding" ? kept : status };
}
