/** A network load balancer as the list of all of them tells it. */
import type { LoadBalancer } from "@aws-sdk/client-elastic-load-balancing-v2";
import { type Found, hostnameOf } from "../kind.ts";

export interface FoundNetwork extends Found {
  readonly kind: "network";
  readonly arn: string;
  readonly state: string;
}

export function foundNetwork(description: LoadBalancer): FoundNetwork {
  return {
    kind: "network",
    name: description.LoadBalancerName ?? "",
    hostname: hostnameOf(description),
    internal: description.Scheme === "internal",
    subnets: (description.AvailabilityZones ?? []).flatMap(({ SubnetId }) => SubnetId ?? []),
    securityGroups: description.SecurityGroups ?? [],
    createdAt: description.CreatedTime?.getTime() ?? 0,
    arn: description.LoadBalancerArn ?? "",
    state: description.State?.Code ?? "",
  };
}
