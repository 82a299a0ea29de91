/** What has to be seen within seconds: a volume follows its pod off a machine that is gone, and a key that cannot be used is named. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pods } from "../../src/kube/builtin.ts";
import { terminate } from "../../src/sandbox/cloud/ec2/instance-lifecycle.ts";
import { type ClaimWorld, claimWorld } from "../bed/claim-world.ts";

/** Milliseconds until the check holds. */
async function took(world: ClaimWorld, what: string, check: () => Promise<boolean>): Promise<number> {
  const before = world.world.clock.monotonic();
  await world.until(what, check);
  return world.world.clock.monotonic() - before;
}

test("a volume whose node is proven gone is attached where its pod went within seconds, not in six minutes", async () => {
  const world = await claimWorld();
  const [first, , , beside] = world.nodes;
  const isAttachedTo = (name: string) => async () =>
    (await world.attachments()).some(({ spec, status }) => spec.nodeName === name && status?.attached === true);
  world.start();
  await world.claim("data");
  await world.pod("db", first!, "data");
  await world.until("it is attached", isAttachedTo(first!.privateDnsName));
  const { ec2 } = world.aws.account;
  terminate(ec2, ec2.instances.get(first!.id)!);
  await world.world.advance(120_000);
  await world.remove(pods, "db");
  await world.pod("db", beside!, "data");
  const ms = await took(world, "it is attached elsewhere", isAttachedTo(beside!.privateDnsName));
  assert.ok(ms <= 30_000, `${ms} ms`);
  assert.deepEqual(
    world.disks.flatMap(({ attachments }) => attachments.map(({ instanceId, state }) => [instanceId, state])),
    [[beside!.id, "attached"]],
  );
});

test("a key that cannot be used is named on the claim within a minute, with the actions that are missing", async () => {
  const key = "arn:aws:kms:us-east-1:123456789012:key/denied";
  const world = await claimWorld({ keys: [] });
  world.start();
  await world.class("sealed", { volumeBindingMode: "Immediate", parameters: { encrypted: "true", kmsKeyId: key } });
  await world.claim("data", { storageClassName: "sealed" });
  const told = async () => (await world.events("data")).get("ProvisioningFailed") ?? "";
  const ms = await took(world, "the claim says why", async () => (await told()) !== "");
  assert.ok(ms <= 60_000, `${ms} ms`);
  assert.ok((await told()).includes(key), await told());
  assert.match(await told(), /kms:CreateGrant/);
});
