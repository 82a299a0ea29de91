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
import { ACMClient, RequestCertificateCommand } from "@aws-sdk/client-acm";
import { CreateSecurityGroupCommand, EC2Client } from "@aws-sdk/client-ec2";
import {
  CreateTargetGroupCommand,
  type CreateTargetGroupCommandInput,
  CreateTrustStoreCommand,
  ElasticLoadBalancingV2Client,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { CreateSubscriptionCommand, ShieldClient } from "@aws-sdk/client-shield";
import { CreateWebACLCommand, WAFV2Client } from "@aws-sdk/client-wafv2";
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
import { compareSnapshots } from "../../src/sandbox/cloud/controls/compare.ts";
import type { JournalEntry } from "../../src/sandbox/cloud/controls/journal.ts";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import type { Snapshot } from "../../src/sandbox/cloud/store.ts";
import { classicWebAcls } from "../../src/sandbox/cloud/waf/waf-regional.ts";
import { eventually } from "../bed/bed.ts";
import { type InCharge, type IngressCluster, ingressCluster, unmodelled } from "./ingress-cluster.ts";
import { classParams, type Given, judgedBindings, judgedIngresses, oidcSecret, paramsClass } from "./ingress-table.ts";

const patienceMs = 240_000;

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
  assert.deepEqual(changes(judged, made), []);
  assert.deepEqual(await objectsOf(judged), objects, "taken over without a write that changes anything");
  assert.deepEqual(await ours.errors(), []);
  await ours.stop();
  const again = await restart(judged, [theirs]);
  assert.deepEqual(again.get("theirs"), alone.get("theirs"), "the reference does with its own what it did before");
  assert.deepEqual(changes(judged, made), [], "handed back as it was");

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
  await eventually(() => assert.deepEqual(left(judged, before), []), patienceMs);
});

