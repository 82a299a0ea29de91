/** The labels a Node gets from its instance, and how the old and the stable names are kept in step. Pure. */

export type Labels = Readonly<Record<string, string>>;

export const zoneIdLabel = "topology.k8s.aws/zone-id";

/** `topology.k8s.aws/network-node-layer-1` is the layer furthest from the instance: the first of AWS's list. */
export const networkLayerLabel = (layer: number) => `topology.k8s.aws/network-node-layer-${layer}`;

/** Old name and stable name of the same fact. Users select by either, so both are written. */
const pairs = {
  instanceType: ["beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"],
  zone: ["failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"],
  region: ["failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"],
} as const;

export interface Place {
  readonly instanceType?: string;
  readonly zone?: string;
  readonly region?: string;
}

/** The instance-type, zone and region labels. They overwrite what is there: AWS knows better. */
export function placeLabels(place: Place): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const fact of ["instanceType", "zone", "region"] as const) {
    const value = place[fact];
    if (value) for (const key of pairs[fact]) labels[key] = value;
  }
  return labels;
}

/** One label a layer of the network the instance sits in, as DescribeInstanceTopology tells them. */
export function networkLayerLabels(networkNodes: readonly string[]): Record<string, string> {
  return Object.fromEntries(networkNodes.map((node, index) => [networkLayerLabel(index + 1), node]));
}

/** Labels only Kubernetes may define. */
const reserved = /(^|\.)(kubernetes|k8s)\.io\//;

export interface Additions {
  readonly add: Record<string, string>;
  /** Why something wanted was left out, for the log. */
  readonly warnings: readonly string[];
}

/** Of the labels wanted in addition, those the Node does not have yet. A key that is there keeps its value. */
export function additionalLabels(existing: Labels, wanted: Labels): Additions {
  const add: Record<string, string> = {};
  const warnings: string[] = [];
  for (const [key, value] of Object.entries(wanted)) {
    if (reserved.test(key)) warnings.push(`discarding label ${key}: names under kubernetes.io and k8s.io are reserved`);
    else if (existing[key] === undefined) add[key] = value;
    else if (existing[key] !== value) warnings.push(`label ${key} is already ${existing[key]}: not changed to ${value}`);
  }
  return { add, warnings };
}

/** The stable labels that are missing or differ from their old-name twins; undefined when all agree. */
export function stableLabels(existing: Labels): Record<string, string> | undefined {
  const changes: Record<string, string> = {};
  for (const [old, stable] of Object.values(pairs)) {
    const value = existing[old];
    if (value !== undefined && existing[stable] !== value) changes[stable] = value;
  }
  return Object.keys(changes).length > 0 ? changes : undefined;
}
