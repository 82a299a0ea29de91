/** Where a volume is, in the words of Kubernetes before CSI and in those of the driver. The rules are Kubernetes' own. */
import type { NodeSelectorTerm, PersistentVolume } from "../kube/types.ts";
import { topologyKeys } from "./names.ts";

/** Of Nodes and PersistentVolumes: those of today, and those before Kubernetes 1.17. */
const wellKnown = { zone: topologyKeys.zone[0], region: "topology.kubernetes.io/region" } as const;
const beta = { zone: "failure-domain.beta.kubernetes.io/zone", region: "failure-domain.beta.kubernetes.io/region" } as const;
/** The zone that migrated volumes are known by on nodes: they were labelled before the driver used the well-known key. */
export const migratedZoneKey = topologyKeys.zone[1];

/** A label has one value: several zones are joined by this. */
const delimiter = "__";

type Expression = NonNullable<NodeSelectorTerm["matchExpressions"]>[number];

/** A volume with the driver's zone in its node affinity, from the affinity or the labels of an in-tree one. */
export function withDriverTopology(volume: PersistentVolume): PersistentVolume {
  const { zone, region } = labelsUsed(volume);
  const label = volume.metadata?.labels?.[zone];
  const found = valuesOf(volume, zone);
  const zones = found.length > 0 ? [] : (label?.split(delimiter) ?? []);
  const placed = found.length > 0 ? renamed(volume, zone, migratedZoneKey) : withRequirement(volume, migratedZoneKey, zones);
  // Nodes of today do not carry the old label any more.
  return region === beta.region ? renamed(placed, beta.region, wellKnown.region) : placed;
}

/** A volume of the driver with zone and region as in-tree ones have them, in affinity and labels. Throws where no region can be told. */
export function withInTreeTopology(volume: PersistentVolume): PersistentVolume {
  const { zone, region } = labelsUsed(volume);
  const placed = mapTerms(renamed(volume, migratedZoneKey, zone), (term) => {
    const expressions = term.matchExpressions ?? [];
    if (expressions.some(({ key }) => key === region)) return term;
    const zones = expressions.filter(({ key }) => key === zone).flatMap(({ values }) => values ?? []);
    return { ...term, matchExpressions: [...expressions, isOneOf(region, [regionOfZones(zones)])] };
  });
  const [zones, regions] = [valuesOf(placed, zone), valuesOf(placed, region)];
  const labels = {
    ...(regions.length === 1 && { [region]: regions[0]! }),
    ...(zones.length > 0 && { [zone]: zones.join(delimiter) }),
    ...placed.metadata?.labels,
  };
  return Object.keys(labels).length === 0 ? placed : { ...placed, metadata: { ...placed.metadata, labels } };
}

/** The region that all of these zones are in; also of local zones (us-west-2-lax-1a) and Wavelength (us-east-1-wl1-bos-wlz-1). */
export function regionOfZones(zones: readonly string[]): string {
  if (zones.length === 0) throw new Error("no zones specified");
  const regions = new Set(zones.map(regionOf));
  if (regions.size > 1) throw new Error(`zones ${zones.join(", ")} are of several regions`);
  return [...regions][0]!;
}

function regionOf(zone: string): string {
  const parts = zone.split("-");
  const last = parts.at(-1)!;
  if ((parts.length === 3 || parts.length === 4) && last.length === 2) return zone.slice(0, -1);
  if (parts.length === 5 || parts.length === 7) return parts.slice(0, 3).join("-");
  throw new Error(`${JSON.stringify(zone)} is not a zone of AWS`);
}

/** The pair of labels that a volume speaks of: what its affinity names goes before its labels. */
function labelsUsed({ metadata, spec }: PersistentVolume): typeof wellKnown | typeof beta {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const keys = new Set(terms.flatMap(({ matchExpressions = [] }) => matchExpressions.map(({ key }) => key)));
  const labels = metadata?.labels ?? {};
  const isUsed = [
    [keys.has(wellKnown.zone), wellKnown],
    [keys.has(beta.zone), beta],
    [labels[wellKnown.zone] !== undefined, wellKnown],
    [labels[beta.zone] !== undefined, beta],
  ] as const;
  return isUsed.find(([is]) => is)?.[1] ?? wellKnown;
}

function valuesOf({ spec }: PersistentVolume, key: string): readonly string[] {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const found = terms.flatMap(({ matchExpressions = [] }) => matchExpressions.filter((each) => each.key === key));
  return [...new Set(found.flatMap(({ values }) => values ?? []))].sort();
}

function renamed(volume: PersistentVolume, from: string, to: string): PersistentVolume {
  return mapTerms(volume, (term) => ({
    ...term,
    ...(term.matchExpressions && {
      matchExpressions: term.matchExpressions.map((each) => (each.key === from ? { ...each, key: to } : each)),
    }),
  }));
}

/** The same requirement in every term, of which one is made where there is none. */
export function withRequirement(volume: PersistentVolume, key: string, values: readonly string[]): PersistentVolume {
  const wanted = [...new Set(values.map((value) => value.trim()).filter((value) => value !== ""))].sort();
  if (wanted.length === 0) return volume;
  const terms = volume.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const nodeSelectorTerms = (terms.length > 0 ? terms : [{}]).map((term) => ({
    ...term,
    matchExpressions: [...((term as NodeSelectorTerm).matchExpressions ?? []), isOneOf(key, wanted)],
  }));
  return { ...volume, spec: { ...volume.spec, nodeAffinity: { required: { nodeSelectorTerms } } } };
}

function isOneOf(key: string, values: readonly string[]): Expression {
  return { key, operator: "In", values: [...values] };
}

function mapTerms(volume: PersistentVolume, change: (term: NodeSelectorTerm) => NodeSelectorTerm): PersistentVolume {
  const terms = volume.spec?.nodeAffinity?.required?.nodeSelectorTerms;
  if (terms === undefined || terms.length === 0) return volume;
  return { ...volume, spec: { ...volume.spec, nodeAffinity: { required: { nodeSelectorTerms: terms.map(change) } } } };
}
