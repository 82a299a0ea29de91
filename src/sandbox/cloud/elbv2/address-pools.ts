/** Pools that the public IPv4 addresses of an application load balancer come from. */
import {
  type CreateLoadBalancerInput,
  ModifyIpPools$,
  type ModifyIpPoolsInput,
  type ModifyIpPoolsOutput,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { invalidConfiguration } from "../balancing/network.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, write } from "../service.ts";
import { type Elbv2, type LoadBalancer, loadBalancerAt } from "./state.ts";

type Place = Pick<LoadBalancer, "type" | "scheme">;

/** The operation that changes the pool. */
export function addressPoolOperations(elbv2: Elbv2): Operations {
  return [
    write<ModifyIpPoolsInput, ModifyIpPoolsOutput>(ModifyIpPools$, (input) => {
      const loadBalancer = loadBalancerAt(elbv2, input.LoadBalancerArn);
      const asked = input.IpamPools?.Ipv4IpamPoolId;
      const removed = input.RemoveIpamPools?.includes("ipv4") ?? false;
      if (removed === (asked !== undefined)) {
        throw new ServiceError("ValidationError", "Either an IPAM pool or the removal of one must be specified");
      }
      const ipamPoolId = removed ? undefined : checkedPool(loadBalancer, asked);
      elbv2.loadBalancers.update(loadBalancer.arn, { ipamPoolId });
      return { IpamPools: ipamPoolId === undefined ? {} : { Ipv4IpamPoolId: ipamPoolId } };
    }),
  ];
}

/** The IPAM pool of a new load balancer. Addresses that customers own are of Outposts, which the cloud has none of. */
export function checkedPools(place: Place, input: CreateLoadBalancerInput): string | undefined {
  if (input.CustomerOwnedIpv4Pool !== undefined) {
    throw invalidConfiguration("Customer-owned IP address pools are supported only for application load balancers on Outposts");
  }
  return checkedPool(place, input.IpamPools?.Ipv4IpamPoolId);
}

function checkedPool({ type, scheme }: Place, id: string | undefined): string | undefined {
  if (id === undefined) return undefined;
  if (type !== "application" || scheme !== "internet-facing") {
    throw invalidConfiguration("IPAM pools are supported only for internet-facing application load balancers");
  }
  if (!/^ipam-pool-[0-9a-f]{8,17}$/.test(id)) throw new ServiceError("ValidationError", `The IPAM pool ID '${id}' is not valid`);
  return id;
}
