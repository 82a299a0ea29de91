/** `fairlead cluster`: several replicas, and others who hold the lease of a program that it hosts. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { eventual } from "../../src/aws/testing/eventual.ts";
import { type NodeWorld, nodeWorld } from "../bed/node-world.ts";
import "../../src/commands/ebs-csi-driver/roles.ts";
import "../../src/volumes/roles/roles.ts";
import "../../src/volumes/roles/snapshotter.ts";

const config = "controller-manager: {controllers: [cloud-node, cloud-node-lifecycle, node-route], cluster-cidr: 10.200.0.0/16}";
const own = "fairlead-cluster";
const reference = "cloud-controller-manager";

async function bed(t: TestContext): Promise<NodeWorld> {
  const world = await nodeWorld();
  t.after(() => world.close());
  return world;
}

interface Lease {
  metadata: { name: string };
  spec: { holderIdentity?: string };
}

const holder = (world: NodeWorld, name: string) =>
  (world.cluster.objects("leases.coordination.k8s.io") as unknown as Lease[]).find(({ metadata }) => metadata.name === name)?.spec
    .holderIdentity || undefined;

const held = (world: NodeWorld) => [own, reference].map((name) => holder(world, name));

const leasesPath = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

/** Somebody else's process that holds the lease of the controller manager and renews it until asked to stop. */
async function foreignHolder(world: NodeWorld) {
  const spec = { holderIdentity: "reference", leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:00.000000Z" };
  await world.say("POST", leasesPath, { metadata: { name: reference }, spec });
  let renewals = 0;
  let stopped = false;
  const renew = () => {
    if (stopped) return;
    void world.say("PATCH", `${leasesPath}/${reference}`, { metadata: { annotations: { renewals: String(renewals++) } } });
    world.world.clock.after(2_000, renew);
  };
  renew();
  return {
    stop: async () => {
      stopped = true;
      await world.say("PATCH", `${leasesPath}/${reference}`, { spec: { holderIdentity: "" } });
    },
  };
}

test("of two replicas one holds both leases and works; the other takes both over when it stops", async (t) => {
  const world = await bed(t);
  const [first, second] = world.launch(2);
  const name = await world.join(first!);
  const leader = world.startCluster(config);
  await world.until("initialised", () => world.isInitialized(name));
  const [identity] = held(world);
  assert.ok(identity);
  assert.deepEqual(held(world), [identity, identity]);
  world.startCluster(config);
  await world.world.advance(60_000);
  assert.deepEqual(held(world), [identity, identity]);

  leader.stop();
  await eventual(world.world, leader.ended);
  const later = await world.join(second!);
  await world.until("the other works", () => world.isInitialized(later));
  assert.notEqual(holder(world, own), identity);
  assert.equal(holder(world, own), holder(world, reference));
  assert.match(await leader.metrics(), /running_managed_controllers\{name="cloud-node",manager="cloud-controller-manager"\} 0/);
});

test("while somebody else holds the lease of a hosted program nothing is written, and neither is when two replicas wait", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!);
  const foreign = await foreignHolder(world);
  world.startCluster(config);
  world.startCluster(config);
  await world.world.advance(10 * 60_000);
  assert.ok(holder(world, own), "its own lease is taken first");
  assert.equal(holder(world, reference), "reference");
  assert.deepEqual(world.writes, []);
  assert.equal(world.aws.controls.journal.entries().length, 0);

  await foreign.stop();
  await world.until("initialised", () => world.isInitialized(name));
  assert.equal(holder(world, reference), holder(world, own));
});

test("a hosted lease that is lost ends the whole process, and nothing is written after it", async (t) => {
  const world = await bed(t);
  const [first, second] = world.launch(2);
  const name = await world.join(first!);
  const running = world.startCluster(config);
  await world.until("initialised", () => world.isInitialized(name));
  await world.say("PATCH", `${leasesPath}/${reference}`, { spec: { holderIdentity: "reference" } });
  await assert.rejects(eventual(world.world, running.ended, 10_000), { name: "LeadershipLost" });
  const written = world.writes.length;
  await world.join(second!);
  await world.world.advance(60_000);
  assert.equal(world.writes.length, written);
});

