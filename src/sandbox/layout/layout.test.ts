import assert from "node:assert/strict";
import { test } from "node:test";
import { realWorld } from "../../runtime/world.ts";
import { cloudBed } from "../cloud/testing.ts";
import { accountAsBefore } from "../scenes/account.ts";
import { makeLayout } from "./layout.ts";

const signal = new AbortController().signal;

function bed() {
  const { cloud } = cloudBed({ region: "us-east-1", settings: { speed: Number.POSITIVE_INFINITY, checkInstanceProfiles: true } });
  // Nothing waits: at this speed every change is there with the next call.
  return { cloud, clock: realWorld().clock };
}

test("the network has what the scenes and the programs look for, and a node stands in it", async () => {
  const { cloud, clock } = bed();
  const { network, makeNode } = await makeLayout(cloud, "sandbox", clock, signal);
  const { ec2 } = cloud.account;
  const marks = { "kubernetes.io/cluster/sandbox": "shared" };
  for (const [ids, role] of [
    [network.publicSubnetIds, "kubernetes.io/role/elb"],
    [network.privateSubnetIds, "kubernetes.io/role/internal-elb"],
  ] as const) {
    const subnets = ids.map((id) => ec2.subnets.get(id)!);
    assert.deepEqual(
      subnets.map(({ zone }) => zone),
      ["us-east-1a", "us-east-1b", "us-east-1c"],
    );
    for (const { tags, vpcId } of subnets) {
      assert.partialDeepStrictEqual(tags, { ...marks, [role]: "1" });
      assert.equal(vpcId, network.vpcId);
    }
  }
  assert.partialDeepStrictEqual(ec2.routeTables.get(network.privateTableId)!.tags, marks);
  assert.partialDeepStrictEqual(ec2.securityGroups.get(network.nodeGroupId)!.tags, marks);
  const node = ec2.instances.get(await makeNode(signal))!;
  assert.partialDeepStrictEqual(node.tags, { ...marks, Name: "sandbox-system-0" });
  assert.equal(node.subnetId, network.privateSubnetIds[0]);
});

test("removed in the opposite order, nothing of it is left", async () => {
  const { cloud, clock } = bed();
  const { before, makeNode, removeNode, removeBase } = await makeLayout(cloud, "sandbox", clock, signal);
  await makeNode(signal);
  await removeNode(signal);
  await removeBase(signal);
  assert.equal(accountAsBefore(before, cloud), undefined);
});
