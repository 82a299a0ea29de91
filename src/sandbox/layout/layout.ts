/** The network that the sandbox stands in: what the layout WithNAT makes, and a permanent node of it. */
import type { Clock } from "../../runtime/world.ts";
import type { Cloud } from "../cloud/cloud.ts";
import type { Network } from "../cloud/network.ts";
import type { Snapshot } from "../cloud/store.ts";
import { layoutSteps } from "./calls.ts";
import { LayoutPlayer } from "./player.ts";

export interface Layout {
  readonly network: Network;
  /** The account before there was anything of it. */
  readonly before: Snapshot;
  /** The step `static-node`: gives the id of its instance. */
  makeNode(signal: AbortSignal): Promise<string>;
  removeNode(signal: AbortSignal): Promise<void>;
  /** Removes the network, which must be empty. */
  removeBase(signal: AbortSignal): Promise<void>;
}

const zones = [0, 1, 2];

/** Makes the network: the step `base-infrastructure`. */
export async function makeLayout(cloud: Cloud, clusterId: string, clock: Clock, signal: AbortSignal): Promise<Layout> {
  const before = cloud.controls.snapshot();
  const player = new LayoutPlayer(cloud, clock);
  const { base, node } = layoutSteps;
  await player.play(base.make, signal);
  return {
    before,
    network: {
      clusterId,
      vpcId: player.id("module.vpc.aws_vpc.kube[0]"),
      publicSubnetIds: zones.map((zone) => player.id(`aws_subnet.kube_public[${zone}]`)),
      privateSubnetIds: zones.map((zone) => player.id(`aws_subnet.kube_internal[${zone}]`)),
      publicTableId: player.id("aws_route_table.kube_public"),
      privateTableId: player.id("aws_route_table.kube_internal"),
      internetGatewayId: player.id("aws_internet_gateway.kube[0]"),
      nodeGroupId: player.id("module.security-groups.aws_security_group.node[0]"),
    },
    async makeNode(until) {
      await player.play(node.make, until);
      return player.id("module.static-node.aws_instance.node");
    },
    removeNode: (until) => player.play(node.remove, until),
    removeBase: (until) => player.play(base.remove, until),
  };
}
