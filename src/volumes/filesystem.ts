/** File systems, and the options of their making that a StorageClass can choose. */
import { isBlock } from "./capability.ts";
import { invalidArgument } from "./csi/errors.ts";
import type { StringMap, VolumeCapability } from "./csi/messages.ts";

export interface FormatOption {
  /** As written in a StorageClass. */
  readonly name: string;
  /** As it travels in the volume context. */
  readonly key: string;
  readonly kind: "text" | "flag";
  /** Case-sensitively, as the capability spells it; a file system that is not named refuses nothing. */
  readonly refusedBy: readonly string[];
}

const option = (name: string, kind: FormatOption["kind"], refusedBy: readonly string[]): FormatOption => ({
  name,
  key: name.toLowerCase(),
  kind,
  refusedBy: [...refusedBy, "ntfs"],
});

/** In the order in which mkfs is given them. */
export const formatOptions: readonly FormatOption[] = [
  option("blockSize", "text", []),
  option("inodeSize", "text", []),
  option("bytesPerInode", "text", ["xfs"]),
  option("numberOfInodes", "text", ["xfs"]),
  option("ext4BigAlloc", "flag", ["ext3", "xfs"]),
  option("ext4ClusterSize", "text", ["ext3", "xfs"]),
  option("ext4EncryptionSupport", "flag", ["ext3", "xfs"]),
];

export const filesystems = ["ext3", "ext4", "xfs", "ntfs"] as const;
export const defaultFilesystem = "ext4";

/** Whether a text can be handed to mkfs as the value of an option. */
export function isPlainValue(value: string): boolean {
  return /^[a-zA-Z0-9]*$/.test(value);
}

/** Refuses options that a capability's file system does not have. `context` holds those that were chosen, by key. */
export function checkFormatOptions(context: StringMap, capabilities: readonly VolumeCapability[]): void {
  const chosen = formatOptions.filter(({ key }) => context[key] !== undefined);
  for (const capability of capabilities) {
    for (const { key, refusedBy } of chosen) {
      if (isBlock(capability)) throw invalidArgument(`Cannot use ${key} with block volume`);
      if (!capability.mount) throw invalidArgument(`Cannot use ${key}: the capability names neither a mount nor a block device`);
      const { fsType } = capability.mount;
      if (refusedBy.includes(fsType)) throw invalidArgument(`Cannot use ${key} with fstype ${fsType}`);
    }
  }
  if (context.ext4clustersize !== undefined && context.ext4bigalloc === undefined) {
    throw invalidArgument("Cannot set ext4BigAllocClusterSize when ext4BigAlloc is false");
  }
}
