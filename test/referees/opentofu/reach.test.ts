/** IPv6 and endpoints of services, which are off until they are asked for: in a new cluster and in one that stands. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CreateVpcCommand,
  DescribeInstancesCommand,
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeVpcEndpointsCommand,
  DescribeVpcsCommand,
} from "@aws-sdk/client-ec2";
import { policyOf } from "../../bed/policies.ts";
import { type LayoutBed, layoutBed } from "./bed.ts";
import { type Configuration, configuration, inputs, type Layout, layouts } from "./inputs.ts";

const region = "eu-central-1";
const standard = layouts[2];
const given = (layout: Layout, changes: Configuration = {}, more: Configuration = {}) =>
  inputs(configuration(layout, region, changes), more);
const nameOf = ({ Tags = [] }: { readonly Tags?: readonly { readonly Key?: string; readonly Value?: string }[] }) =>
  Tags.find(({ Key }) => Key === "Name")?.Value ?? "";

async function blocksOf({
  aws: { ec2 },
}: LayoutBed): Promise<{ readonly vpc: string; readonly subnets: Readonly<Record<string, string>> }> {
  const { Vpcs = [] } = await ec2.send(new DescribeVpcsCommand({ Filters: [{ Name: "tag:Name", Values: ["demo"] }] }));
  const { Subnets = [] } = await ec2.send(new DescribeSubnetsCommand({}));
  const block = (of: { readonly Ipv6CidrBlockAssociationSet?: readonly { readonly Ipv6CidrBlock?: string }[] }) =>
    of.Ipv6CidrBlockAssociationSet?.[0]?.Ipv6CidrBlock ?? "";
  return { vpc: block(Vpcs[0]!), subnets: Object.fromEntries(Subnets.map((subnet) => [nameOf(subnet), block(subnet)])) };
}

for (const layout of layouts) {
  test(`${layout.name}: ipv6 is given in place to a cluster that stands, reaches out and not in, and goes with the cluster`, async (t) => {
    const bed = await layoutBed(t, region);
    const { ec2 } = bed.aws;
    bed.cloud.controls.change({ policy: policyOf("layouts-base") });
    const base = bed.base(layout);
    await base.apply(given(layout));
    const more = { ipv6: { allowList: ["2001:db8::/32"] }, ...(layout.nat && { natGatewayPerZone: true }) };
    const plan = await base.plan(given(layout, {}, more));
    assert.ok(!Object.values(plan).some((action) => action.includes("delete")), "nothing is replaced");
    assert.equal(plan["module.vpc.aws_vpc.kube[0]"], "update");
    await base.apply(given(layout, {}, more));
    assert.deepEqual(await base.plan(given(layout, {}, more)), {});

    bed.cloud.controls.change({ policy: [{ effect: "allow", actions: ["*"] }] });
    const { vpc, subnets } = await blocksOf(bed);
    assert.match(vpc, /\/56$/);
    // The blocks go by the numbers of the IPv4 ranges: public ones first, then internal ones.
    const kinds = layout.nat ? ["public", "internal"] : ["public"];
    for (const [number, name] of kinds.flatMap((kind) => [0, 1, 2].map((index) => `demo-${kind}-${index}`)).entries()) {
      assert.equal(
        subnets[name],
        vpc.replace(/00::\/56$|::\/56$/, (tail) => (tail === "::/56" ? `:${number}::/64` : `0${number}::/64`)),
        name,
      );
    }
    const { RouteTables = [] } = await ec2.send(new DescribeRouteTablesCommand({}));
    const out = RouteTables.flatMap((table) =>
      (table.Routes ?? [])
        .filter(({ DestinationIpv6CidrBlock }) => DestinationIpv6CidrBlock === "::/0")
        .map(
          ({ GatewayId, EgressOnlyInternetGatewayId, State }) =>
            `${nameOf(table)} ${(GatewayId ?? EgressOnlyInternetGatewayId)!.split("-")[0]} ${State}`,
        ),
    );
    const internal = ["demo-internal", `demo-internal-${region}b`, `demo-internal-${region}c`].map((name) => `${name} eigw active`);
    assert.deepEqual(out.sort(), [...(layout.nat ? internal : []), "demo-public igw active"].sort());
    const { SecurityGroups = [] } = await ec2.send(new DescribeSecurityGroupsCommand({}));
    const allowed = (name: string) =>
      SecurityGroups.find(({ GroupName }) => GroupName === name)!.IpPermissions!.flatMap(({ IpProtocol, Ipv6Ranges = [] }) =>
        Ipv6Ranges.map(({ CidrIpv6 }) => `${IpProtocol} ${CidrIpv6}`),
      );
    assert.deepEqual([allowed("demo-loadbalancer"), allowed("demo-node")], [["-1 2001:db8::/32"], ["icmpv6 2001:db8::/32"]]);

    const master = bed.master(layout, 0);
    await master.apply(given(layout, {}, { nodeIndex: 0 }));
    const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({}));
    assert.equal(Reservations[0]!.Instances![0]!.NetworkInterfaces![0]!.Ipv6Addresses!.length, 1);
    await master.destroy(given(layout, {}, { nodeIndex: 0 }));

    await base.destroy(given(layout, {}, more));
    assert.deepEqual(bed.leftOver(), []);
  });
}

test("ipv6 of a new cluster is made and destroyed with it, and what cannot be is refused by name", async (t) => {
  const bed = await layoutBed(t, region);
  const base = bed.base(standard);
  await base.apply(given(standard, {}, { ipv6: {} }));
  assert.deepEqual(await base.plan(given(standard, {}, { ipv6: {} })), {});
  await base.destroy(given(standard, {}, { ipv6: {} }));
  assert.deepEqual(bed.leftOver(), []);
  const refused = async (ipv6: object) => await base.refused(given(standard, {}, { ipv6 }));
  assert.match(await refused({ allowList: ["0.0.0.0/0"] }), /ipv6\.allowList must be a list of IPv6 CIDRs/);
  assert.match(await refused({ firstSubnet: 300 }), /ipv6\.firstSubnet must be a whole number from 0 to 255/);
  assert.match(await refused({ firstSubnet: 253 }), /leaves too little room: a VPC has 256 blocks, and the layout takes 6/);
  const { Vpc } = await bed.aws.ec2.send(new CreateVpcCommand({ CidrBlock: "10.50.0.0/16" }));
  const existing = { vpcNetworkCIDR: undefined, nodeNetworkCIDR: undefined, existingVPCID: Vpc!.VpcId };
  assert.match(await base.refused(given(standard, existing, { ipv6: {} })), /existingVPCID has none/);
});

for (const layout of layouts) {
  test(`${layout.name}: vpcEndpoints stand in the nodes' zones and tables, change in place, and go`, async (t) => {
    const bed = await layoutBed(t, region);
    const { ec2 } = bed.aws;
    bed.cloud.controls.change({ policy: policyOf("layouts-base") });
    const base = bed.base(layout);
    const step = (...vpcEndpoints: string[]) => given(layout, {}, { vpcEndpoints });
    await base.apply(step("s3", "ec2", `com.amazonaws.${region}.sts`));
    assert.deepEqual(await base.plan(step("s3", "ec2", `com.amazonaws.${region}.sts`)), {});
    const { VpcEndpoints = [] } = await ec2.send(new DescribeVpcEndpointsCommand({}));
    const short = (name = "") => name.split(".").at(-1);
    assert.deepEqual(
      VpcEndpoints.map(({ ServiceName, VpcEndpointType, SubnetIds = [], RouteTableIds = [], Groups = [], PrivateDnsEnabled }) =>
        [
          short(ServiceName),
          VpcEndpointType,
          SubnetIds.length,
          RouteTableIds.length,
          Groups.map(({ GroupName }) => GroupName),
          PrivateDnsEnabled,
        ].join(" "),
      ).sort(),
      ["ec2 Interface 3 0 demo-node true", `s3 Gateway 0 ${layout.nat ? 2 : 1}  false`, "sts Interface 3 0 demo-node true"],
    );
    const interfaces = VpcEndpoints.flatMap(({ SubnetIds = [] }) => SubnetIds);
    const { Subnets = [] } = await ec2.send(new DescribeSubnetsCommand({ SubnetIds: [...new Set(interfaces)] }));
    assert.ok(Subnets.every((subnet) => nameOf(subnet).startsWith(layout.nat ? "demo-internal-" : "demo-public-")));

    const plan = await base.plan(step("s3", "ecr.api"));
    assert.deepEqual(
      Object.entries(plan)
        .map(([address, action]) => `${action} ${address}`)
        .sort(),
      [
        'create aws_vpc_endpoint.interface["ecr.api"]',
        'delete aws_vpc_endpoint.interface["ec2"]',
        `delete aws_vpc_endpoint.interface["com.amazonaws.${region}.sts"]`,
      ].sort(),
    );
    await base.apply(step("s3", "ecr.api"));
    await base.destroy(step("s3", "ecr.api"));
    assert.deepEqual(bed.leftOver(), []);
  });
}

test("vpcEndpoints: S3 Express is a route, and in China names have the domain that AWS gives them", async (t) => {
  const kinds = async (at: string, ...vpcEndpoints: string[]) => {
    const bed = await layoutBed(t, at);
    const base = bed.base(standard);
    const wanted = { ...inputs(configuration(standard, at)), vpcEndpoints };
    await base.apply(wanted);
    assert.deepEqual(await base.plan(wanted), {});
    const { VpcEndpoints = [] } = await bed.aws.ec2.send(new DescribeVpcEndpointsCommand({}));
    return VpcEndpoints.map(({ ServiceName, VpcEndpointType }) => `${VpcEndpointType} ${ServiceName}`).sort();
  };
  assert.deepEqual(await kinds(region, "s3express"), [`Gateway com.amazonaws.${region}.s3express`]);
  const chinese = ["s3", "sts", "ecr.dkr", "elasticloadbalancing", "cn.com.amazonaws.cn-north-1.s3"];
  assert.deepEqual(await kinds("cn-north-1", ...chinese), [
    "Gateway com.amazonaws.cn-north-1.s3",
    "Interface cn.com.amazonaws.cn-north-1.ecr.dkr",
    "Interface cn.com.amazonaws.cn-north-1.s3",
    "Interface cn.com.amazonaws.cn-north-1.sts",
    "Interface com.amazonaws.cn-north-1.elasticloadbalancing",
  ]);
});

test("vpcEndpoints without a group that lets nodes in, and names that are none, are refused", async (t) => {
  const bed = await layoutBed(t, region);
  const base = bed.base(standard);
  const refused = async (vpcEndpoints: string[], changes: Configuration = {}, more: Configuration = {}) =>
    await base.refused(given(standard, changes, { vpcEndpoints, ...more }));
  assert.match(await refused(["ec2", "ec2"]), /each only once/);
  assert.match(await refused(["EC2"]), /vpcEndpoints must be names of services/);
  const bare = { disableDefaultSecurityGroup: true };
  assert.match(await refused(["ec2"], bare), /vpcEndpoints with disableDefaultSecurityGroup needs vpcEndpointSecurityGroups/);
  assert.notDeepEqual(await base.plan(given(standard, bare, { vpcEndpoints: ["s3"] })), {});
});
