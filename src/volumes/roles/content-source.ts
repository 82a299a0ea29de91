/** What a new volume is filled from: the snapshot or the claim that its claim names. */
import { isApiError } from "../../kube/errors.ts";
import type { ContentSource } from "../csi/messages.ts";
import { driverName } from "../names.ts";
import { volumeSnapshotContents, volumeSnapshots } from "../storage-resources.ts";
import type { RoleParts } from "./parts.ts";
import type { SeenClaim } from "./provision-plan.ts";

type Reads = Pick<RoleParts, "kube" | "claims" | "volumes">;

/** Undefined when the claim names none. Throws while the source cannot be used. */
export async function sourceOf(claim: SeenClaim, parts: Reads, signal: AbortSignal): Promise<ContentSource | undefined> {
  const source = claim.spec?.dataSource ?? claim.spec?.dataSourceRef;
  if (source === undefined) return undefined;
  if (source.kind === "VolumeSnapshot" && source.apiGroup === "snapshot.storage.k8s.io") {
    return { type: "snapshot", snapshot: { snapshotId: await snapshotHandle(claim, source.name, parts, signal) } };
  }
  if (source.kind === "PersistentVolumeClaim" && !source.apiGroup) {
    return { type: "volume", volume: { volumeId: volumeHandle(claim, source.name, parts) } };
  }
  throw new Error(`the claim is to be filled from ${source.kind} ${source.name}, which ${driverName} cannot do`);
}

async function snapshotHandle({ metadata }: SeenClaim, name: string, { kube }: Reads, signal: AbortSignal): Promise<string> {
  const { namespace = "" } = metadata;
  const snapshot = await kube.get(volumeSnapshots, { namespace, name }, { signal }).catch((error: unknown) => {
    if (isApiError(error, "not-found")) throw new Error(`there is no VolumeSnapshot ${namespace}/${name}`, { cause: error });
    throw error;
  });
  const content = snapshot.status?.boundVolumeSnapshotContentName;
  if (content === undefined || !snapshot.status?.readyToUse) throw new Error(`VolumeSnapshot ${namespace}/${name} is not ready to use`);
  const { spec, status } = await kube.get(volumeSnapshotContents, { name: content }, { signal });
  const { name: of, namespace: where } = spec.volumeSnapshotRef;
  if (spec.driver !== driverName || of !== name || where !== namespace) {
    throw new Error(`VolumeSnapshotContent ${content} is of the driver ${spec.driver}, for ${where}/${of}`);
  }
  if (!status?.snapshotHandle) throw new Error(`VolumeSnapshotContent ${content} has no snapshot yet`);
  return status.snapshotHandle;
}

function volumeHandle({ metadata, spec }: SeenClaim, name: string, { claims, volumes }: Reads): string {
  const source = claims.get(`${metadata.namespace}/${name}`);
  if (source === undefined) throw new Error(`there is no claim ${metadata.namespace}/${name} to clone`);
  const volume = volumes.get(source.spec?.volumeName ?? "");
  if (source.status?.phase !== "Bound" || volume === undefined)
    throw new Error(`the claim ${metadata.namespace}/${name} to clone is not bound`);
  if (volume.spec?.csi?.driver !== driverName) throw new Error(`the claim ${metadata.namespace}/${name} to clone is of another driver`);
  if (source.spec?.volumeMode !== spec?.volumeMode) {
    throw new Error(`the claim ${metadata.namespace}/${name} to clone has volumeMode ${source.spec?.volumeMode}, not ${spec?.volumeMode}`);
  }
  return volume.spec.csi.volumeHandle;
}
