/** The other half of the provisioner: deletes the disk of a released PersistentVolume, then the object. */
import { isApiError } from "../../kube/errors.ts";
import { objectRef } from "../../kube/event-recorder.ts";
import type { KubeObject, Resource, Stored } from "../../kube/resource.ts";
import { watchSource } from "../../kube/watch-source.ts";
import { type Controller, done, type Outcome } from "../../runtime/controller.ts";
import { refusalIn } from "../../runtime/gate.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { translatedVolume } from "../migration.ts";
import { claims, persistentVolumes } from "../storage-resources.ts";
import { removeFinalizer } from "./finalizers.ts";
import { callDriver, type RoleParts } from "./parts.ts";
import { isWithdrawn, mayGo, type SeenVolume, volumeFinalizer, wantsDeletion } from "./provision-plan.ts";

const callMs = 60_000;

export function reclaimer(parts: RoleParts): Controller {
  const { kube, volumes, attachments, settings } = parts;
  const concernsUs = (volume: SeenVolume | undefined) =>
    volume !== undefined && (wantsDeletion(volume) || isWithdrawn(volume) || mayGo(volume));
  return {
    name: "volume-reclaimer",
    concurrency: settings.concurrency,
    backoff: { baseMs: 1_000, maxMs: 5 * 60_000 },
    sources: [
      watchSource(volumes, (_, after) => (concernsUs(after) ? [after!.metadata.name] : [])),
      // The last attachment that goes lets its volume go.
      watchSource(attachments, (before, after) =>
        after === undefined && before?.spec.source.persistentVolumeName ? [before.spec.source.persistentVolumeName] : [],
      ),
    ],
    async reconcile(key, signal): Promise<Outcome> {
      if (!concernsUs(volumes.get(key))) return done;
      // What is deleted does not come back: somebody may have said a moment ago that it is to be retained.
      const volume = await fresh(persistentVolumes, { name: key }, parts, signal);
      if (volume === undefined) return done;
      if (mayGo(volume)) await removeFinalizer(kube, persistentVolumes, volume.metadata, volumeFinalizer, signal);
      if (!wantsDeletion(volume) && !(isWithdrawn(volume) && (await isUnclaimed(volume, parts, signal)))) return done;
      try {
        await reclaim(volume, parts, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (refusalIn(error)) throw error;
        parts.recorder.record(objectRef(persistentVolumes, volume), "Warning", "VolumeFailedDelete", messageOf(error));
        throw error;
      }
      return done;
    },
  };
}

/** Whether its claim is still without it. Of a claim that is gone Kubernetes says that the volume is released. */
async function isUnclaimed({ metadata, spec }: SeenVolume, parts: RoleParts, signal: AbortSignal): Promise<boolean> {
  const { namespace = "", name = "", uid } = spec?.claimRef ?? {};
  const claim = await fresh(claims, { namespace, name }, parts, signal);
  return claim?.metadata.uid === uid && claim?.spec?.volumeName !== metadata.name;
}

async function fresh<T extends KubeObject>(
  of: Resource<T>,
  place: { readonly name: string; readonly namespace?: string },
  { kube }: RoleParts,
  signal: AbortSignal,
): Promise<Stored<T> | undefined> {
  try {
    return await kube.get(of, place, { signal });
  } catch (error) {
    if (isApiError(error, "not-found")) return undefined;
    throw error;
  }
}

async function reclaim(volume: SeenVolume, parts: RoleParts, signal: AbortSignal): Promise<void> {
  const { kube, attachments, host } = parts;
  const { name, uid } = volume.metadata;
  const attached = attachments.by("volume", name)[0];
  if (attached !== undefined) throw new Error(`persistentvolume ${name} is still attached to node ${attached.spec.nodeName}`);
  const volumeId = translatedVolume(volume).spec?.csi?.volumeHandle ?? "";
  await callDriver(parts, "DeleteVolume", { volumeId }, callMs, signal);
  host.log.info("deleted a volume", { volume: volumeId, persistentVolume: name });
  await kube.delete(persistentVolumes, { name }, { uid, signal }).catch((error: unknown) => {
    if (!isApiError(error, "not-found")) throw error;
  });
  await removeFinalizer(kube, persistentVolumes, { name, uid }, volumeFinalizer, signal);
}
