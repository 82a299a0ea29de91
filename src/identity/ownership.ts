/** The marks that tell a cluster's resources from everybody else's. */
import type { Tags } from "../aws/instance.ts";
import type { Filter } from "../aws/instances.ts";
import { type ClusterId, clusterTagPrefix, legacyClusterTag } from "./cluster-id.ts";

/** `owned`: made by the cluster and removed with it. `shared`: only used by it. */
export type Lifecycle = "owned" | "shared";

/** Whether a resource belongs to the cluster in any way. */
export function hasClusterTag(tags: Tags, cluster: ClusterId): boolean {
  return tags[clusterTagPrefix + cluster.id] !== undefined || tags[legacyClusterTag] === cluster.id;
}

/** The filter of EC2's describe calls that lets through what carries the cluster's tag. */
export function clusterTagFilter({ id, legacy }: ClusterId): Filter {
  return legacy ? { name: `tag:${legacyClusterTag}`, values: [id] } : { name: "tag-key", values: [clusterTagPrefix + id] };
}

/** Whether a resource was made by the cluster. Only what is may ever be deleted. */
export function isOwned(tags: Tags, cluster: ClusterId): boolean {
  return tags[clusterTagPrefix + cluster.id] === "owned" || tags[legacyClusterTag] === cluster.id;
}

/** The tags a created resource carries: those given, and the cluster's mark. */
export function ownershipTags(cluster: ClusterId, lifecycle: Lifecycle, given: Tags = {}): Tags {
  return {
    ...given,
    [clusterTagPrefix + cluster.id]: lifecycle,
    ...(cluster.legacy ? { [legacyClusterTag]: cluster.id } : {}),
  };
}
