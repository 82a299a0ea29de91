/** A Service with a load balancer class as an owner of a load balancer: known by its marks alone. */
import { isLegacyTag } from "../controller-names.ts";
import { boundNetwork } from "../network/bound-kind.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import { hasMarks, loadBalancerName, managedGroupName, partOf, parts } from "./names.ts";
import type { ClassSettings } from "./settings.ts";
import { keyOf, type ServiceView } from "./view.ts";

export const classDoor = "service-class";

export function ownerOf(
  service: Pick<ServiceView, "namespace" | "name" | "uid">,
  settings: Pick<ClassSettings, "cluster" | "defaultScheme" | "externalManagedTags">,
): LoadBalancerOwner {
  const { cluster, defaultScheme, externalManagedTags } = settings;
  return {
    door: classDoor,
    key: keyOf(service),
    uid: service.uid,
    noun: "Service",
    kinds: [boundNetwork],
    ownName: loadBalancerName(cluster, service, defaultScheme),
    earlierNames: [],
    hostname: "",
    securityGroupName: managedGroupName(cluster, service),
    claimsTargetGroup: () => "no",
    hasMarks: (tags) => hasMarks(tags, cluster, service),
    marks: {
      partOf,
      securityGroupPart: parts.securityGroup,
      isForeign: (key) => externalManagedTags.includes(key) || isLegacyTag(key, cluster),
    },
  };
}
