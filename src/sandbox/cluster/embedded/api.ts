/** From a request to an answer: which resource, which verb, in which form. Everything happens in one turn, so writes never interleave. */
import type { HttpRequest } from "../../../runtime/http.ts";
import type { Log } from "../../../runtime/log.ts";
import type { World } from "../../../runtime/world.ts";
import { discover } from "./discovery.ts";
import { evict } from "./evictions.ts";
import { listIn, objectIn } from "./forms.ts";
import { asObject, type JsonObject, type KubeObject } from "./json.ts";
import type { Writer } from "./ownership.ts";
import { patchOf } from "./patches.ts";
import { listPage, selectorOf, versionFrom } from "./reads.ts";
import type { Registry } from "./registry.ts";
import { bodyOf, type Call, deleteOptionsOf, formOf, isDryRun, managerOf, type Target, targetOf } from "./requests.ts";
import { apiVersionOf, type Resource, storageKey } from "./resources.ts";
import { review } from "./reviews.ts";
import { scaled, scaleOf } from "./scale.ts";
import { ApiFailure, methodNotAllowed, noSuchPath, notFound, notImplemented, tooLargeVersion, unauthorized } from "./status.ts";
import { objectKey, type Store } from "./store.ts";
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
    const roles = (plural: string) => this.#store.list(`rbac.authorization.k8s.io/${plural}`);
    const reviewed = review(request, target, { user, roles, holderOf: (token) => this.#tokens.holderOf(token) });
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
      const show = (object: KubeObject, first: boolean) => objectIn(call.form, resource, object, this.#world.clock.now(), first);
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
    return { kind: "object", status: 200, body: listIn(call.form, resource, page.items, metadata, this.#world.clock.now()) };
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
    const body = listIn(call.form, resource, doomed, { resourceVersion: String(revision) }, this.#world.clock.now());
    return { kind: "object", status: 200, body };
  }

  #scale(call: Call, resource: Resource): Answer {
    const paths = resource.scale!;
    const current = scaleOf(this.#get(call, resource), paths);
    if (call.method === "GET") return { kind: "object", status: 200, body: current };
    if (call.method !== "PUT" && call.method !== "PATCH") throw methodNotAllowed();
    const wanted =
      call.method === "PUT"
        ? bodyOf(call.request, "Scale")
        : patchOf(call, resource, this.writes.now()).change(current as unknown as KubeObject);
    const change = (object: KubeObject) => scaled(object, wanted, paths);
    const { namespace, name } = call.target;
    const options = this.#options(call, resource, "UpdateOptions");
    const object = this.writes.update(resource, namespace, name!, { subresource: "scale", replaces: false, change }, options);
    return { kind: "object", status: 200, body: scaleOf(object, paths) };
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

  #shown(call: Call, resource: Resource, object: KubeObject, status: number): Answer {
    return { kind: "object", status, body: objectIn(call.form, resource, object, this.#world.clock.now(), true) };
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
