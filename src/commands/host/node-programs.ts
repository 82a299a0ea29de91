/** The programs that `fairlead node` can host, one per node. To add one is to add a row. */
import type { HostedPrograms } from "./hosted.ts";
import { hostedMetadataHandler } from "./termination-handler.ts";
import { hostedVolumeNode } from "./volume-node.ts";

export const nodePrograms: HostedPrograms = {
  "node-termination-handler": hostedMetadataHandler,
  "ebs-csi-driver": hostedVolumeNode,
};
