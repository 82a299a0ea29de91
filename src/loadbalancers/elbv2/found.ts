/** A load balancer of ELBv2, of whichever kind, as the list of all of them tells it. */
import type { LoadBalancer } from "@aws-sdk/client-elastic-load-balancing-v2";
import { type Found, hostnameOf } from "../kind.ts";

export interface FoundBalancer extends Found {
  readonly arn: string;
  readonly state: string;
  readonly addressType: string;
}

export function foundBalancer<Kind extends Found["kind"]>(kind: Kind, description: LoadBalancer): FoundBalancer & { readonly kind: Kind } {
  return {
    kind,
    name: description.LoadBalancerName ?? "",
    hostname: hostnameOf(description),
    internal: description.Scheme === "internal",
    subnets: (description.AvailabilityZones ?? []).flatMap(({ SubnetId }) => SubnetId ?? []),
    securityGroups: description.SecurityGroups ?? [],
    createdAt: description.CreatedTime?.getTime() ?? 0,
    arn: description.LoadBalancerArn ?? "",
    state: description.State?.Code ?? "",
    addressType: description.IpAddressType ?? "ipv4",
  };
}
