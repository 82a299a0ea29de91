/** A stand-in for the snapshot controller of a cluster, and as much of the definitions of its kinds as the driver reads. */
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import type { Stored } from "../kube/resource.ts";
import { sleep } from "../runtime/world.ts";
import { driverName } from "../volumes/names.ts";
import {
  claims,
  persistentVolumes,
  type VolumeSnapshot,
  volumeSnapshotClasses,
  volumeSnapshotContents,
  volumeSnapshots,
} from "../volumes/storage-resources.ts";
import { definitionOf } from "./definitions.ts";

const protection = "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection";
const beingDeleted = "snapshot.storage.kubernetes.io/volumesnapshot-being-deleted";

/** The definitions of external-snapshotter. */
export const snapshotDefinitions = [
  definitionOf(volumeSnapshots),
  definitionOf(volumeSnapshotContents),
  definitionOf(volumeSnapshotClasses, { hasStatus: false }),
];

export interface SnapshotStandInOptions {
  readonly kube: KubeClient;
  readonly lookEveryMs: number;
  readonly complain: (message: string, error: unknown) => void;
}

/** Binds each VolumeSnapshot of a claim to a content, and deletes the content with it, until the signal aborts. */
export async function standInForSnapshotController(options: SnapshotStandInOptions, signal: AbortSignal): Promise<void> {
  const { kube, lookEveryMs, complain } = options;
  while (!signal.aborted) {
    try {
      const { items } = await kube.list(volumeSnapshots, { signal });
      for (const snapshot of items) await bind(kube, snapshot, signal);
      await removeUnbound(kube, items, signal);
    } catch (error) {
      // Somebody else changed it or took it away: the next look sees it as it is.
      if (!signal.aborted && !isApiError(error, "conflict", "not-found")) complain("snapshots were not looked after", error);
    }
    await sleep(kube.host.world.clock, lookEveryMs, signal).catch(() => {});
  }
}

async function bind(kube: KubeClient, { metadata, spec, status }: Stored<VolumeSnapshot>, signal: AbortSignal): Promise<void> {
  const { name, namespace = "", uid } = metadata;
  const claimName = spec?.source?.persistentVolumeClaimName;
  if (claimName === undefined || status?.readyToUse) return;
  const content = `snapcontent-${uid}`;
  if (status?.boundVolumeSnapshotContentName !== undefined) {
    const made = await kube.get(volumeSnapshotContents, { name: content }, { signal });
    if (!made.status?.readyToUse) return;
  } else {
    const claim = await kube.get(claims, { namespace, name: claimName }, { signal });
    const volume = await kube.get(persistentVolumes, { name: claim.spec?.volumeName ?? "" }, { signal });
    await kube.create(
      volumeSnapshotContents,
      {
        metadata: { name: content, finalizers: [protection] },
        spec: {
          driver: driverName,
          deletionPolicy: "Delete",
          source: { volumeHandle: volume.spec?.csi?.volumeHandle ?? "" },
          sourceVolumeMode: claim.spec?.volumeMode ?? "Filesystem",
          ...(spec?.volumeSnapshotClassName !== undefined && { volumeSnapshotClassName: spec.volumeSnapshotClassName }),
          volumeSnapshotRef: { name, namespace, uid },
        },
      },
      { signal },
    );
  }
  const merge = { status: { boundVolumeSnapshotContentName: content, readyToUse: status?.boundVolumeSnapshotContentName !== undefined } };
  await kube.patch(volumeSnapshots, { namespace, name, subresource: "status" }, { merge }, { signal });
}

async function removeUnbound(kube: KubeClient, bound: readonly Stored<VolumeSnapshot>[], signal: AbortSignal): Promise<void> {
  const living = new Set(bound.map(({ metadata }) => metadata.uid));
  for (const { metadata, spec } of (await kube.list(volumeSnapshotContents, { signal })).items) {
    if (living.has(spec.volumeSnapshotRef.uid ?? "") || metadata.deletionTimestamp !== undefined) continue;
    const { name } = metadata;
    await kube.patch(volumeSnapshotContents, { name }, { merge: { metadata: { annotations: { [beingDeleted]: "yes" } } } }, { signal });
    await kube.delete(volumeSnapshotContents, { name }, { signal });
  }
}
