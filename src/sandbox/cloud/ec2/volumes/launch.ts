/** The volumes that an instance is launched with: the one it boots from, and those that its launch asks for. */
import type { BlockDeviceMapping, EbsBlockDevice } from "@aws-sdk/client-ec2";
import { ServiceError } from "../../errors.ts";
import { find, KINDS } from "../kinds.ts";
import type { Ec2, Instance, Tags } from "../state.ts";
import { keyArn } from "./keys.ts";
import { checkedSpec } from "./specs.ts";

/** The name of the root device, as the usual node images have it. */
export const ROOT_DEVICE = "/dev/xvda";
const ROOT_SIZE_GIB = 8;

/** A volume that a launch will make. */
export interface LaunchVolume {
  readonly id: string;
  readonly device: string;
  readonly ebs: EbsBlockDevice;
}

/** The volumes of a launch, the root volume first. Mappings without a volume (disks of the machine itself) make none. */
export function launchVolumes(ec2: Ec2, mappings: readonly BlockDeviceMapping[] | undefined): readonly [LaunchVolume, ...LaunchVolume[]] {
  const named = (mappings ?? []).filter(({ Ebs, NoDevice }) => Ebs !== undefined && NoDevice === undefined);
  const devices = named.map(({ DeviceName }) => DeviceName);
  if (devices.includes(undefined) || new Set(devices).size < devices.length) {
    throw new ServiceError("InvalidBlockDeviceMapping", "Each block device mapping needs a device name of its own.");
  }
  const volume = (device: string, ebs: EbsBlockDevice): LaunchVolume => ({ id: ec2.account.ids.resource("vol"), device, ebs });
  const root = named.find(({ DeviceName }) => DeviceName === ROOT_DEVICE);
  const others = named.filter((mapping) => mapping !== root);
  return [
    volume(ROOT_DEVICE, { VolumeType: "gp3", VolumeSize: ROOT_SIZE_GIB, ...root?.Ebs }),
    ...others.map(({ DeviceName, Ebs }) => volume(DeviceName!, Ebs!)),
  ];
}

/** Puts a volume of a new instance in its place. It goes with the instance unless the launch says otherwise. */
export function createLaunchVolume(ec2: Ec2, instance: Instance, { id, device, ebs }: LaunchVolume, tags: Tags): void {
  const now = ec2.account.time.now();
  const snapshot = ebs.SnapshotId ? find(ec2.snapshots, KINDS.snapshot, ebs.SnapshotId) : undefined;
  const sizeGiB = ebs.VolumeSize ?? snapshot?.sizeGiB;
  if (sizeGiB === undefined || sizeGiB < (snapshot?.sizeGiB ?? 0)) {
    throw new ServiceError("InvalidBlockDeviceMapping", `The volume of ${device} needs a size, no smaller than its snapshot's.`);
  }
  const encrypted = ebs.Encrypted === true || snapshot?.encrypted === true;
  ec2.volumes.put(id, {
    id,
    state: "available",
    spec: checkedSpec({ type: ebs.VolumeType ?? "gp2", sizeGiB, iops: ebs.Iops, throughput: ebs.Throughput, multiAttach: false }),
    zone: instance.zone,
    zoneId: instance.zoneId,
    outpostArn: undefined,
    created: now,
    encrypted,
    kmsKeyArn: encrypted ? keyArn(ec2, ebs.KmsKeyId || snapshot?.kmsKeyArn) : undefined,
    snapshotId: snapshot?.id,
    sourceVolumeId: undefined,
    fastRestored: false,
    initializationRate: undefined,
    initialised: undefined,
    attachments: [
      {
        instanceId: instance.id,
        device,
        cardIndex: undefined,
        state: "attached",
        deleteOnTermination: ebs.DeleteOnTermination ?? true,
        attached: now,
      },
    ],
    modification: undefined,
    modified: [],
    tags,
  });
}
