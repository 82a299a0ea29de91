/** Get and list: selectors, pages, and which version of the past is asked for. */
import type { KubeObject } from "./json.ts";
import { numberFrom } from "./requests.ts";
import { type Resource, storageKey } from "./resources.ts";
import { fieldSelector, labelSelector, type Selector } from "./selectors.ts";
import { badRequest, expired, fieldErrors, invalidOptions, tooLargeVersion } from "./status.ts";
import { objectKey, type Store } from "./store.ts";

export interface Page {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  readonly continueToken?: string;
  readonly remaining?: number;
}

/** What a list or watch is restricted to. */
export function selectorOf(resource: Resource, namespace: string | undefined, name: string | undefined, query: URLSearchParams): Selector {
  const labels = labelSelector(query.get("labelSelector") ?? "");
  const fields = fieldSelector(query.get("fieldSelector") ?? "", resource);
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    (name === undefined || object.metadata.name === name) &&
    labels(object) &&
    fields(object);
}

/** One page of a list. */
export function listPage(store: Store, resource: Resource, namespace: string | undefined, select: Selector, query: URLSearchParams): Page {
  const limit = numberFrom(query, "limit") ?? 0;
  const token = query.get("continue") ?? "";
  const asked = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  checkVersionMatch(match, asked, token);
  const version = versionFrom(asked, "invalid resource version: ");
  if (version > store.revision) throw tooLargeVersion(asked, store.revision);

  if (token !== "") return continued(store, resource, namespace, select, limit, token);
  if (match === "Exact") {
    if (version < store.compacted) throw expired("The resourceVersion for the provided list is too old.");
    return paged(store.listAt(storageKey(resource), version).filter(select), namespace, limit, version);
  }
  // Lists from the cache ("0") ignore the limit.
  return paged(store.list(storageKey(resource)).filter(select), namespace, asked === "0" ? 0 : limit, store.revision);
}

function continued(store: Store, resource: Resource, namespace: string | undefined, select: Selector, limit: number, token: string): Page {
  const { version, after } = decoded(token, namespace);
  const behind = (object: KubeObject) => objectKey(object.metadata.namespace, object.metadata.name) > after;
  if (version < 0) return paged(store.list(storageKey(resource)).filter(select).filter(behind), namespace, limit, store.revision);
  if (version < store.compacted) {
    throw expired(
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
      { continue: encoded(-1, after, namespace) },
    );
  }
  return paged(store.listAt(storageKey(resource), version).filter(select).filter(behind), namespace, limit, version);
}

function paged(found: readonly KubeObject[], namespace: string | undefined, limit: number, version: number): Page {
  if (limit <= 0 || found.length <= limit) return { items: found, resourceVersion: String(version) };
  const items = found.slice(0, limit);
  const { metadata } = items.at(-1)!;
  return {
    items,
    resourceVersion: String(version),
    continueToken: encoded(version, objectKey(metadata.namespace, metadata.name), namespace),
    remaining: found.length - limit,
  };
}

/** The real API's form of token: the version, and the key to go on behind, seen from where the list starts. */
function encoded(version: number, after: string, namespace: string | undefined): string {
  const start = `/${namespace === undefined ? after.replace(/^\//, "") : after.slice(namespace.length + 1)}\0`;
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: version, start })).toString("base64url");
}

function decoded(token: string, namespace: string | undefined): { version: number; after: string } {
  try {
    const { rv, start } = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
    if (typeof rv === "number" && typeof start === "string") {
      const key = start.replace(/^\/|\0$/g, "");
      return { version: rv, after: namespace === undefined && key.includes("/") ? key : objectKey(namespace, key) };
    }
  } catch {
    // Told below, like any other token that is not ours.
  }
  throw badRequest("invalid continue token: continue key is not valid");
}

/** A version as a number; 0 when it is not given. */
export function versionFrom(text: string, prefix = ""): number {
  if (text === "") return 0;
  if (!/^\d+$/.test(text)) {
    throw badRequest(
      `${prefix}resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  return Number(text);
}

function checkVersionMatch(match: string, version: string, token: string): void {
  const refuse = (why: string) => {
    throw invalidOptions("ListOptions", fieldErrors.forbidden("resourceVersionMatch", why));
  };
  if (match === "") return;
  if (match !== "Exact" && match !== "NotOlderThan") {
    throw invalidOptions("ListOptions", fieldErrors.unsupported("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""]));
  }
  if (token !== "") refuse("resourceVersionMatch is forbidden when continue is provided");
  if (version === "") refuse("resourceVersionMatch is forbidden unless resourceVersion is provided");
  if (match === "Exact" && version === "0") refuse('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
}
