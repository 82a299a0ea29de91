/** Watches: the past from a version on, then what comes, with bookmarks, until the time is up or the line is cut. */
import { goBool } from "../../../runtime/flags-go.ts";
import type { World } from "../../../runtime/world.ts";
import type { JsonObject, KubeObject } from "./json.ts";
import { versionFrom } from "./reads.ts";
import { numberFrom } from "./requests.ts";
import { apiVersionOf, type Resource, storageKey } from "./resources.ts";
import type { Selector } from "./selectors.ts";
import { ApiFailure, expired, fieldErrors, invalidOptions, tooLargeVersion } from "./status.ts";
import type { Change, Store } from "./store.ts";

const bookmarkEveryMs = 60_000;
const shortestLifeSeconds = 1800;

/** How an object is shown to this client: as it is, as a table row, as metadata. */
export type Show = (object: KubeObject, first: boolean) => JsonObject;

/** One open watch. Its lines are read through the async iterator. */
export class Watch implements AsyncIterable<Uint8Array> {
  readonly resource: Resource;
  readonly #pending: Uint8Array[] = [];
  #waiting: PromiseWithResolvers<IteratorResult<Uint8Array>> | undefined;
  #ended = false;
  #failure: Error | undefined;
  #stalled = false;
  #stop: (() => void)[] = [];

  constructor(resource: Resource) {
    this.resource = resource;
  }

  /** Called when the watch is over, however it ended. */
  onEnd(callback: () => void): void {
    this.#stop.push(callback);
  }

  write(line: JsonObject): void {
    if (this.#ended) return;
    this.#pending.push(Buffer.from(`${JSON.stringify(line)}\n`));
    this.#deliver();
  }

  /** The regular end: the client may resume. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const stop of this.#stop.splice(0)) stop();
    this.#deliver();
  }

  /** The line is cut: what was not read yet is lost. */
  cut(error: Error): void {
    if (this.#ended) return;
    this.#pending.length = 0;
    this.#failure = error;
    this.#stalled = false;
    this.end();
  }

  /** Holds back every line, and the end, until resumed: a connection that looks alive and says nothing. */
  stall(stalled: boolean): void {
    this.#stalled = stalled;
    this.#deliver();
  }

  #deliver(): void {
    const waiting = this.#waiting;
    if (waiting === undefined || this.#stalled) return;
    if (this.#pending.length > 0) waiting.resolve({ done: false, value: this.#pending.shift()! });
    else if (this.#failure !== undefined) waiting.reject(this.#failure);
    else if (this.#ended) waiting.resolve({ done: true, value: undefined });
    else return;
    this.#waiting = undefined;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: () => {
        this.#waiting = Promise.withResolvers();
        const { promise } = this.#waiting;
        this.#deliver();
        return promise;
      },
      return: async () => {
        this.end();
        return { done: true, value: undefined };
      },
    };
  }
}

/**
 * What the server does with lists that are asked for as watches: serves them, refuses them (the feature gate is off, or the
 * server is older than it), or fails at them (its etcd cannot tell how far a watch has come: older than 3.4.31 and 3.5.13).
 */
export type StreamedLists = "served" | "refused" | "failing";

/** Opens a watch. Rejects what the real API rejects before it answers; a version that is forgotten is told as an event. */
export function openWatch(world: World, store: Store, resource: Resource, select: Selector, query: URLSearchParams, show: Show): Watch {
  const asked = query.get("resourceVersion") ?? "";
  const bookmarks = isTrue(query.get("allowWatchBookmarks"));
  const initial = initialEvents(query, asked);
  const version = versionOf(asked);
  const watch = new Watch(resource);

  let first = true;
  const tell = (type: string, object: KubeObject) => {
    watch.write({ type, object: show(object, first) });
    first = false;
  };
  const tellChange = (change: Change) => {
    if (change.kind !== storageKey(resource) || (!initial && change.revision <= version)) return;
    const was = change.before !== undefined && select(change.before);
    const is = change.after !== undefined && select(change.after);
    if (is) tell(was ? "MODIFIED" : "ADDED", change.after!);
    else if (was)
      tell("DELETED", { ...change.before!, metadata: { ...change.before!.metadata, resourceVersion: String(change.revision) } });
  };

  if (initial) {
    if (version > store.revision) return failed(watch, tooLargeVersion(asked, store.revision));
    for (const object of store.list(storageKey(resource))) if (select(object)) tell("ADDED", object);
    if (bookmarks) watch.write(bookmark(resource, store, { "k8s.io/initial-events-end": "true" }));
  } else {
    if (version < store.compacted) return failed(watch, expired(`too old resource version: ${version} (${store.compacted})`));
    for (const change of store.changesSince(storageKey(resource), version)) tellChange(change);
  }
  watch.onEnd(store.listen(tellChange));
  const seconds = numberFrom(query, "timeoutSeconds") ?? shortestLifeSeconds * (1 + world.random.number());
  watch.onEnd(world.clock.after(seconds * 1000, () => watch.end()));
  if (bookmarks) repeatBookmarks(world, watch, resource, store);
  return watch;
}

function repeatBookmarks(world: World, watch: Watch, resource: Resource, store: Store): void {
  let cancel = () => {};
  const next = () => {
    cancel = world.clock.after(bookmarkEveryMs, () => {
      watch.write(bookmark(resource, store));
      next();
    });
  };
  next();
  watch.onEnd(() => cancel());
}

function bookmark(resource: Resource, store: Store, annotations?: JsonObject): JsonObject {
  const metadata = { resourceVersion: String(store.revision), ...(annotations === undefined ? {} : { annotations }) };
  return { type: "BOOKMARK", object: { kind: resource.kind, apiVersion: apiVersionOf(resource), ...resource.behaviour.empty, metadata } };
}

function failed(watch: Watch, failure: ApiFailure): Watch {
  watch.write({ type: "ERROR", object: failure.status });
  watch.end();
  return watch;
}

/** How a server that does not stream lists answers a query that asks for it; undefined when it does, or is not asked to. */
export function refusedList(resource: Resource, query: URLSearchParams, lists: StreamedLists): Watch | undefined {
  if (lists === "served" || !query.has("sendInitialEvents")) return undefined;
  if (lists === "failing") {
    const message = "a watch stream was requested by the client but the required storage feature RequestWatchProgress is disabled";
    return failed(new Watch(resource), new ApiFailure(500, message, { reason: "InternalError" }));
  }
  throw invalidOptions(
    "ListOptions",
    fieldErrors.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"),
  );
}

/** Whether everything that exists is told first: asked for, or by old habit when no version is given. */
function initialEvents(query: URLSearchParams, version: string): boolean {
  const wanted = query.get("sendInitialEvents");
  const match = query.get("resourceVersionMatch") ?? "";
  if (wanted !== null && match !== "NotOlderThan") {
    throw invalidOptions(
      "ListOptions",
      fieldErrors.forbidden("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
    );
  }
  if (wanted === null && match !== "") {
    throw invalidOptions(
      "ListOptions",
      fieldErrors.forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"),
    );
  }
  return wanted === null ? version === "" || version === "0" : isTrue(wanted);
}

function versionOf(text: string): number {
  try {
    return versionFrom(text);
  } catch (error) {
    // The real API answers 500 here, and nobody depends on better.
    throw error instanceof ApiFailure ? new ApiFailure(500, error.message) : error;
  }
}

function isTrue(text: string | null): boolean {
  return goBool(text ?? "") === true;
}