async function prepare({ cluster, cloud, network, namespace }: IngressCluster, name: string): Promise<Given> {
  await namespace(name);
  const acm = new ACMClient(sdkConfig(cloud));
  const ec2 = new EC2Client(sdkConfig(cloud));
  const elbv2 = new ElasticLoadBalancingV2Client(sdkConfig(cloud));
  const certificate = async (DomainName: string, ...more: string[]) => {
    const { CertificateArn } = await acm.send(
      new RequestCertificateCommand({ DomainName, SubjectAlternativeNames: [DomainName, ...more], ValidationMethod: "DNS" }),
    );
    return CertificateArn!;
  };
  const group = async (groupName: string) => {
    const TagSpecifications = [{ ResourceType: "security-group" as const, Tags: [{ Key: "Name", Value: `${name}-${groupName}` }] }];
    const { GroupId } = await ec2.send(
      new CreateSecurityGroupCommand({
        GroupName: `${name}-${groupName}`,
        Description: "of the user",
        VpcId: network.vpcId,
        TagSpecifications,
      }),
    );
    return GroupId!;
  };
  const target = async (groupName: string, more: Partial<CreateTargetGroupCommandInput> = {}) => {
    const { TargetGroups } = await elbv2.send(
      new CreateTargetGroupCommand({
        Name: `${name}-${groupName}`,
        Protocol: "HTTP",
        Port: 80,
        VpcId: network.vpcId,
        TargetType: "ip",
        ...more,
      }),
    );
    return TargetGroups![0]!.TargetGroupArn!;
  };
  const { TrustStores } = await elbv2.send(
    new CreateTrustStoreCommand({ Name: `${name}-trusted`, CaCertificatesBundleS3Bucket: "bundles", CaCertificatesBundleS3Key: "ca.pem" }),
  );
  await group("side");
  const VisibilityConfig = { SampledRequestsEnabled: false, CloudWatchMetricsEnabled: false, MetricName: "m" };
  const { Summary } = await new WAFV2Client(sdkConfig(cloud)).send(
    new CreateWebACLCommand({ Name: `${name}-acl`, Scope: "REGIONAL", DefaultAction: { Allow: {} }, VisibilityConfig }),
  );
  classicWebAcls(cloud.account).put(`${name}-classic`, { id: `${name}-classic`, name: `${name}-classic` });
  const given: Given = {
    namespace: name,
    vpc: network.vpcId,
    subnets: network.privateSubnetIds,
    publicSubnets: network.publicSubnetIds,
    subnetNames: network.privateSubnetIds.map((id) => cloud.account.ec2.subnets.get(id)!.tags.Name!),
    securityGroup: await group("front"),
    securityGroupName: `${name}-side`,
    prefixList: "pl-0123456789abcdef0",
    certificates: [await certificate("shop.example.com"), await certificate("other.example.com", "*.example.com")],
    trustStore: { name: `${name}-trusted`, arn: TrustStores![0]!.TrustStoreArn! },
    targetGroup: { name: `${name}-given`, arn: await target("given") },
    webAcl: { name: `${name}-acl`, arn: Summary!.ARN! },
    classicWebAcl: `${name}-classic`,
    bound: { pods: await target("pods"), nodes: await target("nodes", { TargetType: "instance" }), many: await target("many") },
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
  await eventually(() => {
    cloud.account.time.settle();
    const certificates = Object.values(cloud.controls.snapshot()["acm/certificates"] ?? {}) as { status: string }[];
    assert.ok(certificates.length > 0 && certificates.every(({ status }) => status === "ISSUED"), JSON.stringify(certificates));
    const stores = Object.values(cloud.controls.snapshot()["elbv2/trust-stores"] ?? {}) as { state: string }[];
    assert.ok(
      stores.every(({ state }) => state === "ACTIVE"),
      JSON.stringify(stores),
    );
  }, patienceMs);
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
  const snapshot = judged.cloud.controls.snapshot();
  return new Map(
    given.map(({ namespace }) => {
      const own = calls.filter((call) => JSON.stringify(named(call, snapshot)).includes(namespace));
      const said = own.map((call) => JSON.stringify(named(call, snapshot)).replaceAll(namespace, "<namespace>"));
      return [namespace, [...new Set(said)].toSorted()];
    }),
  );
}

interface Row {
  readonly tags?: Readonly<Record<string, string>>;
}

/** A call with what AWS's names stand for in their place: `<shop/web LoadBalancer>`. */
function named({ action, input }: JournalEntry, snapshot: Snapshot): readonly [string, unknown] {
  const tables = ["elbv2/load-balancers", "elbv2/listeners", "elbv2/rules", "elbv2/target-groups", "ec2/security-groups"];
  const rows = tables.flatMap((table) => Object.entries((snapshot[table] ?? {}) as Readonly<Record<string, Row>>));
  // Longer ones first: the ARN of a listener begins as that of its load balancer does.
  const words = rows
    .map(([id, { tags = {} }]) => [id, `<${tags["ingress.k8s.aws/stack"] ?? tags.Name} ${tags["ingress.k8s.aws/resource"]}>`] as const)
    .toSorted(([a], [b]) => b.length - a.length);
  return [action, words.reduce((text, [id, word]) => text.replaceAll(id, word), JSON.stringify(input))];
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

/** What differs from then, health left out. */
function changes({ cloud }: IngressCluster, since: Snapshot): string[] {
  return compareSnapshots(since, cloud.controls.snapshot()).flatMap(({ table, id, change, fields }) => {
    const changed = Object.keys(fields ?? {}).filter((field) => !["state", "verdict", "health", "capacity"].includes(field));
    return change === "changed" && changed.length === 0 ? [] : [`${change} ${table} ${id} ${changed.join(", ")}`];
  });
}

/** What is in the account that was not there then. */
function left({ cloud }: IngressCluster, before: Snapshot): readonly string[] {
  const after = cloud.controls.snapshot();
  const tables = [
    "elbv2/load-balancers",
    "elbv2/listeners",
    "elbv2/rules",
    "elbv2/target-groups",
    "ec2/security-groups",
    "ec2/security-group-rules",
  ];
  return tables.flatMap((table) =>
    Object.keys(after[table] ?? {})
      .filter((id) => !(id in (before[table] ?? {})))
      .map((id) => `${table} ${id}`),
  );
}
