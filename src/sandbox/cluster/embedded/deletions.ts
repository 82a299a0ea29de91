/** How an object goes: its preconditions, the finalizers and the grace period that keep it, and when nothing does any longer. */
import { asList, asObject, asText, copy, type JsonObject, type KubeObject } from "./json.ts";
import type { Resource } from "./resources.ts";
import { failedPrecondition } from "./status.ts";
import { timestamp } from "./timestamp.ts";

export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: string | undefined;
  readonly preconditions: JsonObject;
}

/** Throws when the object is not the one, or not in the version, that was to be deleted. */
export function requirePreconditions(resource: Resource, { metadata }: KubeObject, options: DeleteOptions): void {
  const { name } = metadata;
  const { uid, resourceVersion } = options.preconditions;
  if (uid !== undefined && uid !== metadata.uid) {
    throw failedPrecondition(
      resource,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw failedPrecondition(
      resource,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

/** The object with its deletion begun: finalizers of the asked propagation added, the pod's grace period set. */
export function beginDeletion(resource: Resource, before: KubeObject, options: DeleteOptions, now: number): KubeObject {
  const doomed = copy(before);
  const { metadata } = doomed;
  const finalizers = new Set(asList(metadata.finalizers).map(asText));
  if (options.propagationPolicy !== undefined) {
    for (const [policy, finalizer] of [
      ["Foreground", "foregroundDeletion"],
      ["Orphan", "orphan"],
    ] as const) {
      if (options.propagationPolicy === policy) finalizers.add(finalizer);
      else finalizers.delete(finalizer);
    }
  }
  if (finalizers.size > 0) metadata.finalizers = [...finalizers];
  else delete metadata.finalizers;

  const grace = graceOf(resource, before, options.gracePeriodSeconds);
  if (metadata.deletionTimestamp === undefined) {
    metadata.deletionTimestamp = timestamp(now + grace * 1000);
    if (resource.kind !== "Namespace") metadata.deletionGracePeriodSeconds = grace;
    if (typeof metadata.generation === "number") metadata.generation += 1;
  } else if (grace < Number(metadata.deletionGracePeriodSeconds ?? 0)) {
    // A shorter period counts from when the deletion began.
    const begun = Date.parse(asText(metadata.deletionTimestamp)) - Number(metadata.deletionGracePeriodSeconds) * 1000;
    metadata.deletionTimestamp = timestamp(begun + grace * 1000);
    metadata.deletionGracePeriodSeconds = grace;
  }
  if (resource.kind === "Namespace") doomed.status = { ...asObject(doomed.status), phase: "Terminating" };
  return doomed;
}

/** Whether nothing keeps a deleted object any longer. */
export function isFinished(object: KubeObject): boolean {
  const { metadata } = object;
  if (metadata.deletionTimestamp === undefined || asList(metadata.finalizers).length > 0) return false;
  if (object.kind === "Namespace") return asList(asObject(object.spec).finalizers).length === 0;
  return Number(metadata.deletionGracePeriodSeconds ?? 0) === 0;
}

/** Only a pod that runs somewhere is given time to end. */
function graceOf(resource: Resource, object: KubeObject, asked: number | undefined): number {
  if (resource.kind !== "Pod" || resource.custom || asText(asObject(object.spec).nodeName) === "") return 0;
  const phase = asObject(object.status).phase;
  if (phase === "Succeeded" || phase === "Failed") return 0;
  return asked ?? Number(asObject(object.spec).terminationGracePeriodSeconds ?? 30);
}
