/** An Ingress group as an owner of a load balancer: known by its marks alone. */
import { application } from "../application/kind.ts";
import { isLegacyTag } from "../controller-names.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import { frontend } from "./frontend-kind.ts";
import { type GroupId, stackOf } from "./groups.ts";
import { frontendName, hasMarks, loadBalancerName, managedGroupName, partOf, parts } from "./names.ts";
import type { IngressSettings } from "./settings.ts";

export const ingressDoor = "ingress";

export function ownerOf(
  group: GroupId,
  settings: Pick<IngressSettings, "cluster" | "defaultScheme" | "externalManagedTags">,
): LoadBalancerOwner {
  const { cluster, defaultScheme, externalManagedTags } = settings;
  const key = stackOf(group);
  return {
    door: ingressDoor,
    key,
    uid: `${ingressDoor} ${key}`,
    noun: group.kind === "explicit" ? "Ingress group" : "Ingress",
    kinds: [application],
    ownName: loadBalancerName(cluster, group, defaultScheme),
    earlierNames: [],
    hostname: "",
    securityGroupName: managedGroupName(cluster, group),
    claimsTargetGroup: () => "no",
    hasMarks: (tags) => hasMarks(tags, cluster, group),
    marks: {
      partOf,
      securityGroupPart: parts.securityGroup,
      isForeign: (key) => externalManagedTags.includes(key) || isLegacyTag(key, cluster),
    },
  };
}

/** The same group, as the owner of the load balancer in front of its own: that has no security group of its own. */
export function frontOwnerOf(owner: LoadBalancerOwner): LoadBalancerOwner {
  return {
    ...owner,
    uid: `${owner.uid} in front`,
    kinds: [frontend],
    ownName: frontendName(owner.ownName),
    securityGroupName: frontendName(owner.securityGroupName),
    marks: { ...owner.marks!, securityGroupPart: `${parts.frontend} group` },
  };
}
