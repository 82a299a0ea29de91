/** What a PersistentVolume lacks of zone and region. */
import type { Frozen } from "../../kube/resource.ts";
import type { PersistentVolume } from "../../kube/types.ts";
import { topologyKeys } from "../names.ts";

export interface VolumeLabels {
  readonly labels: Readonly<Record<string, string>>;
  /** Undefined where the volume has a node affinity: it cannot be changed. */
  readonly spec?: Pick<NonNullable<PersistentVolume["spec"]>, "nodeAffinity">;
}

/** Where it is makes no difference to whether something is missing. */
export const whereverItIs = { zone: "?", region: "?" };

const regionKey = "topology.kubernetes.io/region";

/**
 * What is missing; undefined when nothing is. What is there is never changed. Volumes of the driver that have a node affinity
 * need nothing: it says where they are.
 */
export function labelsWanted(
  { metadata, spec }: Frozen<PersistentVolume>,
  place: { readonly zone: string; readonly region: string },
): VolumeLabels | undefined {
  if (metadata?.deletionTimestamp !== undefined) return undefined;
  const isPlaced = (spec?.nodeAffinity?.required?.nodeSelectorTerms?.length ?? 0) > 0;
  if (spec?.awsElasticBlockStore === undefined && (spec?.csi === undefined || isPlaced)) return undefined;
  const wanted = { [topologyKeys.zone[0]]: place.zone, [regionKey]: place.region };
  const labels = Object.fromEntries(Object.entries(wanted).filter(([key]) => metadata?.labels?.[key] === undefined));
  if (Object.keys(labels).length === 0 && isPlaced) return undefined;
  if (isPlaced) return { labels };
  const matchExpressions = Object.entries(wanted).map(([key, value]) => ({ key, operator: "In", values: [value] }));
  return { labels, spec: { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } } };
}
