/**
 * Where the volume of a claim may be made: from the node that the scheduler has chosen, the class, or the nodes that there are.
 * The same choices as csi-provisioner's, so that claims of one StatefulSet are spread alike.
 */
import type { TopologySelectorTerm } from "../../kube/types.ts";
import type { StringMap, Topology } from "../csi/messages.ts";
import { driverName } from "../names.ts";

/** A node with the driver on it: what its labels say of the driver's keys. */
export interface DriverNode {
  readonly name: string;
  readonly labels: StringMap;
  /** Of its CSINode; none when the driver is not registered there. */
  readonly topologyKeys: readonly string[];
}

export interface Accessibility {
  readonly requisite: readonly Topology[];
  readonly preferred: readonly Topology[];
}

/** The requirements; undefined when nothing is known of any topology. Throws where the chosen node cannot be served. */
export function accessibilityOf(
  claimName: string,
  allowed: readonly TopologySelectorTerm[],
  selected: DriverNode | undefined,
  nodes: readonly DriverNode[],
): Accessibility | undefined {
  const own = selected && topologyOfSelected(selected);
  const terms = unique(allowed.length > 0 ? allowed.flatMap(flattened) : aggregated(selected, nodes));
  if (terms.length === 0) return undefined;
  const first = own === undefined ? spread(claimName) % terms.length : terms.findIndex((term) => isPartOf(term, own));
  if (first < 0) throw new Error(`topology ${JSON.stringify(own)} of node ${selected!.name} is not among ${JSON.stringify(terms)}`);
  const asTopology = (segments: StringMap): Topology => ({ segments });
  return {
    requisite: terms.map(asTopology),
    preferred: [...terms.slice(first), ...terms.slice(0, first)].map(asTopology),
  };
}

/** Asked again a little later, a driver that is just being registered is there. */
function topologyOfSelected(node: DriverNode): StringMap {
  if (node.topologyKeys.length === 0) {
    throw new Error(`${driverName} is not registered on node ${node.name}: its CSINode has no topology keys of it`);
  }
  const topology = topologyOf(node, node.topologyKeys);
  if (topology === undefined) throw new Error(`node ${node.name} lacks one of the labels ${node.topologyKeys.join(", ")}`);
  return topology;
}

function topologyOf({ labels }: DriverNode, keys: readonly string[]): StringMap | undefined {
  const values = keys.map((key) => [key, labels[key]] as const);
  if (values.some(([, value]) => value === undefined)) return undefined;
  return Object.fromEntries(values) as StringMap;
}

/** One term of a class is an AND of keys, each of which may have one of several values. */
function flattened({ matchLabelExpressions = [] }: TopologySelectorTerm): readonly StringMap[] {
  return matchLabelExpressions.reduce<readonly StringMap[]>(
    (terms, { key, values }) => terms.flatMap((term) => values.map((value) => ({ ...term, [key]: value }))),
    [{}],
  );
}

/** The topologies of all nodes that have the keys of the chosen one, or of the first that has any. */
function aggregated(selected: DriverNode | undefined, nodes: readonly DriverNode[]): readonly StringMap[] {
  const keys = (selected ?? nodes.find(({ topologyKeys }) => topologyKeys.length > 0))?.topologyKeys ?? [];
  if (keys.length === 0) return [];
  return nodes
    .filter(({ topologyKeys }) => keys.every((key) => topologyKeys.includes(key)))
    .flatMap((node) => {
      const topology = topologyOf(node, keys);
      return topology === undefined ? [] : [topology];
    });
}

function unique(terms: readonly StringMap[]): readonly StringMap[] {
  const texts = new Map(terms.map((term) => [JSON.stringify(Object.entries(term).sort()), term]));
  return [...texts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, term]) => term);
}

function isPartOf(term: StringMap, whole: StringMap): boolean {
  return Object.entries(term).every(([key, value]) => whole[key] === value);
}

/** Claims of a StatefulSet are named CLAIM-SET-NUMBER: one after the other in the zones, and all of one member in the same. */
function spread(claimName: string): number {
  const [, base, number] = /^(.*)-(\d{1,10})$/.exec(claimName) ?? [];
  if (base === undefined || Number(number) >= 2 ** 32) return fnv32(claimName);
  return (fnv32(base.slice(base.lastIndexOf("-") + 1)) + Number(number)) >>> 0;
}

/** FNV-1 of 32 bits. */
function fnv32(text: string): number {
  return Buffer.from(text).reduce((hash, byte) => (Math.imul(hash, 16_777_619) ^ byte) >>> 0, 2_166_136_261);
}
