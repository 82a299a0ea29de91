/** Which cluster this is to AWS: the id its resources are tagged with. */

import type { Tags } from "../aws/instance.ts";
import type { AwsSettings } from "../aws/settings.ts";

export const clusterTagPrefix = "kubernetes.io/cluster/";
export const legacyClusterTag = "KubernetesCluster";

export interface ClusterId {
  readonly id: string;
  /** The cluster is marked the old way too: created resources carry both tags. */
  readonly legacy: boolean;
}

/** The cluster id is missing or contradicts itself. */
export class ClusterIdInvalid extends Error {
  override readonly name = "ClusterIdInvalid";
}

/** The cluster id as configured; undefined when it is not. */
export function configuredClusterId(settings: Pick<AwsSettings, "clusterId" | "clusterTag">): ClusterId | undefined {
  return reconcile(settings.clusterId, settings.clusterTag);
}

/** The cluster id that an instance's tags tell. */
export function discoverClusterId(tags: Tags): ClusterId {
  const ids = Object.keys(tags)
    .filter((key) => key.startsWith(clusterTagPrefix))
    .map((key) => key.slice(clusterTagPrefix.length))
    .filter((id) => id !== "");
  if (ids.length > 1) {
    throw new ClusterIdInvalid(
      `Found multiple cluster tags with prefix ${clusterTagPrefix} (${JSON.stringify(ids[0])} and ${JSON.stringify(ids[1])})`,
    );
  }
  const found = reconcile(ids[0], tags[legacyClusterTag]);
  if (found !== undefined) return found;
  throw new ClusterIdInvalid(
    "AWS cloud failed to find ClusterID: set KubernetesClusterID in the [Global] section of the cloud config, or tag this process's " +
      `instance with ${clusterTagPrefix}<cluster id>`,
  );
}

function reconcile(id: string | undefined, legacy: string | undefined): ClusterId | undefined {
  if (id && legacy && id !== legacy) {
    throw new ClusterIdInvalid(`clusterID tags did not match: ${JSON.stringify(id)} vs ${JSON.stringify(legacy)}`);
  }
  if (legacy) return { id: legacy, legacy: true };
  return id ? { id, legacy: false } : undefined;
}
