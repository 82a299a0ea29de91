/** A Service as an owner of load balancers: its names, and the marks of what is made for it. */
import { isOwned } from "../../identity/ownership.ts";
import type { Inventory } from "../inventory.ts";
import { isNumberedTargetGroup, loadBalancerName, networkSecurityGroupName, targetGroupPrefix } from "../names.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import type { SeenService } from "../service-state.ts";
import { annotationKey } from "./annotations.ts";
import { serviceKinds } from "./kinds.ts";
import { namesIn } from "./report.ts";
import type { LoadBalancerSettings } from "./view.ts";

/** What tells which Service a load balancer or target group was made for. */
export const serviceTag = "kubernetes.io/service-name";

/** By this name the claims of Services, and the answers to them, are known. */
export const serviceDoor = "service";

/** As the reasons of plans name it. */
export const serviceNoun = "Service";

export interface OwnerParts {
  readonly inventory: Pick<Inventory, "scope">;
  readonly settings: Pick<LoadBalancerSettings, "clusterName">;
}

export function ownerOf({ view, hostname, conditions }: SeenService, { inventory, settings }: OwnerParts): LoadBalancerOwner {
  const { namespace, name, uid, annotations } = view;
  const key = `${namespace}/${name}`;
  const chosenName = annotations[annotationKey("name")];
  const prefix = targetGroupPrefix(view);
  return {
    door: serviceDoor,
    key,
    uid,
    noun: serviceNoun,
    kinds: serviceKinds,
    ownName: loadBalancerName(uid),
    ...(chosenName && { chosenName }),
    earlierNames: namesIn(conditions),
    hostname,
    securityGroupName: networkSecurityGroupName(settings.clusterName, view),
    claimsTargetGroup(group) {
      if (isNumberedTargetGroup(group, uid)) return "certainly";
      return group.startsWith(prefix) ? "perhaps" : "no";
    },
    hasMarks: (tags) => isOwned(tags, inventory.scope.cluster) && tags[serviceTag] === key,
  };
}

/** Whether the published host name has in it the name that we alone give. Under a chosen one others may have made theirs. */
export function hasOwnHostname({ ownName, hostname }: LoadBalancerOwner): boolean {
  return hostname.startsWith(`${ownName}-`) || hostname.startsWith(`internal-${ownName}-`);
}
