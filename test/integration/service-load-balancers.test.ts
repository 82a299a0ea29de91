import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { controllerTable } from "../../src/commands/controller-manager/controller-table.ts";
import { nodes, services } from "../../src/kube/builtin.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { compareSnapshots } from "../../src/sandbox/cloud/controls/compare.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { bed, eventually, type TestCluster } from "../bed/bed.ts";

/** What the controllers find in their environment, as they would on a machine with keys. */
Object.assign(process.env, {
  AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE",
  AWS_SECRET_ACCESS_KEY: "of-no-worth",
  AWS_EC2_METADATA_DISABLED: "true",
});

const finalizer = "service.kubernetes.io/load-balancer-cleanup";
const table = { "service-lb-controller": controllerTable["service-lb-controller"] };
const namespace = "default";

interface Place {
  readonly cluster: TestCluster;
  readonly cloud: Cloud;
  start(): Promise<void>;
}

/** A real cluster of two nodes in a simulated account where time runs fast. */
async function place(t: TestContext): Promise<Place> {
  const { cluster, run } = await bed(t);
  const cloud = createCloud({ world: realWorld(), settings: { speed: 100 } });
  const network = standardNetwork(cloud, { clusterId: "test" });
  for (const { id, zone, privateDnsName: name } of launchNodes(cloud, network, 2)) {
    cloud.account.ec2.instances.update(id, { state: "running" });
    await cluster.admin.create(nodes, { metadata: { name }, spec: { providerID: `aws:///${zone}/${id}` } });
  }
  const config = join(cluster.real.folder, `cloud-${network.vpcId}.conf`);
  const where = [`Region = us-east-1`, `VPC = ${network.vpcId}`, `SubnetID = ${network.privateSubnetIds[0]}`, "KubernetesClusterID = test"];
  await writeFile(config, `[Global]\n${where.join("\n")}\n`);
  return {
    cluster,
    cloud,
    start: async () => void (await run(table, { flags: [`--cloud-config=${config}`], aws: cloud.handle })),
  };
}

const service = (name: string, annotations = {}, finalizers: readonly string[] = []) => ({
  metadata: { name, namespace, annotations, finalizers: [...finalizers] },
  spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
});
const nlb = { "service.beta.kubernetes.io/aws-load-balancer-type": "nlb" };
const get = ({ cluster }: Place, name: string) => cluster.admin.get(services, { namespace, name });

async function published(at: Place, name: string): Promise<string> {
  return eventually(async () => {
    const hostname = (await get(at, name)).status?.loadBalancer?.ingress?.[0]?.hostname;
    assert.ok(hostname);
    return hostname;
  }, 30_000);
}

async function gone({ cluster }: Place, name: string): Promise<void> {
  await eventually(async () => {
    const { items } = await cluster.admin.list(services, { namespace });
    assert.ok(!items.some(({ metadata }) => metadata.name === name));
  }, 30_000);
}

test("load balancers of both kinds come and go with their Services on a real API server", async (t) => {
  const at = await place(t);
  const before = at.cloud.controls.snapshot();
  await at.start();
  await at.cluster.admin.create(services, service("old", {}, ["example.com/mine"]));
  await at.cluster.admin.create(services, service("new", nlb));
  assert.match(await published(at, "old"), /\.us-east-1\.elb\.amazonaws\.com$/);
  assert.match(await published(at, "new"), /\.elb\.us-east-1\.amazonaws\.com$/);
  assert.deepEqual((await get(at, "old")).metadata.finalizers, ["example.com/mine", finalizer]);
  assert.deepEqual((await get(at, "new")).metadata.finalizers, [finalizer]);

  for (const name of ["old", "new"]) await at.cluster.admin.delete(services, { namespace, name });
  await gone(at, "new");
  await eventually(async () => assert.deepEqual((await get(at, "old")).metadata.finalizers, ["example.com/mine"]), 30_000);
  await at.cluster.admin.patch(services, { namespace, name: "old" }, { merge: { metadata: { finalizers: null } } });
  await gone(at, "old");
  await eventually(() => {
    const left = compareSnapshots(before, at.cloud.controls.snapshot()).filter(({ table: of }) => of !== "iam/service-linked-roles");
    assert.deepEqual(left, []);
  }, 30_000);
});

test("a bad annotation is a condition and an Event, and both pass; a type that changes empties the status", async (t) => {
  const at = await place(t);
  await at.start();
  const key = "service.beta.kubernetes.io/aws-load-balancer-connection-idle-timeout";
  await at.cluster.admin.create(services, service("web", { [key]: "soon" }));
  await eventually(async () => {
    const [condition] = (await get(at, "web")).status?.conditions ?? [];
    assert.deepEqual([condition?.type, condition?.status], ["LoadBalancerConfigured", "False"]);
    assert.match(condition?.message ?? "", /connection-idle-timeout=soon/);
  });
  await eventually(async () => {
    const events = await at.cluster.events();
    assert.ok(events.some(({ reason, involvedObject }) => reason === "SyncLoadBalancerFailed" && involvedObject.name === "web"));
  });
  await at.cluster.admin.patch(services, { namespace, name: "web" }, { merge: { metadata: { annotations: { [key]: "100" } } } });
  await published(at, "web");
  assert.deepEqual((await get(at, "web")).status?.conditions ?? [], []);

  await at.cluster.admin.patch(services, { namespace, name: "web" }, { merge: { spec: { type: "ClusterIP" } } });
  await eventually(async () => {
    const { metadata, status } = await get(at, "web");
    assert.deepEqual([metadata.finalizers ?? [], status?.loadBalancer?.ingress ?? []], [[], []]);
  }, 30_000);
  await at.cluster.admin.delete(services, { namespace, name: "web" });
});
