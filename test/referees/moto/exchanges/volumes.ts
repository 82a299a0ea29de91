/** Volumes and their snapshots: made, found, attached, changed, detached, deleted. */
import {
  AttachVolumeCommand,
  CreateSnapshotCommand,
  CreateTagsCommand,
  CreateVolumeCommand,
  DeleteSnapshotCommand,
  DeleteVolumeCommand,
  DescribeSnapshotsCommand,
  DescribeVolumesCommand,
  DescribeVolumesModificationsCommand,
  DetachVolumeCommand,
  ModifyVolumeCommand,
} from "@aws-sdk/client-ec2";
import { asker, type Exchange } from "../script.ts";

const ask = asker("ec2");
/** Of the subnet that the node is in. */
const zone = "us-east-1b";
const missing = { volume: "vol-0123456789abcdef0", snapshot: "snap-0123456789abcdef0", instance: "i-0123456789abcdef0" };

export const volumeExchanges: readonly Exchange[] = [
  ask(
    "a volume is made with tags",
    CreateVolumeCommand,
    {
      AvailabilityZone: zone,
      Size: 10,
      VolumeType: "gp3",
      Encrypted: false,
      TagSpecifications: [{ ResourceType: "volume", Tags: [{ Key: "CSIVolumeName", Value: "pvc-1" }] }],
    },
    { volume: "VolumeId" },
  ),
  ask(
    "a volume is made with IOPS",
    CreateVolumeCommand,
    { AvailabilityZone: zone, Size: 20, VolumeType: "io1", Iops: 500 },
    { quickVolume: "VolumeId" },
  ),
  ask("a volume is made in a zone that does not exist", CreateVolumeCommand, { AvailabilityZone: "us-east-9z", Size: 10 }),
  ask("a volume of neither a size nor a snapshot is made", CreateVolumeCommand, { AvailabilityZone: zone }),
  ask("a volume is made of a snapshot that does not exist", CreateVolumeCommand, { AvailabilityZone: zone, SnapshotId: missing.snapshot }),
  ask("making a volume is only tried", CreateVolumeCommand, { AvailabilityZone: zone, Size: 10, DryRun: true }),
  ask("a volume by id", DescribeVolumesCommand, { VolumeIds: ["$volume"] }),
  ask("a volume with IOPS by id", DescribeVolumesCommand, { VolumeIds: ["$quickVolume"] }),
  ask("volumes by a tag", DescribeVolumesCommand, { Filters: [{ Name: "tag:CSIVolumeName", Values: ["pvc-1"] }] }),
  ask("volumes by the presence of a tag", DescribeVolumesCommand, { Filters: [{ Name: "tag-key", Values: ["CSIVolumeName"] }] }),
  ask("a volume that does not exist", DescribeVolumesCommand, { VolumeIds: [missing.volume] }),
  ask("a volume that exists beside one that does not", DescribeVolumesCommand, { VolumeIds: ["$volume", missing.volume] }),
  ask("a volume is attached", AttachVolumeCommand, { VolumeId: "$volume", InstanceId: "$node", Device: "/dev/xvdba" }),
  ask("a volume with an attachment", DescribeVolumesCommand, { VolumeIds: ["$volume"] }),
  ask("a volume by the instance that it is attached to", DescribeVolumesCommand, {
    Filters: [
      { Name: "attachment.instance-id", Values: ["$node"] },
      { Name: "attachment.device", Values: ["/dev/xvdba"] },
    ],
  }),
  ask("a volume that is attached already is attached", AttachVolumeCommand, {
    VolumeId: "$volume",
    InstanceId: "$node",
    Device: "/dev/xvdba",
  }),
  ask("a volume that does not exist is attached", AttachVolumeCommand, {
    VolumeId: missing.volume,
    InstanceId: "$node",
    Device: "/dev/xvdbb",
  }),
  ask("a volume is attached to an instance that does not exist", AttachVolumeCommand, {
    VolumeId: "$quickVolume",
    InstanceId: missing.instance,
    Device: "/dev/xvdbb",
  }),
  ask("a volume that is attached is deleted", DeleteVolumeCommand, { VolumeId: "$volume" }),
  ask("a volume grows", ModifyVolumeCommand, { VolumeId: "$volume", Size: 12 }),
  ask("how far a volume has grown", DescribeVolumesModificationsCommand, { VolumeIds: ["$volume"] }),
  ask("a volume that has grown", DescribeVolumesCommand, { VolumeIds: ["$volume"] }),
  ask("a volume shrinks", ModifyVolumeCommand, { VolumeId: "$quickVolume", Size: 5 }),
  ask("a volume that does not exist grows", ModifyVolumeCommand, { VolumeId: missing.volume, Size: 12 }),
  ask(
    "a snapshot is made",
    CreateSnapshotCommand,
    {
      VolumeId: "$volume",
      Description: "of a claim",
      TagSpecifications: [{ ResourceType: "snapshot", Tags: [{ Key: "CSIVolumeSnapshotName", Value: "snapshot-1" }] }],
    },
    { snapshot: "SnapshotId" },
  ),
  ask("a snapshot of a volume that does not exist is made", CreateSnapshotCommand, { VolumeId: missing.volume }),
  ask("a snapshot by id", DescribeSnapshotsCommand, { SnapshotIds: ["$snapshot"] }),
  ask("snapshots by a tag", DescribeSnapshotsCommand, { Filters: [{ Name: "tag:CSIVolumeSnapshotName", Values: ["snapshot-1"] }] }),
  ask("snapshots of a volume", DescribeSnapshotsCommand, { Filters: [{ Name: "volume-id", Values: ["$volume"] }] }),
  ask("a snapshot that does not exist", DescribeSnapshotsCommand, { SnapshotIds: [missing.snapshot] }),
  ask(
    "a volume is made of a snapshot",
    CreateVolumeCommand,
    { AvailabilityZone: zone, SnapshotId: "$snapshot", VolumeType: "gp3" },
    { copy: "VolumeId" },
  ),
  ask("a volume that was made of a snapshot", DescribeVolumesCommand, { VolumeIds: ["$copy"] }),
  ask("a volume is tagged", CreateTagsCommand, { Resources: ["$copy"], Tags: [{ Key: "team", Value: "shop" }] }),
  ask("a volume by its new tag", DescribeVolumesCommand, { Filters: [{ Name: "tag:team", Values: ["shop"] }] }),
  ask("a snapshot is deleted", DeleteSnapshotCommand, { SnapshotId: "$snapshot" }),
  ask("a snapshot that is gone is deleted", DeleteSnapshotCommand, { SnapshotId: "$snapshot" }),
  ask("a volume is detached", DetachVolumeCommand, { VolumeId: "$volume", InstanceId: "$node" }),
  ask("a volume that is detached", DescribeVolumesCommand, { VolumeIds: ["$volume"] }),
  ask("a volume that is not attached is detached", DetachVolumeCommand, { VolumeId: "$volume", InstanceId: "$node" }),
  ask("a volume that does not exist is detached", DetachVolumeCommand, { VolumeId: missing.volume }),
  ask("a volume is deleted", DeleteVolumeCommand, { VolumeId: "$volume" }),
  ask("a volume with IOPS is deleted", DeleteVolumeCommand, { VolumeId: "$quickVolume" }),
  ask("a volume of a snapshot is deleted", DeleteVolumeCommand, { VolumeId: "$copy" }),
  ask("a volume that is gone", DescribeVolumesCommand, { VolumeIds: ["$volume"] }),
  ask("a volume that does not exist is deleted", DeleteVolumeCommand, { VolumeId: missing.volume }),
];
