/** What Kubernetes keeps of Gateways that are judged, and what both controllers say there. */
import type { KubeObject, Resource, Stored } from "../../src/kube/resource.ts";
import {
  gatewayClasses,
  gateways,
  listenerRuleConfigurations,
  listenerSets,
  loadBalancerConfigurations,
  referenceGrants,
  routes,
  targetGroupConfigurations,
} from "../../src/loadbalancers/gateway/api.ts";
import { processedAnnotation } from "../../src/loadbalancers/gateway/configuration.ts";
import { flavours } from "../../src/loadbalancers/gateway/flavours.ts";
import { checkpointAnnotation, sentSecretsAnnotation } from "../../src/loadbalancers/gateway/states.ts";
import { targetGroupBindings } from "../../src/loadbalancers/targets/binding.ts";
import type { GatewayGiven } from "./gateway-table.ts";
import type { IngressCluster } from "./ingress-cluster.ts";
import { anonymous } from "./judged-account.ts";

/** Of the tags of all that is made for Gateways. */
export const prefixes = Object.values(flavours).map(({ prefix }) => prefix);

/** Everything of these kinds is made by the tables. */
export const kinds = [
  gateways,
  listenerSets,
  ...Object.values(routes),
  loadBalancerConfigurations,
  targetGroupConfigurations,
  listenerRuleConfigurations,
  referenceGrants,
] as readonly Resource<KubeObject>[];

/** What is the API server's, says when something was, or is a digest of names. */
const moments = [
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "lastTransitionTime",
  "managedFields",
  "generation",
  ...[processedAnnotation, "elbv2.k8s.aws/checkpoint"].flatMap((annotation) => [annotation, `${annotation}-timestamp`]),
];
/** Written out or left out, it says the same. */
const isDefault = (key: string, value: unknown) => key === "multiClusterTargetGroup" && value === false;

/** What both say on objects of a namespace, in whichever order. */
export async function saidOf(judged: IngressCluster, { namespace }: GatewayGiven): Promise<Readonly<Record<string, unknown>>> {
  const clean = anonymous(judged.cloud, namespace, prefixes);
  const ordered = (value: unknown): unknown =>
    Array.isArray(value)
      ? value
          .map((each) => [JSON.stringify(each), each])
          .toSorted()
          .map(([, each]) => each)
      : value;
  const plain = (value: unknown) =>
    JSON.parse(clean(JSON.stringify(value)), (key, each) => (moments.includes(key) || isDefault(key, each) ? undefined : ordered(each)));
  const all = Object.entries(await objectsOf(judged)).filter(([name]) => name.includes(namespace));
  // Bindings of one route have one name but for its hash.
  const keyOf = (name: string, { spec }: { readonly spec?: { readonly targetGroupARN?: string } }) => clean(spec?.targetGroupARN ?? name);
  return Object.fromEntries(all.map(([name, object]) => [keyOf(name, object as object), plain(object)]));
}

/** What Kubernetes keeps, without what ours says beyond the reference. */
export async function objectsOf({ cluster: { admin } }: IngressCluster): Promise<Readonly<Record<string, unknown>>> {
  const all = await Promise.all(
    [...kinds, gatewayClasses as Resource<KubeObject>, targetGroupBindings as Resource<KubeObject>].map(async (kind) => {
      const { items } = await admin.list(kind);
      return items.map((item) => [`${kind.plural} ${item.metadata.namespace}/${item.metadata.name}`, comparable(item, kind.kind)] as const);
    }),
  );
  return Object.fromEntries(all.flat());
}

function comparable(object: Stored<KubeObject>, kind: string): unknown {
  const { managedFields: _fields, resourceVersion: _version, annotations = {}, ...metadata } = object.metadata;
  const { [sentSecretsAnnotation]: _sent, [checkpointAnnotation]: _checkpoint, ...theirs } = annotations;
  const { status, ...rest } = object as Stored<KubeObject> & { readonly status?: Readonly<Record<string, unknown>> };
  const { targets: _targets, conditions: _conditions, ...kept } = status ?? {};
  const { supportedFeatures: _features, ...ofClass } = status ?? {};
  return {
    ...rest,
    metadata: { ...metadata, annotations: theirs },
    status: kind === "TargetGroupBinding" ? kept : kind === "GatewayClass" ? ofClass : status,
  };
}
