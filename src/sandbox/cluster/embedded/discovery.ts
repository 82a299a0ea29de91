/** What is served, in the three forms that clients ask for: the old lists, the aggregated one, and a bare OpenAPI. */
import type { JsonObject } from "./json.ts";
import type { Registry } from "./registry.ts";
import { apiVersionOf, type Resource } from "./resources.ts";

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

const reviews: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "authentication.k8s.io/v1": { tokenreviews: "TokenReview" },
  "authorization.k8s.io/v1": { subjectaccessreviews: "SubjectAccessReview", selfsubjectaccessreviews: "SelfSubjectAccessReview" },
};

export const version: JsonObject = {
  major: "1",
  minor: "36",
  gitVersion: "v1.36.3+embedded",
  gitCommit: "",
  gitTreeState: "",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: "",
  platform: "embedded",
};

/** The answer to a discovery path; undefined when the path is none. */
export function discover(path: string, aggregated: boolean, registry: Registry): JsonObject | undefined {
  if (path === "/api") return aggregated ? aggregatedList(registry, true) : { kind: "APIVersions", versions: ["v1"] };
  if (path === "/apis") return aggregated ? aggregatedList(registry, false) : groupList(registry);
  if (path === "/version") return version;
  if (path === "/openapi/v3") return openApiIndex(registry);
  const parts = path.split("/").filter((part) => part !== "");
  if (parts[0] === "openapi" && parts[1] === "v3") return openApiOf(parts.slice(2), registry);
  if (parts[0] === "api" && parts.length === 2) return resourceList("", parts[1]!, registry);
  if (parts[0] === "apis" && parts.length === 2) return registry.groups().has(parts[1]!) ? groupOf(parts[1]!, registry) : undefined;
  if (parts[0] === "apis" && parts.length === 3) return resourceList(parts[1]!, parts[2]!, registry);
  return undefined;
}

function groupList(registry: Registry): JsonObject {
  const names = [...registry.groups().keys()].filter((name) => name !== "");
  return { kind: "APIGroupList", apiVersion: "v1", groups: names.map((name) => bareGroup(name, registry)) };
}

function groupOf(name: string, registry: Registry): JsonObject {
  return { kind: "APIGroup", apiVersion: "v1", ...bareGroup(name, registry) };
}

function bareGroup(name: string, registry: Registry): JsonObject {
  const versions = (registry.groups().get(name) ?? []).map((one) => ({ groupVersion: `${name}/${one}`, version: one }));
  return { name, versions, preferredVersion: versions[0]! };
}

function resourceList(group: string, version: string, registry: Registry): JsonObject | undefined {
  if (!registry.groups().get(group)?.includes(version)) return undefined;
  const groupVersion = group === "" ? version : `${group}/${version}`;
  const resources = registry
    .all()
    .filter((one) => one.group === group && one.version === version)
    .flatMap((one) => [
      {
        name: one.plural,
        singularName: one.singular,
        namespaced: one.namespaced,
        kind: one.kind,
        verbs: verbsOf(one),
        ...otherNames(one),
      },
      ...one.subresources.map((name) => ({
        name: `${one.plural}/${name}`,
        singularName: "",
        namespaced: one.namespaced,
        ...subresourceKind(one, name),
        verbs: subresourceVerbs(name),
      })),
    ]);
  const posts = Object.entries(reviews[groupVersion] ?? {}).map(([name, kind]) => ({
    name,
    singularName: kind.toLowerCase(),
    namespaced: false,
    kind,
    verbs: ["create"],
  }));
  return { kind: "APIResourceList", ...(group === "" ? {} : { apiVersion: "v1" }), groupVersion, resources: [...resources, ...posts] };
}

function otherNames({ shortNames, categories }: Resource): JsonObject {
  return {
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
  };
}

function verbsOf(resource: Resource): string[] {
  return resource.collectionDelete ? verbs : verbs.filter((verb) => verb !== "deletecollection");
}

function subresourceVerbs(name: string): string[] {
  if (name === "token") return ["create"];
  return name === "finalize" ? ["update"] : ["get", "patch", "update"];
}

function subresourceKind(resource: Resource, name: string): JsonObject & { kind: string } {
  if (name === "scale") return { group: "autoscaling", version: "v1", kind: "Scale" };
  if (name === "token") return { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" };
  return { kind: resource.kind };
}

function aggregatedList(registry: Registry, core: boolean): JsonObject {
  const groups = [...registry.groups()].filter(([name]) => (name === "") === core);
  const items = groups.map(([name, versions]) => ({
    metadata: name === "" ? {} : { name },
    versions: versions.map((version) => ({
      version,
      resources: [...aggregatedResources(name, version, registry), ...aggregatedReviews(name, version)],
      freshness: "Current",
    })),
  }));
  return { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items };
}

function aggregatedResources(group: string, version: string, registry: Registry): JsonObject[] {
  const served = registry.all().filter((one) => one.group === group && one.version === version);
  return served.map((one) => ({
    resource: one.plural,
    responseKind: { group, version, kind: one.kind },
    scope: one.namespaced ? "Namespaced" : "Cluster",
    singularResource: one.singular,
    verbs: verbsOf(one),
    ...otherNames(one),
    ...(one.subresources.length === 0
      ? {}
      : {
          subresources: one.subresources.map((name) => ({
            subresource: name,
            responseKind: { group, version, ...subresourceKind(one, name) },
            verbs: subresourceVerbs(name),
          })),
        }),
  }));
}

function aggregatedReviews(group: string, version: string): JsonObject[] {
  return Object.entries(reviews[`${group}/${version}`] ?? {}).map(([name, kind]) => ({
    resource: name,
    responseKind: { group, version, kind },
    scope: "Cluster",
    singularResource: kind.toLowerCase(),
    verbs: ["create"],
  }));
}

/** Enough of OpenAPI for kubectl to learn that the server checks fields itself. */
function openApiIndex(registry: Registry): JsonObject {
  const paths: JsonObject = {};
  for (const [group, versions] of registry.groups()) {
    for (const version of versions) {
      const path = group === "" ? `api/${version}` : `apis/${group}/${version}`;
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=embedded` };
    }
  }
  return { paths };
}

function openApiOf(parts: readonly string[], registry: Registry): JsonObject | undefined {
  const [group, version] = parts[0] === "api" ? ["", parts[1]] : [parts[1], parts[2]];
  const served = registry.all().filter((one) => one.group === group && one.version === version);
  if (served.length === 0) return undefined;
  const parameters = ["dryRun", "fieldManager", "fieldValidation"].map((name) => ({
    name,
    in: "query",
    schema: { type: "string", uniqueItems: true },
  }));
  const paths: JsonObject = {};
  for (const one of served) {
    const root = one.group === "" ? `/api/${one.version}` : `/apis/${apiVersionOf(one)}`;
    const kind = { group: one.group, version: one.version, kind: one.kind };
    const operation = (action: string) => ({
      parameters,
      responses: { 200: { description: "OK" } },
      "x-kubernetes-action": action,
      "x-kubernetes-group-version-kind": kind,
    });
    const collection = `${root}${one.namespaced ? "/namespaces/{namespace}" : ""}/${one.plural}`;
    paths[collection] = { post: operation("post") };
    paths[`${collection}/{name}`] = { patch: operation("patch"), put: operation("put"), delete: operation("delete") };
  }
  return { openapi: "3.0.0", info: { title: "Kubernetes", version: "embedded" }, paths, components: { schemas: {} } };
}
