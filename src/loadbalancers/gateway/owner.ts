/** A Gateway as an owner of a load balancer: known by its marks alone. */
import { isLegacyTag } from "../controller-names.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import type { Flavour } from "./flavours.ts";
import { hasMarks, loadBalancerName, managedGroupName, partOf, parts } from "./names.ts";
import type { GatewaySettings } from "./settings.ts";
import { type GatewayView, keyOf } from "./view.ts";

export function ownerOf(
  gateway: Pick<GatewayView, "namespace" | "name" | "uid">,
  flavour: Flavour,
  { cluster, defaultScheme, externalManagedTags }: Pick<GatewaySettings, "cluster" | "defaultScheme" | "externalManagedTags">,
): LoadBalancerOwner {
  return {
    door: `gateway ${flavour.name}`,
    key: keyOf(gateway),
    uid: gateway.uid,
    noun: "Gateway",
    kinds: [flavour.kind],
    ownName: loadBalancerName(cluster, gateway, defaultScheme),
    earlierNames: [],
    hostname: "",
    securityGroupName: managedGroupName(cluster, gateway),
    claimsTargetGroup: () => "no",
    hasMarks: (tags) => hasMarks(tags, cluster, flavour, gateway),
    marks: {
      partOf: (tags) => partOf(tags, flavour),
      securityGroupPart: parts.securityGroup,
      isForeign: (key) => externalManagedTags.includes(key) || isLegacyTag(key, cluster),
    },
  };
}
