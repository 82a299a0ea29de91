/** States that were written by the reference are taken over: every address of theirs is found, and nothing is changed. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { test } from "node:test";
import { AssociateRouteTableCommand, CreateRouteTableCommand, CreateSubnetCommand, CreateVpcCommand } from "@aws-sdk/client-ec2";
import type { Aws } from "./aws/account.ts";
import { layoutBed } from "./bed.ts";
import { ami, configuration, inputs, type Layout, layouts } from "./inputs.ts";
import { addressesIn, type StateFile } from "./tofu.ts";

const region = "eu-central-1";
const each = (address: string, count = 3) => Array.from({ length: count }, (_, index) => `${address}[${index}]`);

/** The addresses of the reference, as they are documented. */
function addressesOf({ name, nat }: Layout): string[] {
  const peering = name === "WithNAT" ? "" : "module.vpc-peering[0].";
  return [
    "module.vpc.aws_vpc.kube[0]",
    ...each("aws_subnet.kube_public"),
    "aws_route_table.kube_public",
    "aws_route.internet_access_public",
    ...each("aws_route_table_association.kube_public"),
    "aws_internet_gateway.kube",
    ...(nat
      ? [
          ...each("aws_subnet.kube_internal"),
          "aws_route_table.kube_internal",
          "aws_route.internet_access_internal",
          ...each("aws_route_table_association.kube_internal"),
          "aws_eip.natgw",
          "aws_nat_gateway.kube",
        ]
      : []),
    ...["node", "loadbalancer", "ssh-accessible"].map((group) => `module.security-groups.aws_security_group.${group}[0]`),
    ...[
      "lb-to-node",
      "node-to-node",
      "to-node-icmp",
      "allow-all-incoming-traffic-to-loadbalancer",
      "allow-all-outgoing-traffic-to-nodes",
      "allow-ssh-for-everyone",
    ].map((rule) => `module.security-groups.aws_security_group_rule.${rule}[0]`),
    "aws_iam_role.node",
    "aws_iam_role_policy.node",
    "aws_iam_instance_profile.node",
    "aws_key_pair.ssh",
    ...(name === "WithNAT" ? ["aws_instance.bastion[0]", "aws_eip.bastion[0]", "aws_eip_association.bastion[0]"] : []),
    ...["aws_vpc_peering_connection.kube", "aws_vpc_peering_connection_accepter.kube", "aws_route.kube", "aws_route.target"].map(
      (address) => `${peering}${address}[0]`,
    ),
  ].sort();
}

function nodeAddresses(module: "master-node" | "static-node", { nat }: Layout): string[] {
  const own = {
    "master-node": ["aws_instance.master", "aws_ebs_volume.kubernetes_data", "aws_volume_attachment.kubernetes_data"],
    "static-node": ["aws_instance.node"],
  };
  return [...own[module], ...(nat ? [] : ["aws_eip.eip[0]", "aws_eip_association.eip[0]"])]
    .map((address) => `module.${module}.${address}`)
    .sort();
}

/** What has an index with us, so that an opt-in can leave it out. */
const indexed = ["aws_internet_gateway.kube", "aws_iam_role.node", "aws_iam_role_policy.node"];

/** The state as the reference would have written it: its addresses, no outputs and look-ups of ours, an old version. */
function asOfTheReference(state: StateFile): StateFile {
  return {
    ...state,
    ...{ terraform_version: "0.14.8" },
    outputs: {},
    resources: state.resources
      .filter(({ mode }) => mode === "managed")
      .map((resource) => {
        if (resource.module !== undefined || !indexed.includes(`${resource.type}.${resource.name}`)) return resource;
        return { ...resource, instances: resource.instances.map(({ index_key: _, ...instance }) => instance) };
      }),
  };
}

async function peer({ ec2 }: Aws): Promise<string> {
  const { Vpc } = await ec2.send(new CreateVpcCommand({ CidrBlock: "10.99.0.0/16" }));
  const VpcId = Vpc!.VpcId!;
  const { Subnet } = await ec2.send(new CreateSubnetCommand({ VpcId, CidrBlock: "10.99.0.0/24" }));
  const { RouteTable } = await ec2.send(new CreateRouteTableCommand({ VpcId }));
  await ec2.send(new AssociateRouteTableCommand({ SubnetId: Subnet!.SubnetId!, RouteTableId: RouteTable!.RouteTableId! }));
  return VpcId;
}

for (const layout of layouts) {
  test(`${layout.name}: the reference's states are taken over without a change`, async (t) => {
    const bed = await layoutBed(t, region);
    const config = configuration(layout, region, {
      peeredVPCs: [await peer(bed.aws)],
      tags: { team: "platform" },
      withNAT: { bastionInstance: { instanceClass: { instanceType: "t3.small", ami } } },
      nodeGroups: [{ name: "system", replicas: 1, instanceClass: { instanceType: "m5.large", ami } }],
    });
    const steps = [
      { step: bed.base(layout), more: {}, addresses: addressesOf(layout) },
      { step: bed.master(layout, 0), more: { nodeIndex: 0 }, addresses: nodeAddresses("master-node", layout) },
      {
        step: bed.node(layout, "system", 0),
        more: { nodeIndex: 0, nodeGroupName: "system", cloudConfig: Buffer.from("#cloud-config").toString("base64") },
        addresses: nodeAddresses("static-node", layout),
      },
    ];
    for (const { step, more, addresses } of steps) {
      const given = inputs(config, more);
      await step.apply(given);
      const state = asOfTheReference(await step.state());
      assert.deepEqual(addressesIn(state), addresses);
      await writeFile(step.stateFile, JSON.stringify(state));
      assert.deepEqual(await step.plan(given), {});
      // And what follows from it: addresses move once, outputs are written, nothing else.
      await step.apply(given);
      assert.deepEqual(await step.plan(given), {});
    }
  });
}
