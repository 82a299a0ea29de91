/** What is looked at to explain a claim or a PersistentVolume: from the claim to the disk and the node that has it. */
import type { Volume, VolumeLookup, VolumeModification } from "../aws/volumes.ts";
import type { Stored } from "../kube/resource.ts";
import type { CSINode, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, VolumeAttachment } from "../kube/types.ts";

export interface VolumeFacts {
  /** Undefined for a PersistentVolume that no claim is bound to. */
  readonly claim: Stored<PersistentVolumeClaim> | undefined;
  readonly storageClass: Stored<StorageClass> | undefined;
  readonly volume: Stored<PersistentVolume> | undefined;
  /** Of the volume. */
  readonly attachments: readonly Stored<VolumeAttachment>[];
  /** That use the claim. */
  readonly pods: readonly Stored<Pod>[];
  /** Of the nodes that pods and attachments name. */
  readonly nodes: readonly ExplainedNode[];
  /** Undefined when no disk is known. */
  readonly disk: { readonly id: string; readonly lookup: VolumeLookup } | undefined;
  readonly modification: VolumeModification | undefined;
  readonly clusterId: string | undefined;
  /** Warnings about the claim and the volume, the latest first, with their age. */
  readonly warnings: readonly string[];
}

export interface ExplainedNode {
  readonly name: string;
  readonly zone: string | undefined;
  /** Undefined when no Node of that name exists. */
  readonly instanceId: string | undefined;
  readonly exists: boolean;
  readonly csiNode: Stored<CSINode> | undefined;
  /** Attachments of this driver to the node, wanted or there. */
  readonly attached: number;
}

/** The disk as EC2 shows it. */
export function diskIn({ disk }: Pick<VolumeFacts, "disk">): Volume | undefined {
  return disk?.lookup.kind === "found" ? disk.lookup.volume : undefined;
}
