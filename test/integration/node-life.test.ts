/** Nodes through their lives, on a real API server, under the roles we ship, by the process we ship. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nodes } from "../../src/kube/builtin.ts";
import { bed, eventually } from "../bed/bed.ts";
import { asTheReferenceLeavesIt, hasTaint, join, nodeAccount, report, uninitialized } from "./node-account.ts";

const shutdown = "node.cloudprovider.kubernetes.io/shutdown";

test("nodes arrive, are initialised, are stopped, come back, and go with their instances", async (t) => {
  const { cluster, controllerManager } = await bed(t);
  const account = await nodeAccount(t, cluster);
  const [first, second, third] = account.launch(3);
  const known = await join(cluster, first!, { spec: { providerID: `aws:///${first!.zone}/${first!.id}` } });
  const named = await join(cluster, second!);
  const flags = [`--cloud-config=${account.cloudConfig}`, "--node-monitor-period=500ms", "--leader-elect=false"];
  const process = await controllerManager(flags, { environment: account.environment });
  const initialised = (name: string) =>
    eventually(async () => {
      const { spec, status } = await cluster.admin.get(nodes, { name });
      assert.deepEqual(spec?.taints ?? [], []);
      assert.ok(status?.addresses?.length);
      return { spec, status };
    });
  await initialised(known);
  const { spec, status } = await initialised(named);
  assert.equal(spec?.providerID, `aws:///${second!.zone}/${second!.id}`);
  assert.deepEqual(
    status?.addresses?.map(({ type }) => type),
    ["InternalIP", "InternalDNS", "Hostname"],
  );
  const { metadata } = await cluster.admin.get(nodes, { name: named });
  assert.equal(metadata.labels?.["topology.kubernetes.io/zone"], second!.zone);
  assert.equal(metadata.labels?.["topology.k8s.aws/zone-id"], second!.zoneId);

  const late = await join(cluster, third!);
  await initialised(late);

  account.setState(first!.id, "stopped");
  await report(cluster, known, "Unknown");
  await eventually(async () => assert.ok(await hasTaint(cluster, known, shutdown)));
  account.setState(first!.id, "running");
  await report(cluster, known, "True");
  await eventually(async () => assert.ok(!(await hasTaint(cluster, known, shutdown))));

  account.setState(third!.id, "terminated");
  await report(cluster, late, "Unknown");
  await eventually(async () => assert.deepEqual(await cluster.nodeNames(), [known, named].sort()));

  const events = await eventually(async () => {
    const said = (await cluster.events()).filter(({ involvedObject }) => involvedObject.kind === "Node");
    assert.ok(said.some(({ reason }) => reason === "DeletingNode"));
    return said;
  });
  const synced = events.filter(({ reason }) => reason === "Synced");
  assert.equal(synced.length, 3);
  assert.equal(synced[0]?.source?.component, "cloud-node-controller");
  assert.equal(events.find(({ reason }) => reason === "DeletingNode")?.source?.component, "cloud-node-lifecycle-controller");
  const refused = (await cluster.writes(process.account)).filter(({ status: code }) => code === 403);
  assert.deepEqual(refused, [], "the roles we ship are enough");
});

test("why a node waits is on the node itself, and goes when it does not wait any more", async (t) => {
  const { cluster, controllerManager } = await bed(t);
  const account = await nodeAccount(t, cluster);
  const [instance] = account.launch(1);
  const allow = account.cloud.controls.deny("ec2:DescribeInstances");
  const name = await join(cluster, instance!);
  await controllerManager([`--cloud-config=${account.cloudConfig}`, "--leader-elect=false"], { environment: account.environment });
  const condition = async () => {
    const { status } = await cluster.admin.get(nodes, { name });
    return status?.conditions?.find(({ type }) => type === "CloudProviderInitialized");
  };
  await eventually(async () => {
    const found = await condition();
    assert.equal(found?.status, "False");
    assert.match(found?.message ?? "", /UnauthorizedOperation.*request id .*next try at/);
  });
  allow();
  await eventually(async () => {
    assert.equal(await condition(), undefined);
    assert.ok(!(await hasTaint(cluster, name, uninitialized.key)));
  }, 30_000);
});

test("taking over nodes that the reference initialised writes nothing to them", async (t) => {
  const { cluster, controllerManager } = await bed(t);
  const account = await nodeAccount(t, cluster);
  for (const instance of account.launch(20)) {
    const [networkInterface] = instance.interfaceIds;
    const ip = account.cloud.account.ec2.interfaces.get(networkInterface!)!.privateAddresses[0]!;
    await join(cluster, instance, asTheReferenceLeavesIt(instance, ip));
  }
  const asBefore = async () =>
    Promise.all((await cluster.nodeNames()).map(async (name) => (await cluster.admin.get(nodes, { name })).metadata));
  const before = await asBefore();
  const flags = [`--cloud-config=${account.cloudConfig}`, "--leader-elect=false", "--node-status-update-frequency=1s", "--v=2"];
  const startedAt = Date.now();
  const process = await controllerManager(flags, { environment: account.environment });
  await process.says(/addresses refreshed[\s\S]*addresses refreshed[\s\S]*addresses refreshed/, 30_000);
  assert.deepEqual(await asBefore(), before);
  const writes = (await cluster.writes(process.account)).filter(({ resource, at }) => resource === "nodes" && at >= startedAt);
  assert.deepEqual(writes, []);
});
