/** What a new volume is filled from: the snapshot or the claim that its claim names. */
import { isApiError } from "../../kube/errors.ts";
import type { ContentSource } from "../csi/messages.ts";
import { driverName } from "../names.ts";
import { volumeSnapshotContents, volumeSnapshots } from "../storage-resources.ts";
import type { RoleParts } from "./parts.ts";
import type { SeenClaim } from "./provision-plan.ts";

type Reads = Pick<RoleParts, "kube" | "claims" | "volumes">;

/** Whether somebody else fills the claim's volume, and has it made: its source is of a kind that no driver knows. */
export function isPopulated(claim: SeenClaim): boolean {
  const source = referenceOf(claim);
  return source !== undefined && !isSnapshot(source) && !isClaim(source);
}

/** Undefined when the claim names none. Throws while the source cannot be used. */
export async function sourceOf(claim: SeenClaim, parts: Reads, signal: AbortSignal): Promise<ContentSource | undefined> {
  const source = referenceOf(claim);
  if (source === undefined) return undefined;
  const elsewhere = claim.spec?.dataSourceRef?.namespace;
  if (elsewhere && elsewhere !== claim.metadata.namespace) {
    throw new Error(`the claim's dataSourceRef is in the namespace ${elsewhere}; only sources in the claim's own can be used`);
  }
  if (isSnapshot(source)) return { type: "snapshot", snapshot: { snapshotId: await snapshotHandle(claim, source.name, parts, signal) } };
  return { type: "volume", volume: { volumeId: volumeHandle(claim, source.name, parts) } };
}

type Reference = NonNullable<NonNullable<SeenClaim["spec"]>["dataSource"]>;

function referenceOf({ spec }: SeenClaim): Reference | undefined {
  return spec?.dataSource ?? spec?.dataSourceRef;
}

const isSnapshot = ({ kind, apiGroup }: Reference) => kind === "VolumeSnapshot" && apiGroup === "snapshot.storage.k8s.io";
const isClaim = ({ kind, apiGroup }: Reference) => kind === "PersistentVolumeClaim" && !apiGroup;

/** Lets a volume of one mode be restored as one of the other, by the word of whoever may write to the content. */
const allowModeChange = "snapshot.storage.kubernetes.io/allow-volume-mode-change";

async function snapshotHandle(claim: SeenClaim, name: string, { kube }: Reads, signal: AbortSignal): Promise<string> {
  const { namespace = "" } = claim.metadata;
  const snapshot = await kube.get(volumeSnapshots, { namespace, name }, { signal }).catch((error: unknown) => {
    if (isApiError(error, "not-found")) throw new Error(`there is no VolumeSnapshot ${namespace}/${name}`, { cause: error });
    throw error;
  });
  if (snapshot.metadata.deletionTimestamp !== undefined) throw new Error(`VolumeSnapshot ${namespace}/${name} is being deleted`);
  const content = snapshot.status?.boundVolumeSnapshotContentName;
  if (content === undefined || !snapshot.status?.readyToUse) throw new Error(`VolumeSnapshot ${namespace}/${name} is not ready to use`);
  const { metadata, spec, status } = await kube.get(volumeSnapshotContents, { name: content }, { signal });
  const { name: of, namespace: where, uid } = spec.volumeSnapshotRef;
  if (spec.driver !== driverName || of !== name || where !== namespace || uid !== snapshot.metadata.uid) {
    throw new Error(`VolumeSnapshotContent ${content} is of the driver ${spec.driver}, for ${where}/${of} (${uid})`);
  }
  const mode = claim.spec?.volumeMode ?? "Filesystem";
  if ((spec.sourceVolumeMode ?? mode) !== mode && metadata.annotations?.[allowModeChange] !== "true") {
    throw new Error(
      `VolumeSnapshotContent ${content} is of a volume with volumeMode ${spec.sourceVolumeMode}, and its annotation ${allowModeChange} does not allow ${mode}`,
    );
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
