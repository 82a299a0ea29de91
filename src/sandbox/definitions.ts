/** Definitions of kinds that others define, without their schemas: enough for a cluster in which nobody makes a mistake in them. */
import type { KubeObject, Resource } from "../kube/resource.ts";
import { gatewayClasses, gateways, listenerSets, referenceGrants, routes } from "../loadbalancers/gateway/api.ts";

const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };

type DefinedKind = Pick<Resource<KubeObject>, "group" | "version" | "plural" | "kind" | "namespaced">;

export function definitionOf({ group, version, plural, kind, namespaced }: DefinedKind, { hasStatus = true } = {}) {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${group}`,
      // Kubernetes keeps groups under k8s.io for itself and asks who has agreed to the definition.
      annotations: { "api-approved.kubernetes.io": "unapproved, without schemas" },
    },
    spec: {
      group,
      scope: namespaced ? "Namespaced" : "Cluster",
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [{ name: version, served: true, storage: true, schema, subresources: hasStatus ? { status: {} } : {} }],
    },
  };
}

/** The standard channel of the Gateway API, but for what no load balancer has. */
export const gatewayApiDefinitions = [gateways, gatewayClasses, listenerSets, referenceGrants, ...Object.values(routes)].map((of) =>
  definitionOf(of),
);
