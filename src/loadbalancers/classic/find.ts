/** A classic load balancer as the list of all of them tells it. */
import type { LoadBalancerDescription } from "@aws-sdk/client-elastic-load-balancing";
import { type Found, hostnameOf } from "../kind.ts";

export interface FoundClassic extends Found {
  readonly kind: "classic";
  readonly description: LoadBalancerDescription;
}

export function foundClassic(description: LoadBalancerDescription): FoundClassic {
  return {
    kind: "classic",
    name: description.LoadBalancerName ?? "",
    hostname: hostnameOf(description),
    internal: description.Scheme === "internal",
    subnets: description.Subnets ?? [],
    securityGroups: description.SecurityGroups ?? [],
    createdAt: description.CreatedTime?.getTime() ?? 0,
    description,
  };
}
