/** Volumes and snapshots. */
import { type Accepted, absent } from "../accepted.ts";
import { ec2Errors, ec2Page } from "./documents.ts";

const answersWithVolumes = ["ec2:CreateVolume", "ec2:DescribeVolumes"];
const modifications = ["ec2:ModifyVolume", "ec2:DescribeVolumesModifications"];
const alike = ["Iops", "VolumeType", "Throughput", "MultiAttachEnabled"];

export const volumeDifferences: readonly Accepted[] = [
  {
    in: answersWithVolumes,
    at: ["AvailabilityZoneId", "MultiAttachEnabled", "Throughput", "VolumeArn", "OwnerId"],
    moto: absent,
    departs: "moto",
    why: "moto leaves out much of what a volume says of itself",
    document: ec2Page("API_Volume"),
  },
  {
    in: ["ec2:AttachVolume", "ec2:DetachVolume", "ec2:DescribeVolumes"],
    at: ["DeleteOnTermination"],
    moto: absent,
    departs: "moto",
    why: "an attachment says whether the volume goes with its instance",
    document: ec2Page("API_VolumeAttachment"),
  },
  {
    in: ["ec2:CreateVolume"],
    at: ["State"],
    ours: "creating",
    moto: "available",
    departs: "moto",
    why: "a volume takes a moment to be made",
    document: ec2Page("API_CreateVolume"),
  },
  {
    in: ["a volume is made in a zone that does not exist"],
    at: ["error", "VolumeType", "VolumeId", "Size", "State", "CreateTime", "Encrypted"],
    departs: "moto",
    why: "a volume is made in a zone of the region",
    document: ec2Errors,
  },
  {
    in: ["a volume is made of a snapshot that does not exist", "a snapshot that does not exist", "a snapshot that is gone is deleted"],
    at: ["error.names"],
    moto: absent,
    departs: "moto",
    why: "a refusal names the snapshot that is missing",
    document: ec2Errors,
  },
  {
    in: ["a volume that exists beside one that does not"],
    at: ["error.names[]"],
    ours: absent,
    moto: "(volume)",
    departs: "moto",
    why: "a refusal names the volume that is missing, not the one that is there",
    document: ec2Errors,
  },
  {
    in: ["a volume that is attached already is attached"],
    at: ["error", "VolumeId", "InstanceId", "Device", "State", "AttachTime"],
    departs: "moto",
    why: "a volume is attached once",
    document: ec2Errors,
  },
  {
    in: modifications,
    at: alike.flatMap((field) => [`Target${field}`, `Original${field}`]),
    moto: absent,
    departs: "moto",
    why: "moto tells of the size alone",
    document: ec2Page("API_VolumeModification"),
  },
  {
    in: ["a volume grows"],
    at: ["VolumeModification.ModificationState", "VolumeModification.Progress", "VolumeModification.EndTime"],
    departs: "moto",
    why: "a change begins, and is carried out afterwards",
    document: "https://docs.aws.amazon.com/ebs/latest/userguide/monitoring-volume-modifications.html",
  },
  {
    in: ["a volume shrinks"],
    at: ["error", "VolumeModification"],
    departs: "moto",
    why: "a volume does not shrink",
    document: ec2Page("API_ModifyVolume"),
  },
  {
    in: ["a snapshot is made"],
    at: ["State", "Progress"],
    departs: "moto",
    why: "a snapshot is stored after it was begun",
    document: ec2Page("API_CreateSnapshot"),
  },
  {
    in: ["ec2:DescribeSnapshots"],
    at: ["Snapshots[].CompletionTime"],
    ours: "(time)",
    moto: absent,
    departs: "moto",
    why: "a snapshot that is stored says since when",
    document: ec2Page("API_Snapshot"),
  },
  {
    in: ["a volume that is not attached is detached"],
    at: ["error.code", "error.names[]"],
    departs: "moto",
    why: "a volume in the state available cannot be detached from anything",
    document: ec2Errors,
  },
];
