/** The zone that an address is registered for. */
import { contains, parseAddress, parseCidr } from "../../runtime/ip.ts";
import type { SeenBinding } from "./binding.ts";
import type { BindingContext, BindingJob } from "./binding-context.ts";
import type { Endpoint } from "./endpoints.ts";

/** Addresses outside the group's VPC are registered for all zones. */
export async function zonesFor(binding: SeenBinding, missing: readonly Endpoint[], { cloud }: BindingContext, ask: BindingJob["ask"]) {
  if (binding.spec.targetType !== "ip" || missing.length === 0) return () => undefined;
  const cidrs = await cloud.vpcs.cidrs(binding.spec.vpcID!, ask);
  // The VPC of another account, peered with ours: to it all our addresses lie outside.
  if (cidrs === undefined && binding.spec.iamRoleArnToAssume) return () => "all";
  if (cidrs === undefined)
    throw new Error(`VPC ${binding.spec.vpcID} of target group ${binding.spec.targetGroupARN} is not known to these credentials`);
  const blocks = cidrs.flatMap((text) => parseCidr(text) ?? []);
  return ({ id }: Endpoint) => {
    const address = parseAddress(id);
    const isInside = address && blocks.some((block) => contains(block, { ...address, prefix: address.family === 4 ? 32 : 128 }));
    return isInside ? undefined : "all";
  };
}
