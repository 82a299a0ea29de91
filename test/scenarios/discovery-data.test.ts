/** What the discoverer publishes of the account, and what it says of disks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { lackingTypes } from "../../src/sandbox/cloud/ec2/instance-type-offerings.ts";
import { clusterId, type DiscoveryWorld, discoveryWorld } from "../bed/discovery-world.ts";

const ami = "ami-0123456789abcdef0";

function outputOf({ network, region }: DiscoveryWorld): object {
  const zoneToSubnetIdMap = { [`${region}b`]: network.publicSubnetIds[1], [`${region}a`]: network.publicSubnetIds[0] };
  return { zones: [`${region}a`, `${region}b`, `${region}z`], zoneToSubnetIdMap, instances: { ami }, keyName: "of no interest" };
}

test("the document has what the account has for the cluster, each list in its order, and no storage classes", async () => {
  const world = await discoveryWorld();
  await world.infrastructure(outputOf(world));
  const { ec2 } = world.aws.account;
  lackingTypes(ec2).put("1", { type: "m5.large", location: "us-east-1b" });
  await world.once();
  const { document, network } = world;
  assert.deepEqual(Object.keys(document), [
    ...["apiVersion", "kind", "region", "vpcID", "zones", "availabilityZones", "subnets", "securityGroups", "instanceTypeZones"],
    ...["volumeTypes", "defaultAMI"],
  ]);
  assert.deepEqual([document.kind, document.region, document.vpcID], ["AWSCloudProviderDiscoveryData", "us-east-1", network.vpcId]);
  assert.deepEqual(document.zones, ["us-east-1a", "us-east-1b"]);
  const zones = document.availabilityZones as { name: string; state: string; networkBorderGroup: string }[];
  assert.deepEqual(
    zones.map(({ name }) => name),
    ["a", "b", "c", "d", "e", "f"].map((letter) => `us-east-1${letter}`),
  );
  assert.deepEqual([zones[0]?.state, zones[0]?.networkBorderGroup], ["available", "us-east-1"]);
  const subnets = document.subnets as { id: string; role: string; mapPublicIP: boolean; availableIPs: number; name: string }[];
  assert.deepEqual(
    subnets.map(({ id }) => id),
    [...network.publicSubnetIds, ...network.privateSubnetIds].sort(),
  );
  const open = subnets.find(({ id }) => id === network.publicSubnetIds[0]);
  assert.deepEqual([open?.role, open?.mapPublicIP, open?.availableIPs, open?.name], ["public", true, 251, "test-public-us-east-1a"]);
  assert.equal(subnets.find(({ id }) => id === network.privateSubnetIds[0])?.role, "internal");
  const groups = document.securityGroups as { id: string; name: string }[];
  assert.ok(groups.some(({ id, name }) => id === network.nodeGroupId && name === "test-nodes"));
  const places = document.instanceTypeZones as Record<string, string[]>;
  assert.deepEqual(
    places["m5.large"],
    ["a", "c", "d", "e", "f"].map((letter) => `us-east-1${letter}`),
  );
  assert.deepEqual(document.defaultAMI, { id: ami, architecture: "x86_64", rootDeviceName: "/dev/xvda", state: "available" });
  assert.deepEqual(world.secret?.metadata?.labels, { heritage: "deckhouse", module: "cloud-provider-aws" });
});

test("nothing is written when nothing has changed; foreign keys and labels stay when something has", async () => {
  const world = await discoveryWorld();
  await world.infrastructure(outputOf(world));
  await world.once();
  const path = "/api/v1/namespaces/kube-system/secrets/d8-cloud-provider-discovery-data";
  await world.say("PATCH", path, { metadata: { labels: { team: "a" } }, data: { other: "b3RoZXI=" } });
  world.writes.length = 0;
  await world.once();
  assert.equal(world.writes.length, 0);
  world.offer(1);
  await world.once();
  assert.ok(world.writes.includes(`PATCH ${path}`));
  assert.equal(world.secret?.data?.other, "b3RoZXI=");
  assert.equal(world.secret?.metadata?.labels?.team, "a");
});

test("a hybrid cluster has no input: the rest is published, and it counts as success", async () => {
  const world = await discoveryWorld();
  const discoverer = await world.once();
  const { document } = world;
  assert.deepEqual(
    ["vpcID", "securityGroups", "defaultAMI"].filter((field) => field in document),
    [],
  );
  assert.equal((document.zones as string[]).length, 6);
  assert.match(await discoverer.metrics(), /cloud_request_error\{type="discovery_data"\} 0/);
  assert.match(await discoverer.metrics(), /update_resource_error\{resource="discovery_data"\} 0/);
});

test("a read that fails keeps what was published of its field, names the permission, and the others go on", async () => {
  const world = await discoveryWorld();
  await world.infrastructure(outputOf(world));
  await world.once();
  const before = world.document;
  world.aws.controls.deny("ec2:DescribeSecurityGroups");
  world.offer(1);
  const discoverer = await world.once();
  assert.deepEqual(world.document.securityGroups, before.securityGroups);
  assert.ok("x0.large" in (world.document.instanceTypeZones as object));
  assert.match(await discoverer.metrics(), /cloud_request_error\{type="discovery_data"\} 1/);
  assert.ok(discoverer.lines.some((line) => line.includes("ec2:DescribeSecurityGroups")));
});

test("offerings that are not allowed leave their field out, without an error", async () => {
  const world = await discoveryWorld();
  world.aws.controls.deny("ec2:DescribeInstanceTypeOfferings");
  const discoverer = await world.once();
  assert.ok(!("instanceTypeZones" in world.document));
  assert.match(await discoverer.metrics(), /cloud_request_error\{type="discovery_data"\} 0/);
});

test("an image that is gone, and an output that is not one, are told apart from AWS not answering", async () => {
  const world = await discoveryWorld();
  await world.infrastructure({ ...outputOf(world), instances: { ami: "ami-0fffffffffffffff0" } });
  await world.once();
  assert.ok(!("defaultAMI" in world.document));
  const data = { "cloud-provider-discovery-data.json": Buffer.from('{"zones": "all"}').toString("base64") };
  await world.say("PATCH", "/api/v1/namespaces/kube-system/secrets/d8-provider-cluster-configuration", { data });
  const discoverer = await world.once();
  assert.ok(discoverer.lines.some((line) => line.includes("d8-provider-cluster-configuration") && line.includes("zones")));
  assert.match(await discoverer.metrics(), /cloud_request_error\{type="discovery_data"\} 1/);
});

test("without the cluster's UUID subnets and disks are left out, with one warning", async () => {
  const world = await discoveryWorld();
  const discoverer = await world.once({ CLUSTER_UUID: "" });
  assert.ok(!("subnets" in world.document));
  assert.equal(world.calls("DescribeVolumes"), 0);
  assert.equal(discoverer.lines.filter((line) => line.includes("CLUSTER_UUID is not set")).length, 1);
});

/** A volume that the driver made a moment ago. */
function disk({ aws }: DiscoveryWorld, name: string, cluster = clusterId): string {
  const { ec2, ids, time } = aws.account;
  const id = ids.resource("vol");
  const none = { outpostArn: undefined, kmsKeyArn: undefined, snapshotId: undefined, sourceVolumeId: undefined, modification: undefined };
  ec2.volumes.put(id, {
    ...none,
    ...{ id, state: "available", zone: "us-east-1a", zoneId: "use1-az1", created: time.now(), encrypted: false, fastRestored: false },
    ...{ initializationRate: undefined, initialised: undefined, attachments: [], modified: [] },
    spec: { type: "gp3", sizeGiB: 1, iops: 3000, throughput: 125, multiAttach: false },
    tags: { CSIVolumeName: name, "ebs.csi.aws.com/cluster": "true", [`kubernetes.io/cluster/${cluster}`]: "owned" },
  });
  return id;
}

