/** Which ways of using a volume there are: written by one node, or as a raw device by several. */
import type { VolumeCapability } from "./csi/messages.ts";

/** Whether several instances write to it, which only a raw device allows. */
export function isMultiAttach(capability: VolumeCapability): boolean {
  return capability.accessMode?.mode === "MULTI_NODE_MULTI_WRITER" && isBlock(capability);
}

/** Whether it is used as a raw device. */
export function isBlock({ accessType }: VolumeCapability): boolean {
  return accessType === "block";
}

/** Whether EBS can offer it. */
export function isSupported(capability: VolumeCapability): boolean {
  return capability.accessMode?.mode === "SINGLE_NODE_WRITER" || isMultiAttach(capability);
}

/** The same for a disk that a node brings with it: nothing is attached, so every node may have its own. */
export function isSupportedLocally({ accessMode }: VolumeCapability): boolean {
  return accessMode?.mode === "SINGLE_NODE_WRITER" || accessMode?.mode === "MULTI_NODE_MULTI_WRITER";
}
