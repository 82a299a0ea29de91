/** The controller service as the gRPC server calls it. */
import type * as messages from "../csi/messages.ts";
import type { Methods } from "../csi/server.ts";
import type { ControllerContext, Rpc } from "./context.ts";
import { createSnapshot } from "./create-snapshot.ts";
import { createVolume } from "./create-volume.ts";
import { deleteVolume } from "./delete-volume.ts";
import { expandVolume, modifyProperties, modifyVolume } from "./expand.ts";
import { publishVolume } from "./publish.ts";
import { validateCapabilities } from "./service.ts";
import { deleteSnapshot, listSnapshots } from "./snapshots.ts";
import { unpublishVolume } from "./unpublish.ts";

const capabilities = [
  "CREATE_DELETE_VOLUME",
  "CLONE_VOLUME",
  "PUBLISH_UNPUBLISH_VOLUME",
  "CREATE_DELETE_SNAPSHOT",
  "LIST_SNAPSHOTS",
  "EXPAND_VOLUME",
  "MODIFY_VOLUME",
];

/** The calls of `csi.v1.Controller`. */
export function controllerMethods(context: ControllerContext): Methods {
  return {
    ControllerGetCapabilities: async () => ({ capabilities: capabilities.map((type) => ({ rpc: { type } })) }),
    async CreateVolume(request: messages.CreateVolumeRequest, rpc: Rpc) {
      return { volume: await createVolume(request, rpc, context) };
    },
    async DeleteVolume(request: messages.DeleteVolumeRequest, rpc: Rpc) {
      await deleteVolume(request, rpc, context);
      return {};
    },
    async ControllerPublishVolume(request: messages.PublishVolumeRequest, rpc: Rpc) {
      return { publishContext: await publishVolume(request, rpc, context) };
    },
    async ControllerUnpublishVolume(request: messages.UnpublishVolumeRequest, rpc: Rpc) {
      await unpublishVolume(request, rpc, context);
      return {};
    },
    async ValidateVolumeCapabilities(request: messages.ValidateCapabilitiesRequest, rpc: Rpc) {
      const volumeCapabilities = await validateCapabilities(request, rpc, context);
      return volumeCapabilities === undefined ? {} : { confirmed: { volumeCapabilities } };
    },
    ControllerExpandVolume: (request: messages.ExpandVolumeRequest, rpc: Rpc) => expandVolume(request, rpc, context),
    async ControllerModifyVolume(request: messages.ModifyVolumeRequest, rpc: Rpc) {
      await modifyVolume(request, rpc, context);
      return {};
    },
    async CreateSnapshot(request: messages.CreateSnapshotRequest, rpc: Rpc) {
      return { snapshot: await createSnapshot(request, rpc, context) };
    },
    async DeleteSnapshot(request: messages.DeleteSnapshotRequest, rpc: Rpc) {
      await deleteSnapshot(request, rpc, context);
      return {};
    },
    async ListSnapshots(request: messages.ListSnapshotsRequest, rpc: Rpc) {
      const { snapshots, nextToken } = await listSnapshots(request, rpc, context);
      return { entries: snapshots.map((snapshot) => ({ snapshot })), nextToken };
    },
  };
}

/** The calls of `modify.v1.Modify`. */
export function modifyMethods(context: ControllerContext): Methods {
  return {
    GetCSIDriverModificationCapability: async () => ({}),
    async ModifyVolumeProperties({ name, parameters }: { readonly name: string; readonly parameters: messages.StringMap }, rpc: Rpc) {
      await modifyProperties(name, parameters, rpc, context);
      return {};
    },
  };
}
