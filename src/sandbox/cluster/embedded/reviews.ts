/** Who somebody is and what they may do: tokens by table, permissions by the stored roles. */
import type { User } from "../../../runtime/access.ts";
import type { HttpRequest } from "../../../runtime/http.ts";
import { asList, asObject, asText, type Json, type JsonObject, type KubeObject } from "./json.ts";
import { bodyOf, type Target } from "./requests.ts";

/** Who asks, and what is known of users. */
export interface Known {
  readonly user: User;
  readonly roles: Roles;
  holderOf(token: string): User | undefined;
}

/** The answer to a request that is a review; undefined when it is none. */
export function review(request: HttpRequest, target: Target, { user, roles, holderOf }: Known): JsonObject | undefined {
  const apiVersion = `${target.group}/${target.version}`;
  const answer = (kind: string, judge: (spec: JsonObject) => JsonObject) => {
    const spec = asObject(bodyOf(request, "Review").spec);
    return { kind, apiVersion, metadata: {}, spec, status: judge(spec) };
  };
  switch (request.method === "POST" ? `${apiVersion}/${target.plural}` : "") {
    case "authentication.k8s.io/v1/tokenreviews":
      return answer("TokenReview", ({ token }) => tokenReviewStatus(holderOf(asText(token))));
    case "authorization.k8s.io/v1/subjectaccessreviews":
      return answer("SubjectAccessReview", (spec) => {
        const subject: User = { name: asText(spec.user), groups: asList(spec.groups).map(asText) };
        return { allowed: isAllowed(subject, attemptOf(spec), roles) };
      });
    case "authorization.k8s.io/v1/selfsubjectaccessreviews":
      return answer("SelfSubjectAccessReview", (spec) => ({ allowed: isAllowed(user, attemptOf(spec), roles) }));
    default:
      return undefined;
  }
}

/** What is to be allowed. */
interface Attempt {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly name: string;
  readonly namespace: string;
  /** A path outside the API; the others are empty then. */
  readonly path: string;
}

/** The stored objects of one RBAC kind: `clusterroles`, `rolebindings`, … */
type Roles = (plural: string) => readonly KubeObject[];

/** The status of a TokenReview. */
function tokenReviewStatus(user: User | undefined): JsonObject {
  if (user === undefined) return { user: {}, error: "invalid bearer token" };
  const { name, uid, groups } = user;
  return {
    authenticated: true,
    user: { username: name, ...(uid === undefined ? {} : { uid }), groups: [...groups, "system:authenticated"] },
  };
}

/** What an access review asks about. */
function attemptOf(spec: JsonObject): Attempt {
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
function isAllowed(user: User, attempt: Attempt, roles: Roles): boolean {
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
