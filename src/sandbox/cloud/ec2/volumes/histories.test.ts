/** Random histories: whatever users, machines and AWS do, volumes and instances agree about each other. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AttachVolumeCommand,
  CreateVolumeCommand,
  DeleteVolumeCommand,
  DetachVolumeCommand,
  ModifyVolumeCommand,
  StartInstancesCommand,
  StopInstancesCommand,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import { seededRandom } from "../../../seeded-random.ts";
import { launchNodes } from "../../network.ts";
import { networkBed } from "../../testing.ts";
import type { Ec2 } from "../state.ts";
import { obstructions } from "./state.ts";

/** Refusals that a history of random calls may run into; anything else, a fault of the simulation above all, is a failure. */
const REFUSALS =
  /^(VolumeInUse|IncorrectState|IncorrectInstanceState|InvalidVolume\.NotFound|InvalidVolume\.ZoneMismatch|InvalidAttachment\.NotFound|InvalidParameterValue|InvalidParameterCombination|IncorrectModificationState|VolumeModificationRateExceeded|OperationNotPermitted|AttachmentLimitExceeded)$/;

async function history(seed: number, steps: number): Promise<Ec2> {
  const { cloud, network, ec2, world } = networkBed({}, { seed });
  const random = seededRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random.number() * list.length)]!;
  const state = cloud.account.ec2;
  const nodes = launchNodes(cloud, network, 6);
  world.pass(60_000);
  const volume = () => pick(state.volumes.values()).id;
  const node = () => pick(nodes);
  const device = () => `/dev/xvda${pick(["a", "b", "c"])}`;
  const calls: readonly (() => Promise<unknown>)[] = [
    () => ec2.send(new CreateVolumeCommand({ AvailabilityZone: node().zone, Size: 10, VolumeType: "gp3" })),
    () =>
      ec2.send(
        new CreateVolumeCommand({ AvailabilityZone: node().zone, Size: 10, VolumeType: "io2", Iops: 100, MultiAttachEnabled: true }),
      ),
    () => ec2.send(new AttachVolumeCommand({ VolumeId: volume(), InstanceId: node().id, Device: device() })),
    () => ec2.send(new AttachVolumeCommand({ VolumeId: volume(), InstanceId: node().id, Device: device() })),
    () => ec2.send(new AttachVolumeCommand({ VolumeId: volume(), InstanceId: node().id, Device: device() })),
    () => ec2.send(new DetachVolumeCommand({ VolumeId: volume(), InstanceId: node().id })),
    () => ec2.send(new DetachVolumeCommand({ VolumeId: volume(), Force: random.number() < 0.3 })),
    () => ec2.send(new DeleteVolumeCommand({ VolumeId: volume() })),
    () => ec2.send(new ModifyVolumeCommand({ VolumeId: volume(), Size: 10 + Math.floor(random.number() * 20) })),
    () => ec2.send(new StopInstancesCommand({ InstanceIds: [node().id] })),
    () => ec2.send(new StartInstancesCommand({ InstanceIds: [node().id] })),
    async () => random.number() < 0.1 && ec2.send(new TerminateInstancesCommand({ InstanceIds: [node().id] })),
    async () => obstructions(state).put(volume(), { attaching: random.number() < 0.3, busy: random.number() < 0.3 }),
  ];
  for (let step = 0; step < steps; step++) {
    try {
      await pick(calls)();
    } catch (error) {
      assert.match((error as Error).name, REFUSALS, String((error as Error).stack));
    }
    world.pass(Math.floor(random.number() * 5000));
    cloud.account.time.settle();
    check(state, `seed ${seed}, step ${step}`);
  }
  return state;
}

function check({ volumes, instances }: Ec2, when: string): void {
  for (const { id, spec, state, attachments } of volumes.values()) {
    assert.ok(spec.multiAttach || attachments.length <= 1, `${when}: ${id} is attached twice`);
    assert.ok(state === "available" || attachments.length === 0, `${when}: ${id} is ${state} and attached`);
    const holders = attachments.map(({ instanceId }) => instanceId);
    assert.equal(new Set(holders).size, holders.length, `${when}: ${id} is attached twice to one instance`);
    for (const holder of holders) assert.ok(instances.get(holder)?.volumeIds.includes(id), `${when}: ${holder} does not know of ${id}`);
  }
  for (const instance of instances.values()) {
    const devices = instance.volumeIds.map((id) => {
      const attachment = volumes.get(id)?.attachments.find(({ instanceId }) => instanceId === instance.id);
      assert.ok(attachment !== undefined, `${when}: ${instance.id} has ${id}, which is not attached to it`);
      assert.equal(volumes.get(id)?.zone, instance.zone, `${when}: ${id} is in another zone than ${instance.id}`);
      return attachment.device;
    });
    assert.equal(new Set(devices).size, devices.length, `${when}: two volumes are ${devices} of ${instance.id}`);
    if (instance.state === "terminated") assert.deepEqual(devices, [], `${when}: ${instance.id} is terminated and has volumes`);
  }
}

test("In random histories no single-attach volume is at two instances, no device name is given twice, and both sides agree", async () => {
  let attached = 0;
  for (const seed of [1, 2, 3, 4, 5]) {
    const state = await history(seed, 200);
    attached += state.volumes.values().filter(({ attachments }) => attachments.some(({ device }) => device !== "/dev/xvda")).length;
  }
  assert.ok(attached > 0);
});

test("The same seed gives the same history", async () => {
  const [one, two] = [await history(9, 100), await history(9, 100)];
  assert.deepEqual(one.volumes.entries(), two.volumes.entries());
});
