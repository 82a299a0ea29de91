/** The node service as the gRPC server calls it. */
import type * as messages from "../csi/messages.ts";
import type { Methods } from "../csi/server.ts";
import { volumeLimit } from "../limits.ts";
import { topologyKeys } from "../names.ts";
import type { Rpc } from "../rpc.ts";
import { outpostSegments } from "../topology.ts";
import type { NodeContext } from "./context.ts";
import { expandVolume, volumeStats } from "./expand.ts";
import { publishVolume, unpublishVolume } from "./publish.ts";
import { stageVolume, unstageVolume } from "./stage.ts";

const capabilities = ["STAGE_UNSTAGE_VOLUME", "EXPAND_VOLUME", "GET_VOLUME_STATS"];

/** The calls of `csi.v1.Node`. */
export function nodeMethods(context: NodeContext): Methods {
  return {
    NodeGetCapabilities: async () => ({ capabilities: capabilities.map((type) => ({ rpc: { type } })) }),
    async NodeGetInfo(_: never, rpc: Rpc) {
      const facts = await context.facts(rpc.signal);
      const [wellKnown, legacy] = topologyKeys.zone;
      const segments = {
        [wellKnown]: facts.zone,
        [legacy]: facts.zone,
        [topologyKeys.system]: "linux",
        ...outpostSegments(facts.outpostArn),
      };
      return {
        nodeId: facts.instanceId,
        maxVolumesPerNode: String(volumeLimit(facts, context.settings.limits)),
        accessibleTopology: { segments },
      };
    },
    async NodeStageVolume(request: messages.StageVolumeRequest, rpc: Rpc) {
      await stageVolume(request, rpc, context);
      return {};
    },
    async NodeUnstageVolume(request: messages.UnstageVolumeRequest) {
      await unstageVolume(request, context);
      return {};
    },
    async NodePublishVolume(request: messages.NodePublishRequest, rpc: Rpc) {
      await publishVolume(request, rpc, context);
      return {};
    },
    async NodeUnpublishVolume(request: messages.NodeUnpublishRequest) {
      await unpublishVolume(request, context);
      return {};
    },
    async NodeExpandVolume(request: messages.NodeExpandRequest, rpc: Rpc) {
      const capacityBytes = await expandVolume(request, rpc, context);
      return capacityBytes === undefined ? {} : { capacityBytes };
    },
    NodeGetVolumeStats: async (request: messages.VolumeStatsRequest) => ({ usage: await volumeStats(request, context) }),
  };
}
