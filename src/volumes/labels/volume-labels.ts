/**
 * Volume labels: PersistentVolumes that do not say where their disk is are given zone and region, as labels and as node affinity, so
 * that pods go where it is. The API server's own plugin for it, PersistentVolumeLabel, is gone since Kubernetes 1.31. A key is a
 * PersistentVolume.
 */
import type { Cloud } from "../../aws/cloud.ts";
import type { EventRecorder } from "../../identity/event-reasons.ts";
import type { KubeClient } from "../../kube/client.ts";
import { objectRef } from "../../kube/event-recorder.ts";
import { watchSource } from "../../kube/watch-source.ts";
import { again, type Controller, done, type Outcome } from "../../runtime/controller.ts";
import type { Host } from "../../runtime/host.ts";
import { diskOf } from "../migration.ts";
import { isVolumeId } from "../names.ts";
import type { Volumes } from "../roles/parts.ts";
import { persistentVolumes } from "../storage-resources.ts";
import { labelsWanted, whereverItIs } from "./volume-labels-plan.ts";

export interface VolumeLabelsOptions {
  readonly host: Host;
  readonly kube: KubeClient;
  readonly recorder: EventRecorder;
  readonly cloud: Cloud;
  readonly volumes: Volumes;
}

/** When EC2 is asked again about a volume that it does not know. */
const missingMs = 10 * 60_000;

export function volumeLabeller({ host, kube, recorder, cloud, volumes }: VolumeLabelsOptions): Controller {
  return {
    name: "volume-labels",
    concurrency: 10,
    sources: [
      watchSource(volumes, (_, after) => {
        return after !== undefined && labelsWanted(after, whereverItIs) !== undefined ? [after.metadata.name] : [];
      }),
    ],
    async reconcile(key, signal): Promise<Outcome> {
      const volume = volumes.get(key);
      const id = volume && diskOf(volume);
      if (volume === undefined || id === undefined || !isVolumeId(id)) return done;
      if (labelsWanted(volume, whereverItIs) === undefined) return done;
      const found = await cloud.volumes.lookup(id, { cause: `volume labels of ${key}`, signal, urgency: "background" });
      const zone = found.kind === "found" ? found.volume.zone : undefined;
      if (zone === undefined) {
        const message = found.kind === "found" ? `volume did not have AZ information: ${JSON.stringify(id)}` : `EC2 does not know ${id}`;
        recorder.record(objectRef(persistentVolumes, volume), "Warning", "VolumeZoneUnknown", message);
        return again(missingMs, message);
      }
      const change = labelsWanted(volume, { zone, region: cloud.region })!;
      // Only if it is still as it was read: a node affinity cannot be changed afterwards.
      const { name, uid, resourceVersion } = volume.metadata;
      const merge = { metadata: { labels: change.labels, resourceVersion }, ...(change.spec && { spec: change.spec }) };
      await kube.patch(persistentVolumes, { name }, { merge, uid }, { signal });
      host.log.info("labelled a PersistentVolume", { persistentVolume: name, volume: id, zone });
      return done;
    },
  };
}
