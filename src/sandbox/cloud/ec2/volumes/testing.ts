/** What the tests of volumes share. */
import {
  CreateVolumeCommand,
  type CreateVolumeCommandInput,
  DescribeVolumesCommand,
  type EC2Client,
  type Filter,
  type Volume,
} from "@aws-sdk/client-ec2";
import type { SettingsChange } from "../../controls/controls.ts";
import { launchNodes } from "../../network.ts";
import { networkBed } from "../../testing.ts";
import type { Instance } from "../state.ts";

/** Long enough for every volume and instance to be in the state it is on its way to. */
export const A_MINUTE = 60_000;

/** A cluster with nodes in three zones, the first and the fourth in the same. */
export function volumeBed(settings: SettingsChange = {}, instanceType: Instance["type"] = "m5.large") {
  const bed = networkBed({}, { settings });
  const nodes = launchNodes(bed.cloud, bed.network, 4, instanceType);
  bed.world.pass(A_MINUTE);
  const [first, elsewhere, , beside] = nodes as readonly [Instance, Instance, Instance, Instance];
  const client = bed.ec2;
  return {
    ...bed,
    first,
    elsewhere,
    beside,
    /** A volume in the zone of the first node, available at once. */
    async volume(input: Partial<CreateVolumeCommandInput> = {}): Promise<string> {
      const { VolumeId } = await create(client, first.zone, input);
      bed.world.pass(A_MINUTE);
      return VolumeId!;
    },
    create: (input: Partial<CreateVolumeCommandInput> = {}) => create(client, first.zone, input),
    see: (id: string) => see(client, id),
    matching: async (...Filters: Filter[]) =>
      (await client.send(new DescribeVolumesCommand({ Filters }))).Volumes!.map((each) => each.VolumeId),
  };
}

function create(ec2: EC2Client, zone: string, input: Partial<CreateVolumeCommandInput>): Promise<Volume> {
  const place = input.AvailabilityZoneId === undefined ? { AvailabilityZone: zone } : {};
  return ec2.send(new CreateVolumeCommand({ ...place, VolumeType: "gp3", ...(input.SnapshotId ? {} : { Size: 10 }), ...input }));
}

async function see(ec2: EC2Client, id: string): Promise<Volume> {
  return (await ec2.send(new DescribeVolumesCommand({ VolumeIds: [id] }))).Volumes![0]!;
}
