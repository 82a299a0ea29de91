import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AttachVolumeCommand,
  DeleteVolumeCommand,
  DescribeInstancesCommand,
  DetachVolumeCommand,
  type EC2Client,
  RunInstancesCommand,
  StopInstancesCommand,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import { refused } from "../../testing.ts";
import type { Instance } from "../state.ts";
import { obstructions } from "./state.ts";
import { A_MINUTE, volumeBed } from "./testing.ts";

function attach(ec2: EC2Client, VolumeId: string, instance: Instance, Device = "/dev/xvdaa", EbsCardIndex?: number) {
  return ec2.send(new AttachVolumeCommand({ VolumeId, InstanceId: instance.id, Device, EbsCardIndex }));
}

function detach(ec2: EC2Client, VolumeId: string, instance?: Instance, Force?: boolean) {
  return ec2.send(new DetachVolumeCommand({ VolumeId, InstanceId: instance?.id, Force }));
}

async function devices(ec2: EC2Client, instance: Instance): Promise<readonly (string | undefined)[]> {
  const { Reservations } = await ec2.send(new DescribeInstancesCommand({ InstanceIds: [instance.id] }));
  return Reservations![0]!.Instances![0]!.BlockDeviceMappings!.map((mapping) => `${mapping.DeviceName} ${mapping.Ebs?.Status}`);
}

test("AttachVolume: an attached volume is VolumeInUse, at another instance and at its own", async () => {
  const { ec2, volume, first, beside, see, world } = volumeBed();
  const id = await volume();
  const attachment = await attach(ec2, id, first);
  assert.deepEqual([attachment.State, (await see(id)).State], ["attaching", "in-use"]);
  assert.deepEqual(await devices(ec2, first), ["/dev/xvda attached", "/dev/xvdaa attaching"]);
  await refused(attach(ec2, id, beside), "VolumeInUse");
  world.pass(A_MINUTE);
  assert.deepEqual(await devices(ec2, first), ["/dev/xvda attached", "/dev/xvdaa attached"]);
  await refused(attach(ec2, id, beside), "VolumeInUse");
  await refused(attach(ec2, id, first, "/dev/xvdab"), "VolumeInUse");
  assert.deepEqual(
    (await see(id)).Attachments!.map((each) => each.InstanceId),
    [first.id],
  );
});

test("AttachVolume: an occupied device name is refused until its volume is detached for good", async () => {
  const { ec2, volume, first, world } = volumeBed();
  const [one, two] = [await volume(), await volume()];
  await attach(ec2, one, first);
  assert.match(await refused(attach(ec2, two, first), "InvalidParameterValue"), /already in use/);
  world.pass(A_MINUTE);
  await detach(ec2, one, first);
  await refused(attach(ec2, two, first), "InvalidParameterValue");
  world.pass(A_MINUTE);
  await attach(ec2, two, first);
  await refused(attach(ec2, one, first, "/dev/nonsense"), "InvalidParameterValue");
});

test("AttachVolume: another zone is InvalidVolume.ZoneMismatch", async () => {
  const { ec2, volume, elsewhere } = volumeBed();
  await refused(attach(ec2, await volume(), elsewhere), "InvalidVolume.ZoneMismatch");
});

test("AttachVolume: a terminated instance is refused, a stopped one is not; a volume that is creating is refused", async () => {
  const { ec2, volume, create, first, beside, world } = volumeBed();
  const id = await volume();
  await refused(attach(ec2, (await create()).VolumeId!, first), "IncorrectState");
  await ec2.send(new TerminateInstancesCommand({ InstanceIds: [first.id] }));
  world.pass(A_MINUTE);
  await refused(attach(ec2, id, first), "IncorrectState");
  await ec2.send(new StopInstancesCommand({ InstanceIds: [beside.id] }));
  world.pass(A_MINUTE);
  await attach(ec2, id, beside);
});

