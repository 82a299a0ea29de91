/** An application load balancer as the list of all of them tells it. */
import type { LoadBalancer } from "@aws-sdk/client-elastic-load-balancing-v2";
import { type Found, hostnameOf } from "../kind.ts";

export interface FoundApplication extends Found {
  readonly kind: "application";
  readonly arn: string;
  readonly state: string;
  readonly addressType: string;
  readonly ipv4IpamPool?: string;
}

export function foundApplication(description: LoadBalancer): FoundApplication {
  return {
    kind: "application",
    name: description.LoadBalancerName ?? "",
    hostname: hostnameOf(description),
    internal: description.Scheme === "internal",
    subnets: (description.AvailabilityZones ?? []).flatMap(({ SubnetId }) => SubnetId ?? []),
    securityGroups: description.SecurityGroups ?? [],
    createdAt: description.CreatedTime?.getTime() ?? 0,
    arn: description.LoadBalancerArn ?? "",
    state: description.State?.Code ?? "",
    addressType: description.IpAddressType ?? "ipv4",
    ipv4IpamPool: description.IpamPools?.Ipv4IpamPoolId || undefined,
  };
}
