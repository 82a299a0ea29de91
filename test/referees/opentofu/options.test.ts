/** What the reference lacks, each behind a variable of its own: off, it changes nothing; on, it does what its description says. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AssociateRouteTableCommand,
  AttachInternetGatewayCommand,
  CreateInternetGatewayCommand,
  CreateRouteTableCommand,
  CreateSubnetCommand,
  CreateVpcCommand,
  DescribeInstanceAttributeCommand,
  DescribeInstancesCommand,
  DescribeNatGatewaysCommand,
  DescribeRouteTablesCommand,
  DescribeVolumesCommand,
  ModifyAvailabilityZoneGroupCommand,
} from "@aws-sdk/client-ec2";
import { CreateRoleCommand, GetInstanceProfileCommand, GetRoleCommand, GetRolePolicyCommand } from "@aws-sdk/client-iam";
import { layoutBed } from "./bed.ts";
import { ami, type Configuration, configuration, inputs, type Layout, layouts } from "./inputs.ts";
import { addressesIn } from "./tofu.ts";

const region = "eu-central-1";
const [withoutNat, withNat, standard] = layouts;
const given = (layout: Layout, changes: Configuration = {}, more: Configuration = {}) =>
  inputs(configuration(layout, region, changes), more);
const nodeGroups = [{ name: "system", replicas: 1, instanceClass: { instanceType: "m5.large", ami } }];

test("subnetPlan keeps subnets and nodes where they are when the region gets another zone", async (t) => {
  const bed = await layoutBed(t, region);
  const [base, master] = [bed.base(standard), bed.master(standard, 0)];
  await base.apply(given(standard));
  await master.apply(given(standard, {}, { nodeIndex: 0 }));
  const { subnet_plan: subnetPlan } = await base.outputs();
  // A Local Zone sorts before the others and takes the first place.
  await bed.aws.ec2.send(new ModifyAvailabilityZoneGroupCommand({ GroupName: `${region}-loc-1`, OptInStatus: "opted-in" }));
  const moved = await base.plan(given(standard));
  assert.equal(moved["aws_subnet.kube_public[0]"], "delete,create");
  assert.match(await master.refused(given(standard, {}, { nodeIndex: 0 })), /no matching EC2 Subnet found/);
  assert.deepEqual(await base.plan(given(standard, {}, { subnetPlan })), {});
  assert.deepEqual(await master.plan(given(standard, {}, { nodeIndex: 0, subnetPlan })), {});
  const wrong = { subnetPlan: { zones: ["a", "b"], slots: 1 } };
  assert.match(await base.refused(given(standard, {}, wrong)), /at most subnetPlan.slots/);
});

test("subnetPlan with more slots than zones leaves room: another zone adds subnets and moves none", async (t) => {
  const bed = await layoutBed(t, region);
  const base = bed.base(standard);
  const plan = (...letters: string[]) => ({ subnetPlan: { zones: letters.map((letter) => `${region}${letter}`), slots: 4 } });
  await base.apply(given(standard, {}, plan("a", "b")));
  const actions = await base.plan(given(standard, {}, plan("a", "b", "c")));
  assert.deepEqual(new Set(Object.values(actions)), new Set(["create"]));
  assert.equal(Object.keys(actions).length, 4);
});

test("natGatewayPerZone gives each zone its own gateway and route table, in a cluster that stands already too", async (t) => {
  const bed = await layoutBed(t, region);
  const base = bed.base(standard);
  await base.apply(given(standard));
  const more = { natGatewayPerZone: true };
  const actions = await base.plan(given(standard, {}, more));
  assert.deepEqual(
    Object.entries(actions).filter(([, action]) => action !== "create"),
    [
      ["aws_route_table_association.kube_internal[1]", "update"],
      ["aws_route_table_association.kube_internal[2]", "update"],
    ],
  );
  await base.apply(given(standard, {}, more));
  assert.deepEqual(await base.plan(given(standard, {}, more)), {});
  const { NatGateways = [] } = await bed.aws.ec2.send(new DescribeNatGatewaysCommand({}));
  assert.equal(new Set(NatGateways.map(({ SubnetId }) => SubnetId)).size, 3);
  const Filters = [{ Name: "tag-key", Values: ["kubernetes.io/cluster/demo"] }];
  const { RouteTables = [] } = await bed.aws.ec2.send(new DescribeRouteTablesCommand({ Filters }));
  const used = RouteTables.map(({ Routes = [] }) => Routes.find(({ NatGatewayId }) => NatGatewayId)?.NatGatewayId);
  assert.deepEqual(new Set(used), new Set(NatGateways.map(({ NatGatewayId }) => NatGatewayId)));
  await base.destroy(given(standard, {}, more));
  assert.deepEqual(bed.leftOver(), []);
});

test("adoptInternetGateway uses the gateway of an existing VPC, and leaves it there", async (t) => {
  const bed = await layoutBed(t, region);
  const { Vpc } = await bed.aws.ec2.send(new CreateVpcCommand({ CidrBlock: "10.241.0.0/16" }));
  const { InternetGateway } = await bed.aws.ec2.send(new CreateInternetGatewayCommand({}));
  const gateway = { InternetGatewayId: InternetGateway!.InternetGatewayId!, VpcId: Vpc!.VpcId! };
  await bed.aws.ec2.send(new AttachInternetGatewayCommand(gateway));
  const config = { vpcNetworkCIDR: undefined, existingVPCID: gateway.VpcId };
  const base = bed.base(standard);
  await assert.rejects(base.apply(given(standard, config)), /already has an internet gateway attached/);
  await base.destroy(given(standard, config));
  const more = { adoptInternetGateway: true };
  await base.apply(given(standard, config, more));
  assert.ok(!addressesIn(await base.state()).some((address) => address.includes("aws_internet_gateway")));
  assert.deepEqual(await base.plan(given(standard, config, more)), {});
  await base.destroy(given(standard, config, more));
  assert.match(await base.refused(given(standard, {}, more)), /adoptInternetGateway needs existingVPCID/);
});

test("skipUnusedNodeRole makes no role where iamNodeRole names one", async (t) => {
  const bed = await layoutBed(t, region);
  await bed.aws.iam.send(new CreateRoleCommand({ RoleName: "ours", AssumeRolePolicyDocument: '{"Statement":[]}' }));
  const step = given(withoutNat, { iamNodeRole: "ours" }, { skipUnusedNodeRole: true });
  await bed.base(withoutNat).apply(step);
  const { InstanceProfile } = await bed.aws.iam.send(new GetInstanceProfileCommand({ InstanceProfileName: "demo-node" }));
  assert.equal(InstanceProfile?.Roles?.[0]?.RoleName, "ours");
  await assert.rejects(bed.aws.iam.send(new GetRoleCommand({ RoleName: "demo-node" })), { name: "NoSuchEntityException" });
  await bed.master(withoutNat, 0).apply({ ...step, nodeIndex: 0 });
});

test("nodePolicyStatements allow nodes more, on named resources only", async (t) => {
  const bed = await layoutBed(t, region);
  const statement = { actions: ["s3:GetObject"], resources: ["arn:aws:s3:::ours/*"] };
  const base = bed.base(standard);
  await base.apply(given(standard));
  const more = { nodePolicyStatements: [statement] };
  assert.deepEqual(await base.plan(given(standard, {}, more)), { "aws_iam_role_policy.node[0]": "update" });
  await base.apply(given(standard, {}, more));
  const { PolicyDocument = "" } = await bed.aws.iam.send(new GetRolePolicyCommand({ RoleName: "demo-node", PolicyName: "demo-node" }));
  const { Statement } = JSON.parse(decodeURIComponent(PolicyDocument)) as { readonly Statement: readonly object[] };
  assert.deepEqual(Statement[1], { Effect: "Allow", Action: statement.actions, Resource: statement.resources });
  const empty = { nodePolicyStatements: [{ actions: ["s3:GetObject"], resources: [] }] };
  assert.match(await base.refused(given(standard, {}, empty)), /needs actions and resources/);
});

test("peeringAllRoutes reaches every table of both sides", async (t) => {
  for (const layout of layouts) {
    const bed = await layoutBed(t, region);
    const { ec2 } = bed.aws;
    const { Vpc } = await ec2.send(new CreateVpcCommand({ CidrBlock: "10.99.0.0/16" }));
    const VpcId = Vpc!.VpcId!;
    const { Subnet } = await ec2.send(new CreateSubnetCommand({ VpcId, CidrBlock: "10.99.0.0/24" }));
    const { RouteTable } = await ec2.send(new CreateRouteTableCommand({ VpcId }));
    await ec2.send(new AssociateRouteTableCommand({ SubnetId: Subnet!.SubnetId!, RouteTableId: RouteTable!.RouteTableId! }));
    const base = bed.base(layout);
    const reaching = async () => {
      const { RouteTables = [] } = await ec2.send(new DescribeRouteTablesCommand({}));
      return RouteTables.filter(({ Routes = [] }) =>
        Routes.some((route) => route.VpcPeeringConnectionId !== undefined && route.State === "active"),
      ).length;
    };
    await base.apply(given(layout, { peeredVPCs: [VpcId] }));
    assert.equal(await reaching(), 2);
    await base.apply(given(layout, { peeredVPCs: [VpcId] }, { peeringAllRoutes: true }));
    // Ours: one or two; the peer's: its main table and the one that it made.
    assert.equal(await reaching(), layout.nat ? 4 : 3);
    assert.deepEqual(await base.plan(given(layout, { peeredVPCs: [VpcId] }, { peeringAllRoutes: true })), {});
    await base.destroy(given(layout, { peeredVPCs: [VpcId] }, { peeringAllRoutes: true }));
  }
});

test("disks, metadata, zones and SSH of nodes follow their variables", async (t) => {
  const bed = await layoutBed(t, region);
  const { ec2 } = bed.aws;
  await bed.base(withoutNat).apply(given(withoutNat, { zones: [`${region}b`] }));
  const more = { encryptDisks: true, requireIMDSv2: true, rootDiskDefaults: { sizeGb: 50, type: "gp3" } };
  const config = { zones: [`${region}b`], nodeGroups };
  // Without the variable, `zones` does not restrict masters here.
  await bed.master(withoutNat, 0).apply(given(withoutNat, config, { nodeIndex: 0 }));
  await bed.master(withoutNat, 1).apply(given(withoutNat, config, { nodeIndex: 1, ...more, mastersFollowZones: true }));
  const node = given(withoutNat, config, { nodeIndex: 0, nodeGroupName: "system", ...more, staticNodesAcceptSSH: true });
  await bed.node(withoutNat, "system", 0).apply(node);
  const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({}));
  const all = Reservations.flatMap(({ Instances = [] }) => Instances);
  const [plain, master, system] = ["demo-master-0", "demo-master-1", "demo-system-0"].map((name) =>
    all.find(({ Tags = [] }) => Tags.some(({ Value }) => Value === name)),
  );
  assert.deepEqual(
    [plain, master].map((each) => each!.Placement!.AvailabilityZone),
    [`${region}a`, `${region}b`],
  );
  assert.deepEqual(system!.SecurityGroups!.map(({ GroupName }) => GroupName).sort(), ["demo-node", "demo-ssh-accessible"]);
  assert.equal(master!.MetadataOptions!.HttpTokens, "required");
  const disks = async (id: string) => {
    const { Volumes = [] } = await ec2.send(new DescribeVolumesCommand({ Filters: [{ Name: "attachment.instance-id", Values: [id] }] }));
    return Volumes.map(({ Size, VolumeType, Encrypted }) => `${Size} ${VolumeType} ${Encrypted}`).sort();
  };
  assert.deepEqual(await disks(plain!.InstanceId!), ["20 gp2 false", "20 gp3 false"]);
  assert.deepEqual(await disks(master!.InstanceId!), ["20 gp3 true", "50 gp3 true"]);
  assert.deepEqual(await disks(system!.InstanceId!), ["50 gp3 true"]);
});

test("a bastion has the user data and the tagged disk that are asked for", async (t) => {
  const bed = await layoutBed(t, region);
  const { ec2 } = bed.aws;
  const config = { tags: { team: "a" }, withNAT: { bastionInstance: { instanceClass: { instanceType: "t3.small", ami } } } };
  const userData = Buffer.from("#cloud-config\n").toString("base64");
  await bed.base(withNat).apply(given(withNat, config, { bastionCloudConfig: userData, tagBastionDisk: true, encryptDisks: true }));
  const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({}));
  const InstanceId = Reservations[0]!.Instances![0]!.InstanceId!;
  const { UserData } = await ec2.send(new DescribeInstanceAttributeCommand({ InstanceId, Attribute: "userData" }));
  assert.equal(UserData?.Value, userData);
  const { Volumes = [] } = await ec2.send(new DescribeVolumesCommand({}));
  assert.deepEqual(
    Volumes.map(({ Encrypted, Tags }) => [Encrypted, Tags?.length]),
    [[true, 2]],
  );
});
