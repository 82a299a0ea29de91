/**
 * The little of kube-controller-manager that a cluster cannot be lived in without: what a deleted owner leaves behind is
 * collected, and a deleted namespace empties itself.
 */
import type { Clock } from "../../../runtime/world.ts";
import type { DeleteOptions } from "./deletions.ts";
import { asList, asObject, asText, type JsonObject, type KubeObject } from "./json.ts";
import type { Registry } from "./registry.ts";
import { type Resource, storageKey } from "./resources.ts";
import { type Change, objectKey, type Store } from "./store.ts";
import type { Update, WriteOptions, Writes } from "./writes.ts";

const background: DeleteOptions = { dryRun: false, gracePeriodSeconds: undefined, propagationPolicy: undefined, preconditions: {} };
const options: WriteOptions = {
  dryRun: false,
  writer: { manager: "housekeeping", operation: "Update", apiVersion: "v1", subresource: "" },
};

/** Starts keeping house; the returned function stops it. */
export function keepHouse(store: Store, registry: Registry, writes: Writes, clock: Clock): () => void {
  let cancel: (() => void) | undefined;
  const sweep = () => {
    cancel = undefined;
    emptyNamespaces(store, registry, writes);
    collectOrphans(store, registry, writes);
  };
  const stop = store.listen((change) => {
    if (matters(change)) cancel ??= clock.after(0, sweep);
  });
  return () => {
    stop();
    cancel?.();
  };
}

function matters({ after }: Change): boolean {
  return after === undefined || after.metadata.deletionTimestamp !== undefined || asList(after.metadata.ownerReferences).length > 0;
}

function everyObject(store: Store, registry: Registry): { resource: Resource; object: KubeObject }[] {
  const seen = new Set<string>();
  return registry.all().flatMap((resource) => {
    const kind = storageKey(resource);
    if (seen.has(kind)) return [];
    seen.add(kind);
    return store.list(kind).map((object) => ({ resource, object }));
  });
}

function emptyNamespaces(store: Store, registry: Registry, writes: Writes): void {
  const leaving = store.list(storageKey(registry.namespaces)).filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (leaving.length === 0) return;
  const objects = everyObject(store, registry);
  for (const namespace of leaving) {
    const { name } = namespace.metadata;
    for (const { resource, object } of objects) {
      if (object.metadata.namespace === name && object.metadata.deletionTimestamp === undefined) {
        writes.delete(resource, name, object.metadata.name, background);
      }
    }
    const left = objects.some(
      ({ resource, object }) =>
        object.metadata.namespace === name && store.get(storageKey(resource), objectKey(name, object.metadata.name)) !== undefined,
    );
    if (!left) change(writes, registry.namespaces, namespace, "finalize", (object) => ({ ...object, spec: { finalizers: [] } }));
  }
}

function collectOrphans(store: Store, registry: Registry, writes: Writes): void {
  const objects = everyObject(store, registry);
  const byUid = new Map(objects.map(({ object }) => [object.metadata.uid, object]));
  for (const { resource, object } of objects) {
    const { metadata } = object;
    const owners = asList(metadata.ownerReferences).map((owner) => asText(asObject(owner).uid));
    if (owners.length > 0 && metadata.deletionTimestamp === undefined && owners.every((uid) => isLeaving(byUid.get(uid)))) {
      writes.delete(resource, metadata.namespace, metadata.name, background);
    }
  }
  for (const { resource, object } of objects) {
    const finalizers = asList(object.metadata.finalizers).map(asText);
    if (object.metadata.deletionTimestamp === undefined) continue;
    const dependents = objects.filter((one) => ownedBy(one.object, object.metadata.uid));
    if (finalizers.includes("orphan")) {
      for (const dependent of dependents) {
        change(writes, dependent.resource, dependent.object, "", (one) =>
          withMetadata(one, { ownerReferences: without(one, object.metadata.uid) }),
        );
      }
    }
    const blocked = dependents.some((one) => store.get(storageKey(one.resource), keyOf(one.object)) !== undefined);
    if (finalizers.includes("orphan") || (finalizers.includes("foregroundDeletion") && !blocked)) {
      const kept = finalizers.filter((finalizer) => finalizer !== "orphan" && finalizer !== "foregroundDeletion");
      change(writes, resource, object, "", (one) => withMetadata(one, { finalizers: kept }));
    }
  }
}

/** An owner that is gone, or that waits for its dependents to go first. */
function isLeaving(owner: KubeObject | undefined): boolean {
  return owner === undefined || asList(owner.metadata.finalizers).includes("foregroundDeletion");
}

function ownedBy(object: KubeObject, uid: string): boolean {
  return asList(object.metadata.ownerReferences).some((owner) => asObject(owner).uid === uid);
}

function without(object: KubeObject, uid: string) {
  return asList(object.metadata.ownerReferences).filter((owner) => asObject(owner).uid !== uid);
}

function withMetadata(object: KubeObject, fields: JsonObject): JsonObject {
  return { ...object, metadata: { ...object.metadata, ...fields } };
}

function keyOf({ metadata }: KubeObject): string {
  return objectKey(metadata.namespace, metadata.name);
}

function change(writes: Writes, resource: Resource, object: KubeObject, subresource: string, how: Update["change"]): void {
  writes.update(resource, object.metadata.namespace, object.metadata.name, { subresource, replaces: false, change: how }, options);
}
