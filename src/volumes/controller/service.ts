/** The controller service: every call of CSI that needs AWS. */
import type { Cloud } from "../../aws/cloud.ts";
import type { Host } from "../../runtime/host.ts";
import { isSupported, isSupportedLocally } from "../capability.ts";
import { ClientTokens } from "../client-tokens.ts";
import { CsiError, invalidArgument, wrapped } from "../csi/errors.ts";
import type { ValidateCapabilitiesRequest, VolumeCapability } from "../csi/messages.ts";
import { DeviceNames } from "../devices.ts";
import { InFlight } from "../in-flight.ts";
import { isNodeLocal, isVolumeId } from "../names.ts";
import { ask, type ControllerContext, type ControllerSettings, type Rpc } from "./context.ts";
import { DetachPending } from "./detach-pending.ts";
import { Detachments, FirstTime, RecentIds } from "./memory.ts";
import { ModificationWindows } from "./modification-windows.ts";
import { modify } from "./modify-volume.ts";
import { ZoneIops } from "./zone-iops.ts";

/** What one controller process knows and remembers. */
export function controllerContext(host: Host, cloud: Cloud, settings: ControllerSettings): ControllerContext {
  const { clock } = host.world;
  const zoneIops = new ZoneIops(cloud, clock, settings.tags.clusterId);
  const parts = { cloud, clock, zoneIops };
  return {
    host,
    cloud,
    settings,
    inFlight: new InFlight(),
    tokens: new ClientTokens(clock),
    devices: new DeviceNames(clock),
    zoneIops,
    windows: new ModificationWindows(clock, settings.modifyWindowMs, (id, change, signal) => modify(id, change, signal, parts)),
    made: new RecentIds(clock),
    deleted: new RecentIds(clock),
    detachments: new Detachments(clock),
    detachPending: new DetachPending(clock),
    attaching: new RecentIds(clock),
    uncertainAttachments: new RecentIds(clock),
    settledDetachments: new RecentIds(clock),
    initialisedVolumes: new RecentIds(clock),
    uncertainSnapshots: new RecentIds(clock),
    completedSnapshots: new RecentIds(clock),
    uncertainVolumes: new RecentIds(clock),
    startedAt: clock.monotonic(),
    attachmentsBegan: new FirstTime(clock),
  };
}

/** Whether a volume can be used in these ways: they are given back when it can. */
export async function validateCapabilities(
  { volumeId, volumeCapabilities }: ValidateCapabilitiesRequest,
  rpc: Rpc,
  { cloud }: ControllerContext,
): Promise<readonly VolumeCapability[] | undefined> {
  if (volumeId === "") throw invalidArgument("Volume ID not provided");
  if (volumeCapabilities.length === 0) throw invalidArgument("Volume capabilities not provided");
  if (isNodeLocal(volumeId)) return volumeCapabilities.every(isSupportedLocally) ? volumeCapabilities : undefined;
  const missing = new CsiError("NotFound", "Volume not found");
  if (!isVolumeId(volumeId)) throw missing;
  const found = await cloud.volumes.lookup(volumeId, ask(rpc)).catch((error: unknown) => {
    throw wrapped(`Could not get volume with ID ${JSON.stringify(volumeId)}`, error);
  });
  if (found.kind !== "found") throw missing;
  return volumeCapabilities.every(isSupported) ? volumeCapabilities : undefined;
}
