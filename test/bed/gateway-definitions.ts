/** Definitions of the Gateway API for worlds whose API server checks nothing: the kinds, and that they have a status. */

import type { KubeObject, Resource } from "../../src/kube/resource.ts";
import { gatewayClasses, gateways, listenerSets, referenceGrants, routes } from "../../src/loadbalancers/gateway/api.ts";
import { loadBalancerConfigurationDefinition, targetGroupConfigurationDefinition } from "../../src/loadbalancers/gateway/crd.ts";
import { listenerRuleConfigurationDefinition } from "../../src/loadbalancers/gateway/rule-crd.ts";

const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

const definitionOf = ({ group, version, plural, kind, namespaced }: Resource<KubeObject>) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: namespaced ? "Namespaced" : "Cluster",
    names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
    versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: anything }, subresources: { status: {} } }],
  },
});

/** The standard channel, but for what no load balancer has. */
export const gatewayApiDefinitions = [gateways, gatewayClasses, listenerSets, referenceGrants, ...Object.values(routes)].map((of) =>
  definitionOf(of as Resource<KubeObject>),
);

/** Those of the configurations, as they are shipped. */
export const configurationDefinitions = [
  loadBalancerConfigurationDefinition,
  targetGroupConfigurationDefinition,
  listenerRuleConfigurationDefinition,
];
