/** Create, update and delete, in the order of checks of the real API. */
import { uuid, type World } from "../../../runtime/world.ts";
import { decode } from "./decoding.ts";
import { beginDeletion, type DeleteOptions, isFinished, requirePreconditions } from "./deletions.ts";
import { asList, asObject, asText, copy, type Json, type JsonObject, type KubeObject, type Meta, same } from "./json.ts";
import { metadataErrors, nameErrors } from "./metadata.ts";
import { ownAfterUpdate, type Writer } from "./ownership.ts";
import { apiVersionOf, type Resource, storageKey } from "./resources.ts";
import { ApiFailure, alreadyExists, badRequest, conflict, fieldErrors, forbidden, invalid, notFound } from "./status.ts";
import { objectKey, type Store } from "./store.ts";
import { timestamp } from "./timestamp.ts";

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly writer: Writer;
}

/** How a changed object comes about, and what the change may touch. */
export interface Update {
  readonly subresource: string;
  /** From a copy of what is stored to what is wanted; must keep apiVersion, kind and metadata. */
  readonly change: (current: KubeObject) => JsonObject;
  /** A replace: it may come without resourceVersion, and its uid is a precondition. */
  readonly replaces: boolean;
  /** Server-side apply keeps its own record of ownership. */
  readonly ownsItself?: boolean;
}

export class Writes {
  readonly #store: Store;
  readonly #world: World;
  readonly #namespaces: Resource;

  constructor(store: Store, world: World, namespaces: Resource) {
    this.#store = store;
    this.#world = world;
    this.#namespaces = namespaces;
  }

