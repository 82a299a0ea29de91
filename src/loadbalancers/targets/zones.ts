/** The zone that an address is registered for. */
import { contains, parseAddress, parseCidr } from "../../runtime/ip.ts";
import type { SeenBinding } from "./binding.ts";
import type { BindingContext, BindingJob } from "./binding-context.ts";
import type { Endpoint } from "./endpoints.ts";

type Around = Pick<BindingContext, "cloud" | "nodes">;

/** Addresses outside the group's VPC are registered for all zones; where AWS wants one of them named, for that of their node. */
export async function zonesFor(binding: SeenBinding, missing: readonly Endpoint[], named: boolean, around: Around, ask: BindingJob["ask"]) {
  const { cloud } = around;
  if (binding.spec.targetType !== "ip" || missing.length === 0) return () => undefined;
  const cidrs = await cloud.vpcs.cidrs(binding.spec.vpcID!, ask);
  // The VPC of another account, peered with ours: to it all our addresses lie outside.
  if (cidrs === undefined && binding.spec.iamRoleArnToAssume) return () => "all";
  if (cidrs === undefined)
    throw new Error(`VPC ${binding.spec.vpcID} of target group ${binding.spec.targetGroupARN} is not known to these credentials`);
  const blocks = cidrs.flatMap((text) => parseCidr(text) ?? []);
  return (endpoint: Endpoint) => {
    const address = parseAddress(endpoint.id);
    const isInside = address && blocks.some((block) => contains(block, { ...address, prefix: address.family === 4 ? 32 : 128 }));
    if (isInside) return undefined;
    return named ? zoneOfPod(endpoint, around) : "all";
  };
}

const zoneLabel = "topology.kubernetes.io/zone";

function zoneOfPod({ id, pod }: Endpoint, { nodes }: Around): string {
  const node = pod && nodes.get(pod.node);
  if (node === undefined) throw new Error(`the zone of ${id} is not known: its pod is on no Node that can be read`);
  return node.metadata.labels[zoneLabel] ?? "all";
}