async function persistentVolume(world: DiscoveryWorld, name: string, volumeHandle: string): Promise<void> {
  const csi = { driver: "ebs.csi.aws.com", volumeHandle };
  const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], csi };
  await world.say("POST", "/api/v1/persistentvolumes", { metadata: { name }, spec });
}

test("an orphan is a disk of this cluster, older than an hour, that no PersistentVolume knows by its id or its name", async () => {
  const world = await discoveryWorld();
  const byHandle = disk(world, "pvc-1");
  const byName = disk(world, "pvc-2");
  const orphan = disk(world, "pvc-3");
  const foreign = disk(world, "pvc-4", "other");
  await persistentVolume(world, "made-by-hand", byHandle);
  await persistentVolume(world, "pvc-2", "vol-of-before");
  await world.world.advance(3_700_000);
  const fresh = disk(world, "pvc-5");
  const discoverer = world.start();
  await world.cycle(discoverer);
  const told = (await discoverer.metrics()).split("\n").filter((line) => line.startsWith("cloud_data_discovery_orphaned_disk_info{"));
  assert.deepEqual(told, [`cloud_data_discovery_orphaned_disk_info{id="${orphan}",name="pvc-3"} 1`], `${byName} ${foreign} ${fresh}`);

  for (const id of [byHandle, byName, orphan, fresh]) world.aws.account.ec2.volumes.delete(id);
  await world.cycle(discoverer);
  const metrics = await discoverer.metrics();
  assert.ok(!metrics.includes("orphaned_disk_info{"), "an empty list clears the metric");
  assert.match(metrics, /cloud_request_error\{type="disks_meta"\} 0/);
  assert.match(metrics, /update_resource_error\{resource="disks_meta"\} 0/);
  discoverer.stop();
  await discoverer.ended;
});

test("a disk that goes with its PersistentVolume while both are read is no orphan", async () => {
  const world = await discoveryWorld();
  const [going, orphan] = [disk(world, "pvc-1"), disk(world, "pvc-2")];
  await persistentVolume(world, "pvc-1", going);
  const path = "/api/v1/persistentvolumes/pvc-1";
  await world.say("PATCH", path, { metadata: { finalizers: null } });
  await world.world.advance(3_700_000);
  world.cluster.faults.add({
    match: ({ method, url }) => {
      if (method !== "GET" || url.pathname !== "/api/v1/persistentvolumes") return false;
      world.aws.account.ec2.volumes.delete(going);
      void world.say("DELETE", path, {});
      return true;
    },
    effect: { kind: "refuse", status: 503 },
    times: 1,
  });
  const discoverer = world.start();
  await world.cycle(discoverer);
  const told = (await discoverer.metrics()).split("\n").filter((line) => line.startsWith("cloud_data_discovery_orphaned_disk_info{"));
  assert.deepEqual(told, [`cloud_data_discovery_orphaned_disk_info{id="${orphan}",name="pvc-2"} 1`]);
  assert.equal(world.calls("DescribeVolumes"), 2);
  discoverer.stop();
  await discoverer.ended;
});