  create(resource: Resource, namespace: string | undefined, sent: JsonObject, options: WriteOptions, owned?: JsonObject): KubeObject {
    const object = decode(resource, namespace, sent);
    const { metadata } = object;
    if (asText(metadata.resourceVersion) !== "") throw new ApiFailure(500, "resourceVersion should not be set on objects to be created");
    if (asText(metadata.name) === "" && asText(metadata.generateName) !== "")
      metadata.name = this.#generated(asText(metadata.generateName));
    this.#requireNamespace(resource, namespace, metadata.name);
    const fresh: KubeObject = {
      ...object,
      metadata: { ...metadata, uid: uuid(this.#world.random), creationTimestamp: this.now(), resourceVersion: "" },
    };
    delete fresh.metadata.deletionTimestamp;
    delete fresh.metadata.deletionGracePeriodSeconds;
    delete fresh.metadata.managedFields;
    if (resource.generation) fresh.metadata.generation = 1;
    if (resource.subresources.includes("status") && resource.kind !== "Node") delete fresh.status;
    this.#finish(resource, fresh, undefined);

    const key = objectKey(namespace, metadata.name);
    if (this.#store.get(storageKey(resource), key) !== undefined) throw alreadyExists(resource, metadata.name);
    const owners = owned === undefined ? this.#owners(resource, undefined, fresh, options.writer) : asList(owned.managedFields);
    if (owners.length > 0) fresh.metadata.managedFields = owners;
    if (options.dryRun) return withoutVersion(fresh);
    return this.#store.put(storageKey(resource), key, fresh);
  }

  update(resource: Resource, namespace: string | undefined, name: string, update: Update, options: WriteOptions): KubeObject {
    const kind = storageKey(resource);
    const key = objectKey(namespace, name);
    const before = this.#store.get(kind, key);
    if (before === undefined) throw notFound(resource, name);
    const changed = update.change(copy({ ...before, apiVersion: apiVersionOf(resource) }));
    const object = decode(resource, namespace, changed);
    this.#requireSameObject(resource, object, before, name, update.replaces);

    const { uid, resourceVersion, creationTimestamp } = before.metadata;
    const metadata: Meta = { ...object.metadata, uid: asText(object.metadata.uid) || uid, resourceVersion, creationTimestamp };
    for (const field of ["deletionTimestamp", "deletionGracePeriodSeconds", "generation"]) {
      if (before.metadata[field] === undefined) delete metadata[field];
      else metadata[field] = before.metadata[field];
    }
    if (update.ownsItself !== true) metadata.managedFields = before.metadata.managedFields ?? [];
    const after: KubeObject = { ...object, metadata };
    restrict(resource, after, before, update.subresource);
    this.#finish(resource, after, before);
    if (resource.generation && update.subresource !== "status" && !same(counted(after, resource), counted(before, resource))) {
      after.metadata.generation = Number(before.metadata.generation ?? 0) + 1;
    }
    if (update.ownsItself !== true) after.metadata.managedFields = this.#owners(resource, before, after, options.writer);
    if (asList(after.metadata.managedFields).length === 0) delete after.metadata.managedFields;

    if (options.dryRun) return after;
    if (isFinished(after)) {
      this.#store.remove(kind, key);
      return after;
    }
    if (same(after, before) || (update.ownsItself === true && sameButTimes(after, before))) return before;
    return this.#store.put(kind, key, after);
  }

  /** The object when it stays for its finalizers, or as it was when it is gone at once. */
  delete(resource: Resource, namespace: string | undefined, name: string, options: DeleteOptions): { object: KubeObject; gone: boolean } {
    const kind = storageKey(resource);
    const key = objectKey(namespace, name);
    const before = this.#store.get(kind, key);
    if (before === undefined) throw notFound(resource, name);
    requirePreconditions(resource, before, options);
    const doomed = beginDeletion(resource, before, options, this.#world.clock.now());
    if (isFinished(doomed)) {
      if (options.dryRun) return { object: before, gone: true };
      const removed = this.#store.remove(kind, key);
      if (resource.kind !== "Pod") return { object: removed, gone: true };
      const { resourceVersion: last } = removed.metadata;
      return { object: { ...doomed, metadata: { ...doomed.metadata, resourceVersion: last } }, gone: true };
    }
    if (options.dryRun || same(doomed, before)) return { object: options.dryRun ? doomed : before, gone: false };
    return { object: this.#store.put(kind, key, doomed), gone: false };
  }

  now(): string {
    return timestamp(this.#world.clock.now());
  }

  #requireNamespace(resource: Resource, namespace: string | undefined, name: string): void {
    if (namespace === undefined) return;
    const found = this.#store.get(storageKey(this.#namespaces), objectKey(undefined, namespace));
    if (found === undefined) throw notFound(this.#namespaces, namespace);
    if (found.metadata.deletionTimestamp !== undefined) {
      throw forbidden(resource, name, `unable to create new content in namespace ${namespace} because it is being terminated`, [
        { reason: "NamespaceTerminating", message: `namespace ${namespace} is being terminated`, field: "metadata.namespace" },
      ]);
    }
  }

  #requireSameObject(resource: Resource, object: KubeObject, before: KubeObject, name: string, replaces: boolean): void {
    const { metadata } = object;
    if (asText(metadata.name) !== "" && metadata.name !== name) {
      throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
    }
    metadata.name = name;
    const version = asText(metadata.resourceVersion);
    if (version === "" && replaces && !resource.unconditionalUpdate) {
      throw invalid(resource.group, resource.plural, name, [
        fieldErrors.invalid("metadata.resourceVersion", 0, "must be specified for an update"),
      ]);
    }
    if (replaces && asText(metadata.uid) !== "" && metadata.uid !== before.metadata.uid) {
      const group = resource.group === "" ? "" : `${resource.group}/`;
      const at = `/registry/${group}${resource.plural}/${objectKey(before.metadata.namespace, name)}`.replaceAll("//", "/");
      throw conflict(
        resource,
        name,
        `StorageError: invalid object, Code: 4, Key: ${at}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${before.metadata.uid}`,
      );
    }
    if (version !== "" && version !== before.metadata.resourceVersion) throw conflict(resource, name);
  }

  #finish(resource: Resource, object: KubeObject, before: KubeObject | undefined): void {
    resource.behaviour.complete?.(object, before, this.now());
    const errors = [
      ...(before === undefined ? nameErrors(resource, asText(object.metadata.name)) : []),
      ...metadataErrors(object, before),
      ...(resource.behaviour.validate?.(object, before) ?? []),
    ];
    if (errors.length > 0) throw invalid(resource.group, resource.kind, asText(object.metadata.name), errors);
  }

  #owners(resource: Resource, before: KubeObject | undefined, after: KubeObject, writer: Writer): Json[] {
    return ownAfterUpdate(before, after, writer, this.now(), resource.mergeRules);
  }

  #generated(prefix: string): string {
    const letters = "bcdfghjklmnpqrstvwxz2456789";
    let suffix = "";
    for (let i = 0; i < 5; i++) suffix += letters[Math.floor(this.#world.random.number() * letters.length)];
    return prefix.slice(0, 58) + suffix;
  }
}

/** A write through the main path leaves the status alone, one through `status` everything else. */
function restrict(resource: Resource, after: KubeObject, before: KubeObject, subresource: string): void {
  if (subresource === "status") {
    for (const name of Object.keys({ ...after, ...before })) {
      if (name === "status" || name === "metadata") continue;
      if (before[name] === undefined) delete after[name];
      else after[name] = copy(before[name]);
    }
    if (resource.custom) after.metadata = { ...copy(before.metadata), managedFields: after.metadata.managedFields };
  } else if (resource.subresources.includes("status")) {
    if (before.status === undefined) delete after.status;
    else after.status = copy(before.status);
  }
  resource.behaviour.restrict?.(after, before, subresource);
}

function withoutVersion(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata: metadata as KubeObject["metadata"] };
}

/** The part of an object whose changes the generation counts. */
function counted(object: KubeObject, resource: Resource): JsonObject {
  const { metadata: _, status, ...rest } = object;
  return resource.subresources.includes("status") || !resource.custom ? rest : { ...rest, status };
}

/** An apply that changes nothing but the time of its own entry is no write. */
function sameButTimes(after: KubeObject, before: KubeObject): boolean {
  const timeless = (object: KubeObject): JsonObject => ({
    ...object,
    metadata: {
      ...object.metadata,
      managedFields: asList(object.metadata.managedFields).map((entry) => ({ ...asObject(entry), time: "" })),
    },
  });
  return same(timeless(after), timeless(before));
}
