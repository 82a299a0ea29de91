/**
 * The embedded cluster: an in-memory Kubernetes API as a transport, with the levers of its bad days.
 *
 * It is held to a real API by the exchanges of test/bed/exchanges. What it leaves out: unknown fields of built-in kinds are
 * kept, not pruned or refused; rules in CEL and admission webhooks are not run; roles answer access reviews but do not
 * stop a request; one version of a custom resource is not converted to another; answers are JSON, never binary or CBOR.
 * A built-in kind that is not served is answered with 501 and logged.
 */
import type { User } from "../../../runtime/access.ts";
import type { HttpRequest, HttpResponse, Transport } from "../../../runtime/http.ts";
import { type Log, silentLog } from "../../../runtime/log.ts";
import type { World } from "../../../runtime/world.ts";
import { Api } from "./api.ts";
import { ConnectionReset, Faults, once } from "./faults.ts";
import { keepHouse } from "./housekeeping.ts";
import type { KubeObject } from "./json.ts";
import { Allocator } from "./kinds/allocator.ts";
import { Registry } from "./registry.ts";
import { type Resource, storageKey } from "./resources.ts";
import { Store } from "./store.ts";
import { Tokens } from "./tokens.ts";
import type { StreamedLists, Watch } from "./watches.ts";

export interface EmbeddedClusterOptions {
  readonly world: World;
  readonly log?: Log;
  /** Who each bearer token belongs to. Without it everybody is an administrator. */
  readonly tokens?: Readonly<Record<string, User>>;
  /** How many changes are remembered for watches and pages. */
  readonly historyLimit?: number;
  /** Whether owners' leftovers and deleted namespaces are cleaned up, as kube-controller-manager would. */
  readonly housekeeping?: boolean;
  /** Whether lists can be asked for as watches; they can unless told otherwise. */
  readonly streamedLists?: StreamedLists;
}

export interface EmbeddedCluster {
  readonly send: Transport;
  readonly faults: Faults;
  /** The version of the last write. */
  readonly resourceVersion: string;
  /** What is stored of a kind, named `nodes` or `leases.coordination.k8s.io`. */
  objects(kind: string): readonly KubeObject[];
  /** Forgets the past: watches and pages from before get 410. */
  compact(): void;
  /** Cuts every open watch, or those of one resource. */
  cutWatches(plural?: string): void;
  /** Open watches say nothing more until resumed, or until they are given up. */
  stallWatches(stalled: boolean): void;
  readonly openWatches: number;
  close(): void;
}

/** A cluster with the four namespaces every cluster starts with, and nothing else. */
export function createEmbeddedCluster(options: EmbeddedClusterOptions): EmbeddedCluster {
  const { world, log = silentLog } = options;
  const store = new Store(options.historyLimit ?? 10_000);
  const watches = new Set<Watch>();
  const allocator = new Allocator(() => store.list("/services"), world.random);
  const registry = new Registry(store, allocator, (gone) => {
    for (const watch of [...watches]) if (gone.has(storageKey(watch.resource))) watch.end();
  });
  const api = new Api(world, store, registry, new Tokens(world, options.tokens), log, options.streamedLists ?? "served");
  const faults = new Faults(world);
  const stopHousekeeping = options.housekeeping === false ? () => {} : keepHouse(store, registry, api.writes, world.clock);
  for (const name of ["default", "kube-node-lease", "kube-public", "kube-system"]) createNamespace(api, registry.namespaces, name);

  const answer = async (request: HttpRequest): Promise<HttpResponse> => {
    request.signal?.throwIfAborted();
    const given = api.answer(request);
    if (given.kind === "watch") {
      open(given.watch, watches, request.signal);
      return { status: 200, headers: { "content-type": "application/json", "transfer-encoding": "chunked" }, body: given.watch };
    }
    const [type, text] =
      given.kind === "text" ? ["text/plain; charset=utf-8", given.body] : [jsonType(request, given.body), JSON.stringify(given.body)];
    return { status: given.status, headers: { "content-type": type }, body: once(text) };
  };

  return {
    send: faults.over(answer),
    faults,
    get resourceVersion() {
      return String(store.revision);
    },
    objects(kind) {
      const [plural, ...group] = kind.split(".");
      return store.list(`${group.join(".")}/${plural}`);
    },
    compact: () => store.compact(),
    cutWatches(plural) {
      for (const watch of [...watches]) if (plural === undefined || watch.resource.plural === plural) watch.cut(new ConnectionReset());
    },
    stallWatches(stalled) {
      for (const watch of watches) watch.stall(stalled);
    },
    get openWatches() {
      return watches.size;
    },
    close() {
      stopHousekeeping();
      for (const watch of [...watches]) watch.end();
    },
  };
}

function open(watch: Watch, watches: Set<Watch>, signal: AbortSignal | undefined): void {
  const onAbort = () => watch.cut(signal?.reason instanceof Error ? signal.reason : new ConnectionReset());
  watches.add(watch);
  signal?.addEventListener("abort", onAbort, { once: true });
  watch.onEnd(() => {
    watches.delete(watch);
    signal?.removeEventListener("abort", onAbort);
  });
}

/** kubectl believes an aggregated answer only when its content type says so. */
function jsonType(request: HttpRequest, body: { readonly [name: string]: unknown }): string {
  return body.kind === "APIGroupDiscoveryList" && request.headers.accept?.includes("apidiscovery")
    ? "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    : "application/json";
}

function createNamespace(api: Api, namespaces: Resource, name: string): void {
  api.writes.create(
    namespaces,
    undefined,
    { metadata: { name } },
    {
      dryRun: false,
      writer: { manager: "embedded", operation: "Update", apiVersion: "v1", subresource: "" },
    },
  );
}
