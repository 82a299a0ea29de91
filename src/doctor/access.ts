/** What the controllers must be allowed in the cluster: the same as the chart's roles say, which a test holds. */
import type { Feature } from "./permissions.ts";

export interface AccessNeed {
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** The features that need it; all of them when left out. */
  readonly features?: readonly Feature[];
}

const core = { group: "" };

export const accessNeeds: readonly AccessNeed[] = [
  ...verbs(["list", "watch"], { ...core, resource: "nodes" }),
  ...verbs(["list", "watch"], { ...core, resource: "services", features: ["load-balancers"] }),
  ...verbs(["create", "patch"], { ...core, resource: "events" }),
  ...verbs(["create"], { group: "authentication.k8s.io", resource: "tokenreviews" }),
  ...verbs(["create"], { group: "authorization.k8s.io", resource: "subjectaccessreviews" }),
  ...verbs(["create"], { group: "coordination.k8s.io", resource: "leases", namespace: "kube-system" }),
  ...verbs(["get", "update"], {
    group: "coordination.k8s.io",
    resource: "leases",
    namespace: "kube-system",
    name: "cloud-controller-manager",
  }),
  ...verbs(["get", "patch"], { ...core, resource: "nodes", features: ["nodes", "tagging"] }),
  ...verbs(["delete"], { ...core, resource: "nodes", features: ["nodes"] }),
  ...verbs(["patch"], { ...core, resource: "nodes", subresource: "status", features: ["nodes", "routes"] }),
  ...verbs(["patch"], { ...core, resource: "services", subresource: "status", features: ["load-balancers"] }),
];

/** What a pod of `fairlead cluster` needs besides: the lease of the process itself, `namespace/name`. */
export function hostLeaseNeeds({ hostLease }: { readonly hostLease?: string | undefined }): readonly AccessNeed[] {
  if (hostLease === undefined) return [];
  const [namespace = "", name = ""] = hostLease.split("/");
  return verbs(["get", "update"], { group: "coordination.k8s.io", resource: "leases", namespace, name });
}

/** `patch nodes/status`, `get leases.coordination.k8s.io/cloud-controller-manager in kube-system` */
export function needText({ verb, group, resource, subresource, namespace, name }: AccessNeed): string {
  const kind = group === "" ? resource : `${resource}.${group}`;
  return `${verb} ${[kind, subresource ?? name].filter(Boolean).join("/")}${namespace ? ` in ${namespace}` : ""}`;
}

function verbs(names: readonly string[], need: Omit<AccessNeed, "verb">): readonly AccessNeed[] {
  return names.map((verb) => ({ verb, ...need }));
}
