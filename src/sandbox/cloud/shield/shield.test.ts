import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CreateProtectionCommand,
  CreateSubscriptionCommand,
  DeleteProtectionCommand,
  DescribeProtectionCommand,
  GetSubscriptionStateCommand,
  ListProtectionsCommand,
  ShieldClient,
} from "@aws-sdk/client-shield";
import { balancingBed } from "../balancing/testing.ts";
import { application } from "../elbv2/application-testing.ts";
import { sdkConfig } from "../sdk-handler.ts";
import { refused } from "../testing.ts";

test("a protection needs a subscription, is made once per resource, found by it, and deleted", async () => {
  const bed = await balancingBed();
  const shield = new ShieldClient(sdkConfig(bed.cloud));
  const ResourceArn = (await application(bed)).LoadBalancerArn!;
  const create = (arn = ResourceArn) => shield.send(new CreateProtectionCommand({ Name: "ours", ResourceArn: arn }));
  const state = async () => (await shield.send(new GetSubscriptionStateCommand({}))).SubscriptionState;
  assert.equal(await state(), "INACTIVE");
  await refused(create(), "ResourceNotFoundException");
  await shield.send(new CreateSubscriptionCommand({}));
  assert.equal(await state(), "ACTIVE");
  await refused(shield.send(new DescribeProtectionCommand({ ResourceArn })), "ResourceNotFoundException");
  const { ProtectionId } = await create();
  await refused(create(), "ResourceAlreadyExistsException");
  await refused(create(`${ResourceArn}x`), "ResourceNotFoundException");
  await refused(create("arn:aws:s3:::bucket"), "InvalidResourceException");
  const { Protection } = await shield.send(new DescribeProtectionCommand({ ResourceArn }));
  assert.deepEqual([Protection?.Id, Protection?.Name], [ProtectionId, "ours"]);
  assert.equal((await shield.send(new ListProtectionsCommand({}))).Protections?.length, 1);
  await shield.send(new DeleteProtectionCommand({ ProtectionId }));
  await refused(shield.send(new DeleteProtectionCommand({ ProtectionId })), "ResourceNotFoundException");
});
