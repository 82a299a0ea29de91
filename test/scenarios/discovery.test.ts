/** The cloud data discoverer, whole, on virtual time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { discoveryWorld } from "../bed/discovery-world.ts";

test("probes that are allowed make no ConfigMap, and empty one that is there", async () => {
  const world = await discoveryWorld();
  await world.once();
  assert.equal(world.conditions === undefined, true);
  assert.deepEqual([world.calls("DescribeAddressesAttribute"), world.calls("DescribeInstanceTopology")], [1, 1]);

  const stale = { conditions: '[{"name":"X","message":"DescribeInstanceTopology is not allowed","ok":false}]', other: "kept" };
  await world.say("POST", "/api/v1/namespaces/kube-system/configmaps", { metadata: { name: "d8-cloud-provider-conditions" }, data: stale });
  await world.once();
  assert.deepEqual(world.conditions?.data, { conditions: "[]", other: "kept" });
});

test("a ConfigMap of the reference that says null, and one without data, are taken as they are", async () => {
  const world = await discoveryWorld();
  const metadata = { name: "d8-cloud-provider-conditions" };
  await world.say("POST", "/api/v1/namespaces/kube-system/configmaps", { metadata, data: { conditions: "null" } });
  await world.once();
  assert.deepEqual(world.conditions?.data, { conditions: "null" });
  await world.say("PATCH", "/api/v1/namespaces/kube-system/configmaps/d8-cloud-provider-conditions", { data: null });
  await world.once();
  assert.deepEqual(world.conditions?.data, { conditions: "[]" });
});

test("denied probes are named in the ConfigMap and in the metric, and are gone from both when they are allowed", async () => {
  const world = await discoveryWorld();
  const lift = ["DescribeAddressesAttribute", "DescribeInstanceTopology"].map((action) => world.aws.controls.deny(`ec2:${action}`));
  const discoverer = world.start();
  await world.cycle(discoverer);
  const name = "INSUFFICIENT_AWS_SA_PERMISSIONS";
  const entries = [
    { name, message: "DescribeAddressesAttribute is not allowed", ok: false },
    { name, message: "DescribeInstanceTopology is not allowed", ok: false },
  ];
  assert.equal(world.conditions?.data?.conditions, JSON.stringify(entries));
  for (const { message } of entries) {
    assert.ok((await discoverer.metrics()).includes(`cloud_data_discovery_cloud_conditions_error{name="${name}",message="${message}"} 1`));
  }
  for (const each of lift) each();
  await world.cycle(discoverer);
  assert.equal(world.conditions?.data?.conditions, "[]");
  assert.ok(!(await discoverer.metrics()).includes("cloud_data_discovery_cloud_conditions_error{"));
  discoverer.stop();
  await discoverer.ended;
});

test("a region without the topology API is warned about once in a cycle, and no condition", async () => {
  const world = await discoveryWorld();
  world.aws.controls.faults.add({ action: "ec2:DescribeInstanceTopology", effect: { kind: "fail", code: "UnsupportedOperation" } });
  const { lines } = await world.once();
  assert.equal(world.conditions, undefined);
  assert.equal(lines.filter((line) => line.includes("is not offered in this region")).length, 1);
});

test("throttling, a broken network and bad credentials say nothing of permissions: the last verdict stays", async () => {
  for (const code of ["RequestLimitExceeded", "InternalError", "AuthFailure"]) {
    const world = await discoveryWorld();
    const lift = world.aws.controls.deny("ec2:DescribeAddressesAttribute");
    await world.once();
    lift();
    world.aws.controls.faults.add({
      action: "ec2:Describe*",
      effect: { kind: "fail", code, status: 503 },
    });
    const discoverer = await world.once();
    assert.match(world.conditions?.data?.conditions ?? "", /DescribeAddressesAttribute is not allowed/, code);
    assert.doesNotMatch(world.conditions?.data?.conditions ?? "", /Topology/, code);
    assert.match(await discoverer.metrics(), /cloud_request_error\{type="cloud_conditions"\} 1/);
  }
});

test("pages of types become one sorted catalogue, written once and only when it changes", async () => {
  const world = await discoveryWorld();
  world.aws.controls.change({ pageSize: 12 });
  await world.once();
  const names = world.catalog!.instanceTypes.map(({ name }) => name);
  assert.equal(world.calls("DescribeInstanceTypes"), Math.ceil(names.length / 12));
  assert.deepEqual(names, [...names].sort());
  const medium = world.catalog!.instanceTypes.find(({ name }) => name === "t3.medium");
  assert.deepEqual(medium, { name: "t3.medium", cpu: "2", memory: "4096Mi", rootDisk: "0" });

  const path = "/apis/deckhouse.io/v1alpha1/instancetypescatalogs/for-cluster-autoscaler";
  await world.say("PATCH", path, { metadata: { labels: { team: "a" }, annotations: { note: "b" } } });
  world.writes.length = 0;
  await world.once();
  assert.deepEqual(
    world.writes.filter((write) => write.includes("catalog")),
    [],
  );
  world.offer(1);
  await world.once();
  assert.deepEqual(
    world.writes.filter((write) => write.includes("catalog")),
    [`PATCH ${path}`],
  );
  assert.ok(world.catalog!.instanceTypes.some(({ name }) => name === "x0.large"));
  const { labels, annotations } = (world.catalog as never as { metadata: Record<string, unknown> }).metadata;
  assert.deepEqual([labels, annotations], [{ team: "a" }, { note: "b" }]);
});

test("types cannot be read: the catalogue stays, and the metric says so", async () => {
  const world = await discoveryWorld();
  await world.once();
  const before = world.catalog;
  world.aws.controls.deny("ec2:DescribeInstanceTypes");
  const discoverer = await world.once();
  assert.deepEqual(world.catalog, before);
  assert.match(await discoverer.metrics(), /cloud_request_error\{type="instance_types"\} 1/);
  assert.ok(discoverer.lines.some((line) => line.includes("allow ec2:DescribeInstanceTypes")));
});

test("700 types in each of three regions: pages one after the other, a denied probe by its name", async () => {
  for (const region of ["us-east-1", "eu-central-1", "ap-southeast-2"]) {
    const world = await discoveryWorld({ region });
    await world.once();
    world.offer(700 - world.catalog!.instanceTypes.length);
    world.aws.controls.journal.resetCounts();
    world.aws.controls.deny("ec2:DescribeInstanceTopology");
    await world.once();
    assert.equal(world.catalog!.instanceTypes.length, 700);
    assert.equal(world.calls("DescribeInstanceTypes"), 7);
    const zones = (world.document.availabilityZones as unknown[]).length;
    assert.equal(world.calls("DescribeInstanceTypeOfferings"), Math.ceil((700 * zones) / 1000));
    const counts = world.aws.controls.journal.counts();
    const total = Object.values(counts)
      .flatMap((outcomes) => Object.values(outcomes))
      .reduce((sum, count) => sum + count, 0);
    assert.ok(total <= 7 + Math.ceil((700 * zones) / 1000) + 5, `${total} calls: ${JSON.stringify(counts)}`);
    assert.equal(Object.keys(world.document.instanceTypeZones as object).length, 700);
    assert.match(world.conditions!.data!.conditions!, /DescribeInstanceTopology is not allowed/);
  }
});
