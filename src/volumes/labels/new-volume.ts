/** Zone and region for a PersistentVolume that is about to be made: the same as the reconcile gives, before anybody schedules by it. */
import type { Cloud } from "../../aws/cloud.ts";
import type { JsonPatchOperation } from "../../kube/patch.ts";
import type { PersistentVolume } from "../../kube/types.ts";
import { diskOf } from "../migration.ts";
import { isVolumeId } from "../names.ts";
import { labelsWanted, type VolumeLabels, whereverItIs } from "./volume-labels-plan.ts";

/** What is to be added; why that is not known; undefined when nothing is missing. */
export type NewVolumeLabels = { readonly patch: readonly JsonPatchOperation[] } | { readonly unknown: string } | undefined;

export async function labelsOfNewVolume(volume: PersistentVolume, cloud: Cloud, signal: AbortSignal): Promise<NewVolumeLabels> {
  const id = diskOf(volume);
  if (id === undefined || !isVolumeId(id) || labelsWanted(volume, whereverItIs) === undefined) return undefined;
  const found = await cloud.volumes.lookup(id, { cause: "webhook of volume labels", signal, urgency: "user" });
  const zone = found.kind === "found" ? found.volume.zone : undefined;
  if (zone === undefined) return { unknown: `EC2 does not tell where ${id} is` };
  return { patch: operationsOf(labelsWanted(volume, { zone, region: cloud.region })!, volume) };
}

/** The change as a JSON patch of the object as its author wrote it. */
function operationsOf({ labels, spec }: VolumeLabels, { metadata }: PersistentVolume): readonly JsonPatchOperation[] {
  const path = (key: string) => `/metadata/labels/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return [
    ...(metadata?.labels === undefined
      ? [{ op: "add" as const, path: "/metadata/labels", value: labels }]
      : Object.entries(labels).map(([key, value]) => ({ op: "add" as const, path: path(key), value }))),
    ...(spec === undefined ? [] : [{ op: "add" as const, path: "/spec/nodeAffinity", value: spec.nodeAffinity }]),
  ];
}
