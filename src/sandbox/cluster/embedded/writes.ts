/** Create, update and delete, in the order of checks of the real API. */
import { uuid, type World } from "../../../runtime/world.ts";
import { asList, asObject, asText, copy, isObject, type Json, type JsonObject, type KubeObject, type Meta, same } from "./json.ts";
import { metadataErrors, nameErrors, requireTexts } from "./metadata.ts";
import { ownAfterUpdate, type Writer } from "./ownership.ts";
import { apiVersionOf, type Resource, storageKey } from "./resources.ts";
import {
  ApiFailure,
  alreadyExists,
  badRequest,
  conflict,
  failedPrecondition,
  fieldErrors,
  forbidden,
  invalid,
  notFound,
} from "./status.ts";
import { objectKey, type Store } from "./store.ts";
import { timestamp } from "./timestamp.ts";

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly writer: Writer;
}

export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: string | undefined;
  readonly preconditions: JsonObject;
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
    const object = this.#decoded(resource, namespace, sent);
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
    const object = this.#decoded(resource, namespace, changed);
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
    const { uid, resourceVersion } = options.preconditions;
    if (uid !== undefined && uid !== before.metadata.uid) {
      throw failedPrecondition(
        resource,
        name,
        `the UID in the precondition (${uid}) does not match the UID in record (${before.metadata.uid}). The object might have been deleted and then recreated`,
      );
    }
    if (resourceVersion !== undefined && resourceVersion !== before.metadata.resourceVersion) {
      throw failedPrecondition(
        resource,
        name,
        `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${before.metadata.resourceVersion}). The object might have been modified`,
      );
    }
    const doomed = this.#doomed(resource, before, options);
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

  /** The object with its deletion begun: finalizers of the asked propagation added, the pod's grace period set. */
  #doomed(resource: Resource, before: KubeObject, options: DeleteOptions): KubeObject {
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
      metadata.deletionTimestamp = timestamp(this.#world.clock.now() + grace * 1000);
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

  #decoded(resource: Resource, namespace: string | undefined, sent: JsonObject): KubeObject {
    const apiVersion = apiVersionOf(resource);
    if (resource.custom && asText(sent.kind) === "") {
      const text = JSON.stringify(sent);
      throw badRequest(
        `the object provided is unrecognized (must be of type ${resource.kind}): Object 'Kind' is missing in '${text}' (${text})`,
      );
    }
    if (sent.apiVersion !== undefined && sent.apiVersion !== apiVersion) {
      throw badRequest(`the API version in the data (${asText(sent.apiVersion)}) does not match the expected API version (${apiVersion})`);
    }
    if (sent.kind !== undefined && sent.kind !== resource.kind) throw wrongKind(resource, sent);
    const object = tidy({ ...sent, apiVersion, kind: resource.kind, metadata: { ...asObject(sent.metadata) } } as KubeObject);
    requireTexts(resource.kind, object);
    const given = asText(object.metadata.namespace);
    if (given !== "" && given !== (namespace ?? "")) {
      throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
    }
    if (namespace !== undefined) object.metadata.namespace = namespace;
    return object;
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
    resource.behaviour.complete?.(object, before);
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

function wrongKind(resource: Resource, sent: JsonObject): ApiFailure {
  const found = asText(sent.kind);
  if (resource.custom) {
    return invalid(resource.group, found, asText(asObject(sent.metadata).name), [
      fieldErrors.invalid("kind", found, `must be ${resource.kind}`),
    ]);
  }
  return badRequest(
    `${found} in version "${resource.version}" cannot be handled as a ${resource.kind}: converting (${resource.version}.${found}) to (core.${resource.kind}): unknown conversion`,
  );
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

/** Whether nothing keeps a deleted object any longer. */
function isFinished(object: KubeObject): boolean {
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

/** Nulls and empty metadata fall away, as they do when decoded into Go types and written again. */
function tidy(object: KubeObject): KubeObject {
  const result = withoutNulls(object) as KubeObject;
  for (const name of ["labels", "annotations", "finalizers", "ownerReferences"]) {
    const value = result.metadata[name];
    if (value !== undefined && Object.keys(value as object).length === 0) delete result.metadata[name];
  }
  if (!isObject(result.metadata)) throw badRequest("metadata must be an object");
  return result;
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const [name, field] of Object.entries(value)) if (field !== null && field !== undefined) result[name] = withoutNulls(field);
  return result;
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