test("from the controller manager's own command to cluster, and back, nothing is written anew", async (t) => {
  const world = await bed(t);
  const flags = ["--leader-elect", "--controllers=cloud-node,cloud-node-lifecycle,node-route", "--cluster-cidr=10.200.0.0/16"];
  const names: string[] = [];
  for (const instance of world.launch(3)) names.push(await world.join(instance));
  const before = world.start(...flags);
  await world.until("initialised", () => names.every((name) => world.isInitialized(name)));
  await world.world.advance(10 * 60_000);
  const done = () => [world.writes.length, world.aws.controls.journal.entries().length];
  const counted = done();

  const between = world.startCluster(config);
  await world.world.advance(60_000);
  before.stop();
  await eventual(world.world, before.ended);
  await world.until("cluster leads", () => holder(world, reference) === holder(world, own), 30_000);
  await world.world.advance(30 * 60_000);
  between.stop();
  await eventual(world.world, between.ended);
  world.start(...flags);
  await world.world.advance(30 * 60_000);
  assert.ok(holder(world, reference), "the controller manager leads again");
  assert.deepEqual(done(), counted);
});

test("a dry run holds leases of its own beside those in charge, and says what it would do", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!);
  await foreignHolder(world);
  world.startCluster(config, "--dry-run");
  await world.until("it says so", () => world.lines.some((line) => line.includes(`dry run: would patch nodes/${name}`)));
  assert.deepEqual(world.writes, []);
  assert.deepEqual(held(world), [undefined, "reference"]);
  assert.ok(holder(world, `${own}-dry-run`) && holder(world, `${reference}-dry-run`));
});

test("a dry run keeps out of the leases of programs that have no dry run of their own", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!);
  world.startCluster(`${config}\nload-balancer-controller: {cluster-name: prod}\nebs-csi-driver: {}`, "--dry-run");
  await world.until("it leads", () => world.lines.some((line) => line.includes(`dry run: would patch nodes/${name}`)));
  const leases = world.cluster.objects("leases.coordination.k8s.io") as unknown as Lease[];
  const names = leases.map(({ metadata }) => metadata.name);
  assert.ok(names.includes("aws-load-balancer-controller-leader-dry-run"), names.join(", "));
  assert.deepEqual(
    names.filter((lease) => !lease.endsWith("-dry-run")),
    [],
  );
});

test("a process whose own lease is that of its program holds it for both, and gives it up for both", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!);
  const running = world.startCluster(config, `--leader-elect-resource-name=${reference}`);
  await world.until("initialised", () => world.isInitialized(name));
  await world.world.advance(5 * 60_000);
  assert.ok(holder(world, reference), "the two renewals do not take each other for a rival");
  running.stop();
  await eventual(world.world, running.ended);
  assert.deepEqual(held(world), [undefined, undefined]);
});

test("claims get their volumes from the same process, under the leases of the sidecars and with the cluster's own mark", async (t) => {
  const world = await bed(t);
  const provisioner = "ebs.csi.aws.com";
  await world.say("POST", "/apis/storage.k8s.io/v1/storageclasses", { metadata: { name: "now" }, provisioner });
  await world.say("POST", "/api/v1/namespaces/default/persistentvolumeclaims", {
    metadata: { name: "data", annotations: { "volume.kubernetes.io/storage-provisioner": provisioner } },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } }, storageClassName: "now" },
  });
  world.startCluster(`${config}\nebs-csi-driver: {extra-tags: [team=shop]}`);
  await world.until("the volume is there", () => world.cluster.objects("persistentvolumes").length === 1);
  const [volume] = [...world.aws.account.ec2.volumes.values()].filter(({ tags }) => tags.CSIVolumeName !== undefined);
  assert.deepEqual([volume?.tags["kubernetes.io/cluster/test"], volume?.tags.team], ["owned", "shop"]);
  const sidecars = ["ebs-csi-aws-com", "external-attacher-leader-ebs-csi-aws-com", "external-resizer-ebs-csi-aws-com"];
  for (const name of sidecars) assert.equal(holder(world, name), holder(world, own), name);
});
