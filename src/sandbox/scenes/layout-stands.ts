import type { Network } from "../cloud/network.ts";
import type { Sandbox } from "../sandbox.ts";
import { nodeOf } from "./expectations.ts";
import type { Objection, Scene } from "./scene.ts";

/** A layout has made the network of the cluster, and makes a permanent node of it. */
export const layoutStands: Scene = {
  title: "A layout makes the network",
  about:
    "A cluster stands in a network: a VPC with subnets in several zones, gateways, route tables, security groups, a role for its machines. The " +
    "modules of deploy/terraform make them with OpenTofu. You need none here: the calls that it makes for the layout WithNAT are played back. " +
    "The network was made at the start. A permanent node comes now; the other machines are launched as a machine controller does it.",
  needs: [],
  async play({ sandbox, say, expect, signal }) {
    const { layout } = sandbox;
    await expect("there is a public and an internal subnet in each of 3 zones, marked as the cluster's", () => subnetsObjection(sandbox));
    await expect("machines reach the Internet through a NAT gateway, load balancers through an internet gateway", () =>
      routesObjection(sandbox),
    );
    say("tofu apply   (layouts/with-nat/static-node: node 0 of the group system)");
    const id = await layout.makeNode(signal);
    await expect("its machine runs, and its kubelet has registered a Node", (picture) =>
      nodeOf(picture, id) === undefined ? "there is no Node yet" : undefined,
    );
  },
};

function subnetsObjection({ cloud, layout: { network } }: Sandbox): Objection {
  const { ec2 } = cloud.account;
  const mark = `kubernetes.io/cluster/${network.clusterId}`;
  for (const ids of [network.publicSubnetIds, network.privateSubnetIds]) {
    const subnets = ids.map((id) => ec2.subnets.get(id));
    if (new Set(subnets.map((subnet) => subnet?.zone)).size !== 3) return "they are not in 3 zones";
    if (!subnets.every((subnet) => subnet !== undefined && mark in subnet.tags)) return "one is not marked";
  }
  return undefined;
}

/** By where the routes of their tables lead that have no other. */
function routesObjection({ cloud, layout: { network } }: Sandbox): Objection {
  const wayOut = (table: keyof Network & `${string}TableId`) =>
    cloud.account.ec2.routeTables.get(network[table])?.routes.find(({ destination }) => destination === "0.0.0.0/0")?.target.kind;
  const found = `${wayOut("privateTableId")} and ${wayOut("publicTableId")}`;
  return found === "nat and gateway" ? undefined : `the ways out are ${found}`;
}
