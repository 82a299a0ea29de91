/** An application load balancer as the list of all of them tells it. */
import type { LoadBalancer } from "@aws-sdk/client-elastic-load-balancing-v2";
import { type FoundBalancer, foundBalancer } from "../elbv2/found.ts";

export interface FoundApplication extends FoundBalancer {
  readonly kind: "application";
  readonly ipv4IpamPool?: string;
}

export function foundApplication(description: LoadBalancer): FoundApplication {
  return {
    ...foundBalancer("application", description),
    ipv4IpamPool: description.IpamPools?.Ipv4IpamPoolId || undefined,
  };
}