test("AttachVolume: an instance takes as many volumes as its type has attachments, the root volume and further interfaces among them", async () => {
  const { ec2, volume, first } = volumeBed();
  for (let index = 0; index < 26; index++) await attach(ec2, await volume(), first, `/dev/xvda${String.fromCharCode(97 + index)}`);
  await refused(attach(ec2, await volume(), first, "/dev/xvdba"), "AttachmentLimitExceeded");
});

test("AttachVolume: multi-attach keeps every attachment, and each is detached by its instance", async () => {
  const { ec2, volume, first, beside, see, world } = volumeBed();
  const id = await volume({ VolumeType: "io2", Iops: 100, MultiAttachEnabled: true });
  await attach(ec2, id, first);
  await attach(ec2, id, beside);
  world.pass(A_MINUTE);
  const holders = async () => (await see(id)).Attachments!.map((each) => each.InstanceId);
  assert.deepEqual(await holders(), [first.id, beside.id]);
  await refused(detach(ec2, id), "InvalidParameterCombination");
  await detach(ec2, id, first);
  world.pass(A_MINUTE);
  assert.deepEqual(await holders(), [beside.id]);
  assert.equal((await see(id)).State, "in-use");
});

test("AttachVolume takes a card where the type has several, and reports it", async () => {
  const { ec2, volume, first, see } = volumeBed({}, "r8gb.48xlarge");
  const id = await volume();
  await refused(attach(ec2, id, first, "/dev/xvdaa", 2), "InvalidParameterValue");
  assert.equal((await attach(ec2, id, first, "/dev/xvdaa", 1)).EbsCardIndex, 1);
  assert.equal((await see(id)).Attachments![0]!.EbsCardIndex, 1);
});

test("DetachVolume: already detached is IncorrectState; another instance is InvalidAttachment.NotFound", async () => {
  const { ec2, volume, first, beside, see, world } = volumeBed();
  const id = await volume();
  await refused(detach(ec2, id, first), "IncorrectState");
  await attach(ec2, id, first);
  world.pass(A_MINUTE);
  await refused(detach(ec2, id, beside), "InvalidAttachment.NotFound");
  assert.equal((await detach(ec2, id, first)).State, "detaching");
  assert.equal((await see(id)).Attachments![0]!.State, "detaching");
  await refused(detach(ec2, id, first), "IncorrectState");
  await refused(ec2.send(new DeleteVolumeCommand({ VolumeId: id })), "VolumeInUse");
  world.pass(A_MINUTE);
  assert.equal((await see(id)).State, "available");
  await refused(detach(ec2, id, first), "IncorrectState");
});

test("DetachVolume without an instance id detaches from the only instance", async () => {
  const { ec2, volume, first, see, world } = volumeBed();
  const id = await volume();
  await attach(ec2, id, first);
  world.pass(A_MINUTE);
  await detach(ec2, id);
  world.pass(A_MINUTE);
  assert.deepEqual((await see(id)).Attachments, []);
  await refused(detach(ec2, first.rootVolumeId), "OperationNotPermitted");
});

test("An obstructed attachment stays attaching; a device in use stays busy until it is let go or forced", async () => {
  const { ec2, volume, first, see, cloud, world } = volumeBed();
  const [stuck, busy, forced] = [await volume(), await volume(), await volume()];
  const obstructed = obstructions(cloud.account.ec2);
  obstructed.put(stuck, { attaching: true });
  for (const [index, id] of [stuck, busy, forced].entries()) await attach(ec2, id, first, `/dev/xvdb${"abc"[index]}`);
  world.pass(10 * A_MINUTE);
  const state = async (id: string) => (await see(id)).Attachments![0]?.State;
  assert.deepEqual([await state(stuck), await state(busy)], ["attaching", "attached"]);
  for (const id of [busy, forced]) {
    obstructed.put(id, { busy: true });
    await detach(ec2, id, first);
  }
  world.pass(10 * A_MINUTE);
  assert.deepEqual([await state(busy), await state(forced)], ["busy", "busy"]);
  await detach(ec2, forced, first, true);
  obstructed.delete(busy);
  world.pass(A_MINUTE);
  assert.deepEqual([await state(busy), await state(forced)], [undefined, undefined]);
});

