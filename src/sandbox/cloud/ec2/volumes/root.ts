/** The volume that an instance boots from: made at its launch, deleted with it. */
import type { Ec2, Instance, Tags } from "../state.ts";
import { checkedSpec } from "./specs.ts";

/** The name of the root device, as the usual node images have it. */
export const ROOT_DEVICE = "/dev/xvda";
const ROOT_SPEC = checkedSpec({ type: "gp3", sizeGiB: 8, iops: undefined, throughput: undefined, multiAttach: false });

/** Puts the root volume of a new instance in its place. */
export function createRootVolume(ec2: Ec2, instance: Instance, tags: Tags): void {
  const now = ec2.account.time.now();
  ec2.volumes.put(instance.rootVolumeId, {
    id: instance.rootVolumeId,
    state: "available",
    spec: ROOT_SPEC,
    zone: instance.zone,
    zoneId: instance.zoneId,
    outpostArn: undefined,
    created: now,
    encrypted: false,
    kmsKeyArn: undefined,
    snapshotId: undefined,
    sourceVolumeId: undefined,
    fastRestored: false,
    initializationRate: undefined,
    initialised: undefined,
    attachments: [
      { instanceId: instance.id, device: ROOT_DEVICE, cardIndex: undefined, state: "attached", deleteOnTermination: true, attached: now },
    ],
    modification: undefined,
    modified: [],
    tags,
  });
}
