/** From a request to an answer: which resource, which verb, in which form. Everything happens in one turn, so writes never interleave. */
import type { User } from "../../../runtime/access.ts";
import type { HttpRequest } from "../../../runtime/http.ts";
import type { Log } from "../../../runtime/log.ts";
import type { World } from "../../../runtime/world.ts";
import { discover } from "./discovery.ts";
import { evict } from "./evictions.ts";
import { asObject, asText, at, copy, type Json, type JsonObject, type KubeObject } from "./json.ts";
import type { Writer } from "./ownership.ts";
import { patchOf } from "./patches.ts";
import { listPage, selectorOf, versionFrom } from "./reads.ts";
import type { Registry } from "./registry.ts";
import { bodyOf, type Call, deleteOptionsOf, formOf, isDryRun, managerOf, type Target, targetOf } from "./requests.ts";
import { apiVersionOf, type Resource, storageKey } from "./resources.ts";
import { attemptOf, isAllowed, tokenReviewStatus } from "./reviews.ts";
import { ApiFailure, methodNotAllowed, noSuchPath, notFound, notImplemented, tooLargeVersion, unauthorized } from "./status.ts";
import { objectKey, type Store } from "./store.ts";
import { partialMetadata, tableOf } from "./tables.ts";
import type { Tokens } from "./tokens.ts";
import { openWatch, refusedList, type StreamedLists, type Watch } from "./watches.ts";
import { type Update, type WriteOptions, Writes } from "./writes.ts";

export type Answer =
  | { readonly kind: "object"; readonly status: number; readonly body: JsonObject }
  | { readonly kind: "text"; readonly status: number; readonly body: string }
  | { readonly kind: "watch"; readonly watch: Watch };

/** Groups of Kubernetes that exist, but not here: asking for them is loud, asking for a group that nobody has is a 404. */
const kubernetesGroups = /(^|\.)k8s\.io$|^(apps|batch|autoscaling|policy|extensions)$/;
/** Of the core group, which is served in part. */
const unservedCore =
  /^(bindings|componentstatuses|limitranges|persistentvolumeclaims|persistentvolumes|podtemplates|replicationcontrollers|resourcequotas)$/;

export class Api {
  readonly writes: Writes;
  readonly #world: World;
  readonly #store: Store;
  readonly #registry: Registry;
  readonly #tokens: Tokens;
  readonly #log: Log;
  readonly #streamedLists: StreamedLists;

  constructor(world: World, store: Store, registry: Registry, tokens: Tokens, log: Log, streamedLists: StreamedLists) {
    this.#world = world;
    this.#store = store;
    this.#registry = registry;
    this.#tokens = tokens;
    this.#log = log;
    this.#streamedLists = streamedLists;
    this.writes = new Writes(store, world, registry.namespaces);
  }

  answer(request: HttpRequest): Answer {
    try {
      return this.#answer(request);
    } catch (error) {
      if (!(error instanceof ApiFailure)) {
        this.#log.error("the embedded API failed", { method: request.method, path: request.url.pathname, error });
        throw error;
      }
      if (error.status.code === 501) {
        this.#log.error("the embedded API was asked for something it does not do", { method: request.method, path: request.url.pathname });
      }
      return { kind: "object", status: error.status.code, body: error.status };
    }
  }

  #answer(request: HttpRequest): Answer {
    const path = request.url.pathname.replace(/\/+$/, "") || "/";
    if (["/healthz", "/livez", "/readyz"].some((probe) => path === probe || path.startsWith(`${probe}/`))) {
      return { kind: "text", status: 200, body: "ok" };
    }
    const user = this.#tokens.userOf(request.headers.authorization);
    if (user === undefined) throw unauthorized();
    const accept = request.headers.accept ?? "";
    if (request.method === "GET") {
      const found = discover(path, accept.includes("apidiscovery.k8s.io"), this.#registry);
      if (found !== undefined) return { kind: "object", status: 200, body: found };
    }
    const target = targetOf(path);
    if (target === undefined) return { kind: "text", status: 404, body: "404 page not found\n" };
    const reviewed = this.#review(request, target, user);
    if (reviewed !== undefined) return { kind: "object", status: 201, body: reviewed };

    const resource = this.#registry.find(target.group, target.version, target.plural);
    if (resource === undefined) return this.#unserved(target);
    return this.#route({ method: request.method, target, query: request.url.searchParams, request, form: formOf(accept) }, resource);
  }

