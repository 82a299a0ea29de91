/** The keeper of artifacts as a process on a real API server, under the roles of the chart and no others. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAllDocuments, stringify } from "yaml";
import { template } from "../../deploy/chart/render.ts";
import { instanceClasses, keptResource, nodeGroups, storageClasses } from "../../src/discovery/artifacts/keep/resources.ts";
import { exampleFile } from "../../src/discovery/artifacts/testing.ts";
import { events, nodes, secrets } from "../../src/kube/builtin.ts";
import type { KubeObject, Resource } from "../../src/kube/resource.ts";
import type { PolicyRule } from "../../src/kube/types.ts";
import { bed, eventually } from "../bed/bed.ts";
import { apply } from "../bed/manifests.ts";

interface Rendered extends KubeObject {
  readonly rules?: readonly PolicyRule[];
}

async function chart(...set: readonly string[]): Promise<readonly Rendered[]> {
  const values = ["image.repository=registry.invalid/fairlead", "artifacts.enabled=true", ...set].map((value) => `--set=${value}`);
  const text = await template(["--show-only=templates/artifacts.yaml"], values);
  return parseAllDocuments(text).map((document) => document.toJS() as Rendered);
}

const encoded = (text: string) => Buffer.from(text).toString("base64");

const nodeGroupDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "nodegroups.deckhouse.io" },
  spec: {
    group: "deckhouse.io",
    scope: "Cluster",
    names: { kind: "NodeGroup", plural: "nodegroups", singular: "nodegroup", listKind: "NodeGroupList" },
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

test("under the chart's roles everything is made, changed, replaced and told, and a second start writes nothing", async (t) => {
  const { cluster, fairlead } = await bed(t);
  const { admin } = cluster;
  const put = (object: object) => apply(admin, object);
  const objects = await chart("artifacts.waitForMasters=true", "artifacts.rootDiskMigration=true");
  const namespace = objects.find(({ kind }) => kind === "Namespace")!;
  await put(namespace);
  await put(objects.find(({ kind }) => kind === "ConfigMap")!);
  const { clusterConfiguration, discoveryData, clusterUUID } = exampleFile;
  const say = (metadata: object, kind: string, data: object) => put({ apiVersion: "v1", kind, metadata, data });
  await say({ namespace: "kube-system", name: "d8-cluster-uuid" }, "ConfigMap", { "cluster-uuid": clusterUUID });
  await say({ namespace: "kube-system", name: "d8-provider-cluster-configuration" }, "Secret", {
    "cloud-provider-cluster-configuration.yaml": encoded(stringify(clusterConfiguration)),
    "cloud-provider-discovery-data.json": encoded(JSON.stringify(discoveryData)),
  });
  await put(nodeGroupDefinition);
  const account = await cluster.account("artifacts", ...objects.flatMap(({ rules = [] }) => rules));
  const flags = [
    "--wait-for-masters",
    "--root-disk-migration",
    "--settings=kube-system/fairlead-artifacts",
    "--listen-address=127.0.0.1:0",
    `--kubeconfig=${await account.kubeconfig()}`,
  ];
  const keeper = await fairlead(["artifacts", "run", ...flags]);
  await eventually(async () => void (await admin.get(storageClasses, { name: "st1" })));

  await put({
    ...ofPlatform("AWSInstanceClass"),
    metadata: { name: "worker" },
    spec: { instanceType: "m5.large", diskType: "io2" },
  });
  const spec = { nodeType: "CloudEphemeral", cloudInstances: { classReference: { kind: "AWSInstanceClass", name: "worker" } } };
  await put({ ...ofPlatform("NodeGroup"), metadata: { name: "worker" }, spec });
  const taints = [{ key: "aws-node-termination-handler/spot-itn", effect: "NoSchedule" as const }];
  await admin.create(nodes, { metadata: { name: "spot" }, spec: { taints } });
  await say({ namespace: "kube-system", name: "fairlead-artifacts" }, "ConfigMap", {
    "settings.yaml": "storageClass: {provision: [{name: gp3, type: gp3, iops: '6000'}], exclude: [gp2]}",
  });
  await eventually(async () => {
    assert.equal((await admin.get(storageClasses, { name: "gp3" })).parameters?.iops, "6000");
    const names = (await admin.list(storageClasses)).items.map(({ metadata }) => metadata.name);
    assert.deepEqual(names.toSorted(), ["gp3", "sc1", "st1"]);
    const { labels = {}, annotations = {} } = (await admin.get(nodes, { name: "spot" })).metadata;
    assert.equal(labels["node.deckhouse.io/termination-in-progress"], "true");
    assert.equal(annotations["update.node.deckhouse.io/draining"], "aws-node-termination-handler");
  });
  await eventually(async () => {
    assert.deepEqual((await admin.get(instanceClasses, { name: "worker" })).status?.nodeGroupConsumers, ["worker"]);
    const said = (await admin.list(events)).items.filter(({ reason }) => reason === "InstanceClassInvalid");
    assert.match(said[0]?.message ?? "", /spec\.diskType: io2/);
  });
  assert.equal((await admin.list(nodeGroups)).items.length, 1);
  const backup = { namespace: "kube-system", name: "d8-provider-cluster-configuration-bkp-disk-gb" };
  assert.ok((await admin.get(secrets, backup)).data?.["cloud-provider-discovery-data.json"]);
  assert.doesNotMatch(await keeper.logs(), /forbidden/i);
  keeper.signal("SIGTERM");
  assert.equal((await keeper.exit()).code, 0);

  const versions = async () =>
    (await admin.list(secrets, { labelSelector: "module=cloud-provider-aws" })).items.map(({ metadata }) => metadata.resourceVersion);
  const before = await versions();
  assert.equal(before.length, 8);
  const definition = { name: "awsinstanceclasses.deckhouse.io" };
  const ours = await admin.get(definitions, definition);
  const earlier = JSON.parse(JSON.stringify(ours.spec).replaceAll("^[0-9]+m?$", "^[0-9]+$"));
  assert.notDeepEqual(earlier, ours.spec);
  const annotations = { "artifacts.fairlead.io/definition": "of-an-earlier-release" };
  await admin.patch(definitions, definition, { merge: { metadata: { annotations }, spec: earlier } });
  const second = await fairlead(["artifacts", "run", ...flags]);
  await say({ namespace: "kube-system", name: "fairlead-artifacts" }, "ConfigMap", { "settings.yaml": "storageClass: {exclude: [st1]}" });
  await eventually(async () => assert.ok(!(await admin.list(storageClasses)).items.some(({ metadata }) => metadata.name === "st1")));
  assert.deepEqual(await versions(), before);
  const after = await admin.get(definitions, definition);
  assert.deepEqual([after.spec, after.metadata.annotations], [ours.spec, ours.metadata.annotations]);
  second.signal("SIGTERM");
  assert.equal((await second.exit()).code, 0);
});

interface Definition extends KubeObject {
  readonly spec?: object;
}

const definitions = keptResource(nodeGroupDefinition) as Resource<Definition>;
const ofPlatform = (kind: string) => ({ apiVersion: "deckhouse.io/v1", kind });
