/** Who somebody is and what they may do: tokens by table, permissions by the stored roles. */
import type { User } from "../../../runtime/access.ts";
import { asList, asObject, asText, type Json, type JsonObject, type KubeObject } from "./json.ts";

/** What is to be allowed. */
export interface Attempt {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly name: string;
  readonly namespace: string;
  /** A path outside the API; the others are empty then. */
  readonly path: string;
}

/** The stored objects of one RBAC kind: `clusterroles`, `rolebindings`, … */
export type Roles = (plural: string) => readonly KubeObject[];

/** The status of a TokenReview. */
export function tokenReviewStatus(user: User | undefined): JsonObject {
  if (user === undefined) return { user: {}, error: "invalid bearer token" };
  const { name, uid, groups } = user;
  return {
    authenticated: true,
    user: { username: name, ...(uid === undefined ? {} : { uid }), groups: [...groups, "system:authenticated"] },
  };
}

/** What an access review asks about. */
export function attemptOf(spec: JsonObject): Attempt {
  const resource = asObject(spec.resourceAttributes);
  const other = asObject(spec.nonResourceAttributes);
  const subresource = asText(resource.subresource);
  return {
    verb: asText(resource.verb) || asText(other.verb),
    group: asText(resource.group),
    resource: subresource === "" ? asText(resource.resource) : `${asText(resource.resource)}/${subresource}`,
    name: asText(resource.name),
    namespace: asText(resource.namespace),
    path: asText(other.path),
  };
}

/** Whether the roles bound to a user allow it. Members of system:masters may do everything. */
export function isAllowed(user: User, attempt: Attempt, roles: Roles): boolean {
  if (user.groups.includes("system:masters")) return true;
  const cluster = roles("clusterrolebindings").filter((binding) => binds(binding, user));
  const local = roles("rolebindings").filter((binding) => binding.metadata.namespace === attempt.namespace && binds(binding, user));
  return [...cluster, ...local].some((binding) => rulesOf(binding, roles).some((rule) => covers(asObject(rule), attempt)));
}

function binds(binding: KubeObject, user: User): boolean {
  return asList(binding.subjects).some((item) => {
    const { kind, name, namespace } = asObject(item);
    if (kind === "Group") return user.groups.includes(asText(name)) || name === "system:authenticated";
    if (kind === "ServiceAccount") return user.name === `system:serviceaccount:${asText(namespace)}:${asText(name)}`;
    return kind === "User" && name === user.name;
  });
}

function rulesOf(binding: KubeObject, roles: Roles): Json[] {
  const { kind, name } = asObject(binding.roleRef);
  const candidates = kind === "ClusterRole" ? roles("clusterroles") : roles("roles");
  const role = candidates.find(
    ({ metadata }) => metadata.name === name && (kind === "ClusterRole" || metadata.namespace === binding.metadata.namespace),
  );
  return asList(role?.rules);
}

function covers(rule: JsonObject, attempt: Attempt): boolean {
  const has = (list: Json | undefined, wanted: string) => asList(list).some((one) => one === "*" || one === wanted);
  if (!has(rule.verbs, attempt.verb)) return false;
  if (attempt.path !== "") {
    return asList(rule.nonResourceURLs).some((one) => {
      const url = asText(one);
      return url === attempt.path || (url.endsWith("*") && attempt.path.startsWith(url.slice(0, -1)));
    });
  }
  const named = asList(rule.resourceNames);
  return (
    has(rule.apiGroups, attempt.group) && has(rule.resources, attempt.resource) && (named.length === 0 || named.includes(attempt.name))
  );
}