  #unserved(target: Target): Answer {
    if (kubernetesGroups.test(target.group) || (target.group === "" && unservedCore.test(target.plural)))
      throw notImplemented(`${target.group}/${target.version} ${target.plural}`);
    if (this.#registry.groups().has(target.group)) throw noSuchPath();
    return { kind: "text", status: 404, body: "404 page not found\n" };
  }

  #route(call: Call, resource: Resource): Answer {
    const { name, namespace, subresource } = call.target;
    if (resource.namespaced ? namespace === undefined && name !== undefined : namespace !== undefined) throw noSuchPath();
    if (subresource !== "" && !resource.subresources.includes(subresource)) {
      if (resource.custom) throw notFound(resource, name ?? "");
      throw resource.kind === "Pod" ? notImplemented(`${resource.plural}/${subresource}`) : noSuchPath();
    }
    if (subresource === "scale") return this.#scale(call, resource);
    if (subresource === "token") return this.#token(call, resource);
    if (subresource === "eviction") return this.#eviction(call, resource);
    switch (call.method) {
      case "GET":
        if (name === undefined || call.target.watching) return this.#listOrWatch(call, resource);
        return this.#shown(call, resource, this.#get(call, resource), 200);
      case "POST":
        if (name !== undefined || (resource.namespaced && namespace === undefined)) throw methodNotAllowed();
        return this.#shown(call, resource, this.#create(call, resource), 201);
      case "PUT":
        if (name === undefined) throw methodNotAllowed();
        return this.#replace(call, resource, name);
      case "PATCH":
        if (name === undefined) throw methodNotAllowed();
        return this.#patch(call, resource, name);
      case "DELETE":
        return name === undefined ? this.#deleteCollection(call, resource) : this.#delete(call, resource, name);
      default:
        throw methodNotAllowed();
    }
  }

  #get(call: Call, resource: Resource): KubeObject {
    const asked = call.query.get("resourceVersion") ?? "";
    if (versionFrom(asked) > this.#store.revision) throw tooLargeVersion(asked, this.#store.revision);
    const name = call.target.name!;
    const found = this.#store.get(storageKey(resource), objectKey(call.target.namespace, name));
    if (found === undefined) throw notFound(resource, name);
    return found;
  }

  #listOrWatch(call: Call, resource: Resource): Answer {
    const { namespace, name } = call.target;
    const select = selectorOf(resource, namespace, name, call.query);
    if (call.target.watching || ["true", "1"].includes(call.query.get("watch") ?? "")) {
      const refused = refusedList(resource, call.query, this.#streamedLists);
      if (refused !== undefined) return { kind: "watch", watch: refused };
      const show = (object: KubeObject, first: boolean) =>
        call.form === "table"
          ? tableOf(resource, [object], { resourceVersion: object.metadata.resourceVersion }, this.#world.clock.now(), first)
          : call.form === "metadata"
            ? partialMetadata(object)
            : inVersion(object, resource);
      return { kind: "watch", watch: openWatch(this.#world, this.#store, resource, select, call.query, show) };
    }
    const page = listPage(this.#store, resource, namespace, select, call.query);
    const metadata: JsonObject = {
      resourceVersion: page.resourceVersion,
      ...(page.continueToken === undefined ? {} : { continue: page.continueToken }),
      // How many are left is not counted when a selector would have to be tried on them.
      ...(page.remaining === undefined || call.query.has("labelSelector") || call.query.has("fieldSelector")
        ? {}
        : { remainingItemCount: page.remaining }),
    };
    return { kind: "object", status: 200, body: this.#list(call, resource, page.items, metadata) };
  }

  #list(call: Call, resource: Resource, items: readonly KubeObject[], metadata: JsonObject): JsonObject {
    if (call.form === "table") return tableOf(resource, items, metadata, this.#world.clock.now(), true);
    if (call.form === "metadata") {
      return { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata, items: items.map(partialMetadata) };
    }
    const shown = items.map((object): Json => {
      if (resource.custom) return inVersion(object, resource);
      const { apiVersion: _, kind: __, ...rest } = object;
      return rest;
    });
    return { kind: resource.listKind, apiVersion: apiVersionOf(resource), metadata, items: shown };
  }

  #create(call: Call, resource: Resource): KubeObject {
    const options = this.#options(call, resource, "CreateOptions");
    return this.writes.create(resource, call.target.namespace, bodyOf(call.request, resource.kind), options);
  }

  #replace(call: Call, resource: Resource, name: string): Answer {
    const sent = bodyOf(call.request, resource.kind);
    const options = this.#options(call, resource, "UpdateOptions");
    const { namespace, subresource } = call.target;
    if (resource.createOnUpdate && this.#store.get(storageKey(resource), objectKey(namespace, name)) === undefined) {
      const { resourceVersion: _, uid: __, ...metadata } = asObject(sent.metadata);
      const created = this.writes.create(resource, namespace, { ...sent, metadata: { ...metadata, name } }, options);
      return this.#shown(call, resource, created, 201);
    }
    const update: Update = { subresource, replaces: true, change: () => sent };
    return this.#shown(call, resource, this.writes.update(resource, namespace, name, update, options), 200);
  }

  #patch(call: Call, resource: Resource, name: string): Answer {
    const { namespace, subresource } = call.target;
    const patch = patchOf(call, resource, this.writes.now());
    const options: WriteOptions = { dryRun: isDryRun(call.query, "PatchOptions"), writer: patch.writer };
    if (patch.isApply && subresource === "" && this.#store.get(storageKey(resource), objectKey(namespace, name)) === undefined) {
      const bare = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { name } } as unknown as KubeObject;
      const created = this.writes.create(resource, namespace, patch.configuration, options, asObject(patch.change(bare).metadata));
      return this.#shown(call, resource, created, 201);
    }
    const update: Update = { subresource, replaces: false, change: patch.change, ownsItself: patch.isApply };
    return this.#shown(call, resource, this.writes.update(resource, namespace, name, update, options), 200);
  }

  #delete(call: Call, resource: Resource, name: string): Answer {
    const { object, gone } = this.writes.delete(resource, call.target.namespace, name, deleteOptionsOf(call));
    if (!gone || resource.returnsDeleted) return this.#shown(call, resource, object, 200);
    const group = resource.group === "" ? {} : { group: resource.group };
    const details = { name, ...group, kind: resource.plural, uid: object.metadata.uid };
    return { kind: "object", status: 200, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details } };
  }

  #deleteCollection(call: Call, resource: Resource): Answer {
    if (!resource.collectionDelete || (resource.namespaced && call.target.namespace === undefined)) throw methodNotAllowed();
    const options = deleteOptionsOf(call);
    const select = selectorOf(resource, call.target.namespace, undefined, call.query);
    const { revision } = this.#store;
    const doomed = this.#store.list(storageKey(resource)).filter(select);
    for (const { metadata } of doomed) this.writes.delete(resource, metadata.namespace, metadata.name, options);
    return { kind: "object", status: 200, body: this.#list(call, resource, doomed, { resourceVersion: String(revision) }) };
  }

  #scale(call: Call, resource: Resource): Answer {
    const paths = resource.scale!;
    const asScale = (object: KubeObject): JsonObject => ({
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      metadata: {
        name: object.metadata.name,
        ...(object.metadata.namespace === undefined ? {} : { namespace: object.metadata.namespace }),
        uid: object.metadata.uid,
        resourceVersion: object.metadata.resourceVersion,
        creationTimestamp: object.metadata.creationTimestamp,
      },
      spec: { ...numberAt(object, paths.spec, "replicas") },
      status: { replicas: Number(at(object, ...paths.status) ?? 0) },
    });
    const current = this.#get(call, resource);
    if (call.method === "GET") return { kind: "object", status: 200, body: asScale(current) };
    if (call.method !== "PUT" && call.method !== "PATCH") throw methodNotAllowed();
    const wanted =
      call.method === "PUT"
        ? bodyOf(call.request, "Scale")
        : patchOf(call, resource, this.writes.now()).change(asScale(current) as unknown as KubeObject);
    const change = (object: KubeObject) => {
      const version = asText(at(wanted, "metadata", "resourceVersion"));
      if (version !== "") object.metadata.resourceVersion = version;
      setAt(object, paths.spec, at(wanted, "spec", "replicas") ?? 0);
      return object;
    };
    const { namespace, name } = call.target;
    const options = this.#options(call, resource, "UpdateOptions");
    const scaled = this.writes.update(resource, namespace, name!, { subresource: "scale", replaces: false, change }, options);
    return { kind: "object", status: 200, body: asScale(scaled) };
  }

  #token(call: Call, resource: Resource): Answer {
    if (call.method !== "POST") throw methodNotAllowed();
    const account = this.#get(call, resource);
    return { kind: "object", status: 201, body: this.#tokens.issue(account, bodyOf(call.request, "TokenRequest")) };
  }

  #eviction(call: Call, pods: Resource): Answer {
    if (call.method !== "POST") throw methodNotAllowed();
    const { store, writes } = { store: this.#store, writes: this.writes };
    const budgets = this.#registry.find("policy", "v1", "poddisruptionbudgets")!;
    const options = this.#options(call, pods, "CreateOptions");
    const body = evict(this.#get(call, pods), bodyOf(call.request, "Eviction"), {
      store,
      writes,
      pods,
      budgets,
      now: writes.now(),
      options,
    });
    return { kind: "object", status: 201, body };
  }

  #review(request: HttpRequest, target: Target, user: User): JsonObject | undefined {
    const asked = `${target.group}/${target.version}/${target.plural}`;
    const spec = () => asObject(bodyOf(request, "Review").spec);
    const answer = (kind: string, status: JsonObject) => ({
      kind,
      apiVersion: `${target.group}/${target.version}`,
      metadata: {},
      spec: spec(),
      status,
    });
    const roles = (plural: string) => this.#store.list(`rbac.authorization.k8s.io/${plural}`);
    switch (request.method === "POST" ? asked : "") {
      case "authentication.k8s.io/v1/tokenreviews":
        return answer("TokenReview", tokenReviewStatus(this.#tokens.holderOf(asText(spec().token))));
      case "authorization.k8s.io/v1/subjectaccessreviews": {
        const { user: name, groups } = spec();
        const subject: User = { name: asText(name), groups: Array.isArray(groups) ? groups.map(asText) : [] };
        return answer("SubjectAccessReview", { allowed: isAllowed(subject, attemptOf(spec()), roles) });
      }
      case "authorization.k8s.io/v1/selfsubjectaccessreviews":
        return answer("SelfSubjectAccessReview", { allowed: isAllowed(user, attemptOf(spec()), roles) });
      default:
        return undefined;
    }
  }

  #shown(call: Call, resource: Resource, object: KubeObject, status: number): Answer {
    if (call.form === "table") {
      const metadata = { resourceVersion: object.metadata.resourceVersion };
      return { kind: "object", status, body: tableOf(resource, [object], metadata, this.#world.clock.now(), true) };
    }
    return { kind: "object", status, body: call.form === "metadata" ? partialMetadata(object) : inVersion(object, resource) };
  }

  #options(call: Call, resource: Resource, kind: string): WriteOptions {
    const writer: Writer = {
      manager: managerOf(call),
      operation: "Update",
      apiVersion: apiVersionOf(resource),
      subresource: call.target.subresource,
    };
    return { dryRun: isDryRun(call.query, kind), writer };
  }
}

/** The same object, told in the version it was asked in. */
function inVersion(object: KubeObject, resource: Resource): KubeObject {
  const apiVersion = apiVersionOf(resource);
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

function numberAt(object: KubeObject, path: readonly string[], name: string): JsonObject {
  const value = at(object, ...path);
  return typeof value === "number" ? { [name]: value } : {};
}

function setAt(object: JsonObject, path: readonly string[], value: Json): void {
  const [first, ...rest] = path;
  if (first === undefined) return;
  if (rest.length === 0) object[first] = copy(value);
  else {
    const inner = asObject(object[first]);
    object[first] = inner;
    setAt(inner, rest, value);
  }
}