test("A detachment while attaching stays one; a volume that is back after a forced one has its own time", async () => {
  const { ec2, volume, first, see, world } = volumeBed();
  const [one, two] = [await volume(), await volume()];
  const state = async (id: string) => (await see(id)).Attachments![0]?.State;
  await attach(ec2, one, first);
  await detach(ec2, one, first);
  await attach(ec2, two, first, "/dev/xvdab");
  world.pass(1500);
  await detach(ec2, two, first, true);
  await attach(ec2, two, first, "/dev/xvdab");
  world.pass(1000);
  assert.deepEqual([await state(one), await state(two)], ["detaching", "attaching"]);
  world.pass(1000);
  assert.deepEqual([await state(one), await state(two)], [undefined, "attached"]);
});

test("Termination deletes the root volume and makes the others available", async () => {
  const { ec2, volume, first, see, world } = volumeBed();
  const id = await volume();
  await attach(ec2, id, first);
  world.pass(A_MINUTE);
  await ec2.send(new TerminateInstancesCommand({ InstanceIds: [first.id] }));
  assert.equal((await see(id)).State, "in-use");
  world.pass(A_MINUTE);
  assert.deepEqual([(await see(id)).State, (await see(id)).Attachments], ["available", []]);
  await refused(see(first.rootVolumeId), "InvalidVolume.NotFound");
  assert.deepEqual(await devices(ec2, first), []);
});

test("RunInstances makes the volumes of its block device mappings, with their tags, and deletes them as it was told", async () => {
  const { ec2, network, see, world, cloud } = volumeBed();
  const { Instances } = await ec2.send(
    new RunInstancesCommand({
      ImageId: "ami-0123456789abcdef0",
      InstanceType: "m5.large",
      MinCount: 1,
      MaxCount: 1,
      SubnetId: network.privateSubnetIds[0],
      BlockDeviceMappings: [
        { DeviceName: "/dev/xvda", Ebs: { VolumeSize: 100 } },
        { DeviceName: "/dev/xvdb", Ebs: { VolumeSize: 50, VolumeType: "gp3", DeleteOnTermination: false } },
      ],
      TagSpecifications: [{ ResourceType: "volume", Tags: [{ Key: "a", Value: "b" }] }],
    }),
  );
  const instance = cloud.account.ec2.instances.get(Instances![0]!.InstanceId!)!;
  const [root, data] = instance.volumeIds;
  world.pass(A_MINUTE);
  assert.deepEqual([(await see(root!)).Size, (await see(data!)).Size, (await see(data!)).Tags], [100, 50, [{ Key: "a", Value: "b" }]]);
  assert.deepEqual(await devices(ec2, instance), ["/dev/xvda attached", "/dev/xvdb attached"]);
  await ec2.send(new TerminateInstancesCommand({ InstanceIds: [instance.id] }));
  world.pass(A_MINUTE);
  await refused(see(root!), "InvalidVolume.NotFound");
  assert.equal((await see(data!)).State, "available");
});

test("What AttachVolume and DetachVolume touch can be allowed by tag", async () => {
  const { ec2, volume, first, cloud } = volumeBed();
  const tagged = await volume({ TagSpecifications: [{ ResourceType: "volume", Tags: [{ Key: "ours", Value: "true" }] }] });
  const foreign = await volume();
  const ours = { StringEquals: { "aws:ResourceTag/ours": "true" } };
  const [volumes, instances] = ["volume", "instance"].map((kind) => `arn:aws:ec2:*:*:${kind}/*`);
  cloud.controls.change({
    policy: [
      { effect: "allow", actions: ["ec2:AttachVolume"], resources: [volumes!], condition: ours },
      { effect: "allow", actions: ["ec2:AttachVolume"], resources: [instances!] },
    ],
  });
  await attach(ec2, tagged, first);
  await refused(attach(ec2, foreign, first, "/dev/xvdab"), "UnauthorizedOperation");
});
