/** What single settings of the configuration do: groups, bastion, zones, existing networks, and the effect of later changes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CreateVpcCommand,
  DescribeAddressesCommand,
  DescribeInstancesCommand,
  DescribeNatGatewaysCommand,
  DescribeSecurityGroupRulesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  ModifyAvailabilityZoneGroupCommand,
} from "@aws-sdk/client-ec2";
import { CreateRoleCommand, GetRolePolicyCommand } from "@aws-sdk/client-iam";
import { readArtifactsInput } from "../../../src/discovery/artifacts/input.ts";
import { layoutBed } from "./bed.ts";
import { ami, type Configuration, clusterUUID, configuration, inputs, type Layout, layouts } from "./inputs.ts";

const region = "eu-central-1";
const [withoutNat, withNat, standard] = layouts;
const masters = (instanceClass: Configuration, more: Configuration = {}) => ({
  masterNodeGroup: { replicas: 3, instanceClass: { instanceType: "m5.large", ami, ...instanceClass }, ...more },
});
const given = (layout: Layout, changes: Configuration = {}, more: Configuration = {}) =>
  inputs(configuration(layout, region, changes), more);

test("refusals are in the words that the platform's users know", async (t) => {
  const bed = await layoutBed(t, region);
  const base = bed.base(standard);
  const says = async (changes: Configuration, message: string) => {
    const said = await base.refused(given(standard, changes));
    assert.ok(said.includes(message), said);
  };
  await says(
    { vpcNetworkCIDR: "10.241.1.0/16" },
    "Invalid vpcNetworkCIDR in AWSClusterConfiguration. Its network address is 10.241.0.0/16: use that.",
  );
  await says(
    { nodeNetworkCIDR: "10.241.1.0/20" },
    "Invalid nodeNetworkCIDR in AWSClusterConfiguration. Its network address is 10.241.0.0/20: use that.",
  );
  const hint = "please convert it to openssh format using a command like ssh-keygen -i -f key.ssh2 > key.pub";
  await says({ sshPublicKey: "---- BEGIN SSH2 PUBLIC KEY ----\nAAAA" }, hint);
  await says({ sshPublicKey: "-----BEGIN PUBLIC KEY-----\nAAAA" }, hint);
  await says({ sshPublicKey: "garbage" }, "failed to parse public key");
  await says(masters({ diskSizeGb: 49 }), "Root disk capacity: expected at least 50, but 49 is configured");
  await says({ layout: "WithNAT" }, "layout is WithNAT in AWSClusterConfiguration, and this is the step of Standard.");
  await says({ zones: ["us-east-1a"] }, "No zone is left: zones has none of the region's (eu-central-1a, eu-central-1b, eu-central-1c).");
  for (const changes of [masters({ diskSizeGb: 50 }), masters({})]) assert.notDeepEqual(await base.plan(given(standard, changes)), {});
});

test("user data that is not in base64 is refused without being shown; keys of the account are not shown either", async (t) => {
  const bed = await layoutBed(t, region);
  const token = "token: abcdef.fedcba9876543210";
  const said = [
    await bed.master(standard, 0).refused(given(standard, {}, { nodeIndex: 0, cloudConfig: token })),
    await bed.base(withNat).refused(given(withNat, {}, { bastionCloudConfig: token })),
    await bed.base(standard).refused(given(standard, { provider: { providerAccessKeyId: "AKIAX", providerSecretAccessKey: "wJalrXUtn" } })),
  ];
  assert.match(said[0]!, /cloudConfig must be text in base64/);
  assert.match(said[1]!, /bastionCloudConfig must be text in base64/);
  assert.match(said[2]!, /provider must have exactly/);
  assert.deepEqual(
    said.flatMap((text) => text.match(/.{0,80}(fedcba9876543210|wJalrXUtn)/) ?? []),
    [],
  );
});

test("a prefix is refused when the name of the last etcd disk gets longer than 63 characters", async (t) => {
  const base = (await layoutBed(t, region)).base(standard);
  const prefixed = (length: number) => ({ ...given(standard), clusterConfiguration: { cloud: { prefix: "p".repeat(length) } } });
  const room = 63 - "-kubernetes-data-2".length;
  assert.match(await base.refused(prefixed(room + 1)), /exceeds 63 characters \(got 64\); use a shorter cluster prefix/);
  assert.notDeepEqual(await base.plan(prefixed(room)), {});
});

test("groups let in whom the lists name, and let out what the reference lets out", async (t) => {
  const bed = await layoutBed(t, region);
  const base = bed.base(standard);
  await base.apply(given(standard, { sshAllowList: ["192.0.2.0/24", "198.51.100.0/24"], publicNetworkAllowList: ["203.0.113.0/24"] }));
  const { SecurityGroups = [] } = await bed.aws.ec2.send(new DescribeSecurityGroupsCommand({}));
  const names = new Map(SecurityGroups.map(({ GroupId, GroupName }) => [GroupId!, GroupName!]));
  const { SecurityGroupRules = [] } = await bed.aws.ec2.send(new DescribeSecurityGroupRulesCommand({}));
  const rules = SecurityGroupRules.filter(({ GroupId }) => names.get(GroupId!) !== "default").map(
    ({ GroupId, IsEgress, IpProtocol, FromPort, CidrIpv4, ReferencedGroupInfo }) =>
      `${names.get(GroupId!)} ${IsEgress ? "out" : "in"} ${IpProtocol} ${FromPort ?? -1} ${CidrIpv4 ?? names.get(ReferencedGroupInfo!.GroupId!)}`,
  );
  assert.deepEqual(rules.sort(), [
    "demo-loadbalancer in -1 -1 203.0.113.0/24",
    "demo-loadbalancer out -1 -1 demo-node",
    "demo-node in -1 -1 demo-loadbalancer",
    "demo-node in -1 -1 demo-node",
    "demo-node in icmp -1 203.0.113.0/24",
    "demo-node out -1 -1 0.0.0.0/0",
    "demo-ssh-accessible in tcp 22 192.0.2.0/24",
    "demo-ssh-accessible in tcp 22 198.51.100.0/24",
  ]);
});

for (const [what, changes, own] of [
  ["disabled groups", { disableDefaultSecurityGroup: true }, []],
  ["no SSH from anywhere", { sshAllowList: [] }, ["demo-node"]],
] as const) {
  test(`${what}: masters are made all the same, and the discovery data is valid`, async (t) => {
    const bed = await layoutBed(t, region);
    const step = bed.base(withoutNat);
    await step.apply(given(withoutNat, changes));
    const { cloud_discovery_data: data } = (await step.outputs()) as { cloud_discovery_data: { loadBalancerSecurityGroup: string } };
    assert.equal(data.loadBalancerSecurityGroup === "", own.length === 0);
    checkDiscovery(withoutNat, data);
    await bed.master(withoutNat, 0).apply(given(withoutNat, changes, { nodeIndex: 0 }));
    const { Reservations = [] } = await bed.aws.ec2.send(new DescribeInstancesCommand({}));
    const groups = Reservations[0]!.Instances![0]!.SecurityGroups!.map(({ GroupName }) => GroupName);
    // AWS gives an instance without groups the VPC's default one.
    assert.deepEqual(groups, own.length === 0 ? ["default"] : own);
  });
}

/** As whoever reads the output checks it. */
function checkDiscovery(layout: Layout, discoveryData: unknown): void {
  readArtifactsInput(JSON.stringify({ clusterUUID, clusterConfiguration: configuration(layout, region), discoveryData }));
}

test("discovery data names what the layout made, and a bad group, an empty map and a zone of GovCloud are no discovery data", async (t) => {
  for (const layout of layouts) {
    const bed = await layoutBed(t, region);
    const step = bed.base(layout);
    await step.apply(given(layout, { zones: ["eu-central-1c", "eu-central-1b"] }));
    const data = (await step.outputs()).cloud_discovery_data as Readonly<Record<string, unknown>>;
    checkDiscovery(layout, data);
    assert.deepEqual(data.zones, ["eu-central-1b", "eu-central-1c"]);
    const { Subnets = [] } = await bed.aws.ec2.send(new DescribeSubnetsCommand({}));
    const own = Subnets.filter(({ Tags = [] }) =>
      Tags.some(({ Value }) => Value?.startsWith(layout.nat ? "demo-internal-" : "demo-public-")),
    );
    assert.deepEqual(
      data.zoneToSubnetIdMap,
      Object.fromEntries(own.map(({ AvailabilityZone, SubnetId }) => [AvailabilityZone!, SubnetId!])),
    );
    for (const wrong of [{ loadBalancerSecurityGroup: "group" }, { zoneToSubnetIdMap: {} }, { zones: ["us-gov-west-1a"] }]) {
      assert.throws(() => checkDiscovery(layout, { ...data, ...wrong }), /cloud-provider-discovery-data/);
    }
  }
});

test("a bastion that nobody asked for is not there; one without a zone stands in the first that nodes may use", async (t) => {
  const bed = await layoutBed(t, region);
  const base = bed.base(withNat);
  await base.apply(given(withNat));
  assert.equal((await base.outputs()).bastion_ip_address_for_ssh, "");
  const withBastion = given(withNat, {
    zones: ["eu-central-1c", "eu-central-1b"],
    withNAT: { bastionInstance: { instanceClass: { instanceType: "t3.small", ami } } },
  });
  await base.apply(withBastion);
  const { Reservations = [] } = await bed.aws.ec2.send(new DescribeInstancesCommand({}));
  const [bastion] = Reservations[0]!.Instances!;
  assert.equal(bastion!.Placement!.AvailabilityZone, "eu-central-1b");
  assert.equal((await base.outputs()).bastion_ip_address_for_ssh, bastion!.PublicIpAddress);
  assert.ok(!bastion!.Tags!.some(({ Key }) => Key!.startsWith("kubernetes.io/")));
});

test("a Local Zone gets no NAT gateway, and the address of a node in it comes from the zone's border group", async (t) => {
  for (const layout of [standard, withoutNat]) {
    const bed = await layoutBed(t, region);
    await bed.aws.ec2.send(new ModifyAvailabilityZoneGroupCommand({ GroupName: `${region}-loc-1`, OptInStatus: "opted-in" }));
    await bed.base(layout).apply(given(layout));
    const local = `${region}-loc-1a`;
    const { Subnets = [] } = await bed.aws.ec2.send(
      new DescribeSubnetsCommand({ Filters: [{ Name: "availability-zone", Values: [local] }] }),
    );
    assert.equal(Subnets.length, layout.nat ? 2 : 1);
    if (layout.nat) {
      const { NatGateways = [] } = await bed.aws.ec2.send(new DescribeNatGatewaysCommand({}));
      const place = await bed.aws.ec2.send(new DescribeSubnetsCommand({ SubnetIds: [NatGateways[0]!.SubnetId!] }));
      assert.equal(place.Subnets![0]!.AvailabilityZone, "eu-central-1a");
    } else {
      const inside = given(layout, masters({}, { zones: [local] }), { nodeIndex: 0 });
      await bed.master(layout, 0).apply(inside);
      const { Addresses = [] } = await bed.aws.ec2.send(new DescribeAddressesCommand({}));
      assert.deepEqual(
        Addresses.map(({ NetworkBorderGroup }) => NetworkBorderGroup),
        [`${region}-loc-1`],
      );
    }
  }
});

test("nodes go round their zones, whatever the order and however often they are named", async (t) => {
  const bed = await layoutBed(t, region);
  await bed.base(standard).apply(given(standard));
  const groups = {
    nodeGroups: [
      {
        name: "system",
        replicas: 5,
        zones: ["eu-central-1c", "eu-central-1a", "eu-central-1b"],
        instanceClass: { instanceType: "m5.large", ami },
      },
    ],
  };
  const zones: string[] = [];
  for (const nodeIndex of [0, 1, 2, 3, 4]) {
    const step = bed.node(standard, "system", nodeIndex);
    await step.apply(given(standard, groups, { nodeIndex, nodeGroupName: "system" }));
    const { resources } = await step.state();
    zones.push(
      resources.find(({ type, mode }) => type === "aws_instance" && mode === "managed")!.instances[0]!.attributes
        .availability_zone as string,
    );
  }
  assert.deepEqual(
    zones.map((zone) => zone.at(-1)),
    ["a", "b", "c", "a", "b"],
  );
  const nowhere = given(standard, { ...groups, zones: ["us-east-1a"] }, { nodeIndex: 0, nodeGroupName: "system" });
  assert.match(await bed.node(standard, "other", 0).refused(nowhere), /No zone is left for node group system/);
  const unknown = given(standard, groups, { nodeIndex: 0, nodeGroupName: "none" });
  assert.match(await bed.node(standard, "none", 0).refused(unknown), /nodeGroups has no group none/);
});

test("an existing VPC is used and outlives the cluster", async (t) => {
  const bed = await layoutBed(t, region);
  const { Vpc } = await bed.aws.ec2.send(new CreateVpcCommand({ CidrBlock: "10.50.0.0/16" }));
  const config = given(standard, { vpcNetworkCIDR: undefined, nodeNetworkCIDR: undefined, existingVPCID: Vpc!.VpcId });
  await bed.base(standard).apply(config);
  const { Subnets = [] } = await bed.aws.ec2.send(new DescribeSubnetsCommand({}));
  assert.deepEqual(Subnets.map(({ CidrBlock }) => CidrBlock).sort(), [
    "10.50.0.0/19",
    "10.50.128.0/19",
    "10.50.160.0/19",
    "10.50.32.0/19",
    "10.50.64.0/19",
    "10.50.96.0/19",
  ]);
  await bed.base(standard).destroy(config);
  const left = bed.leftOver() as readonly { readonly table: string; readonly change: string }[];
  assert.ok(left.every(({ change }) => change === "added"));
  assert.deepEqual([...new Set(left.map(({ table }) => table))].sort(), [
    "ec2/route-tables",
    "ec2/security-group-rules",
    "ec2/security-groups",
    "ec2/vpcs",
  ]);
});

test("later changes do to machines what is documented: in place, stopped for it, or replaced", async (t) => {
  const bed = await layoutBed(t, region);
  const base = bed.base(standard);
  await base.apply(given(standard));
  const master = bed.master(standard, 0);
  const step = (changes: Configuration) => given(standard, changes, { nodeIndex: 0 });
  await master.apply(step(masters({ diskSizeGb: 50 })));
  const instance = "module.master-node.aws_instance.master";
  const plan = (change: Configuration) => master.plan(step(masters({ diskSizeGb: 50, ...change })));
  assert.equal((await plan({ ami: "ami-0123456789abcdef1" }))[instance], "delete,create");
  assert.deepEqual(await plan({ etcdDisk: { sizeGb: 40 } }), { "module.master-node.aws_ebs_volume.kubernetes_data": "update" });
  assert.deepEqual(await plan({ diskSizeGb: 60 }), { [instance]: "update" });
  assert.deepEqual(await plan({ additionalSecurityGroups: ["sg-0123456789abcdef0"] }), { [instance]: "update" });

  const changed = step(masters({ diskSizeGb: 60, instanceType: "m5.xlarge", etcdDisk: { sizeGb: 40, type: "gp3" } }));
  assert.deepEqual(Object.values(await master.plan(changed)), ["update", "update"]);
  await master.apply(changed);
  const { Reservations = [] } = await bed.aws.ec2.send(new DescribeInstancesCommand({}));
  assert.deepEqual(
    Reservations.flatMap(({ Instances = [] }) => Instances.map(({ InstanceType, State }) => [InstanceType, State!.Name])),
    [["m5.xlarge", "running"]],
  );
  assert.deepEqual(await master.plan(changed), {});

  // The order of zones does not matter, their choice does.
  const zones = ["eu-central-1a", "eu-central-1b", "eu-central-1c"];
  assert.deepEqual(await base.plan(given(standard, { zones: zones.toReversed() })), {});
  await base.apply(given(standard, { zones: zones.slice(1) }));
  assert.deepEqual(((await base.outputs()).cloud_discovery_data as { zones: string[] }).zones, zones.slice(1));

  const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKjE3wGDjGC1Tg0BpLx0Zz5yXK1gUoW3JnqNU8oVb0cK ops";
  assert.deepEqual(await base.plan(given(standard, { sshPublicKey: key })), { "aws_key_pair.ssh": "delete,create" });
  assert.deepEqual(await base.plan(given(standard, { additionalRolePolicies: ["s3:Get*"] })), { "aws_iam_role_policy.node[0]": "update" });
  await bed.aws.iam.send(new CreateRoleCommand({ RoleName: "ours", AssumeRolePolicyDocument: '{"Statement":[]}' }));
  assert.deepEqual(await base.plan(given(standard, { iamNodeRole: "ours" })), { "aws_iam_instance_profile.node": "update" });
  await base.apply(given(standard, { additionalRolePolicies: ["s3:Get*"] }));
  const { PolicyDocument = "" } = await bed.aws.iam.send(new GetRolePolicyCommand({ RoleName: "demo-node", PolicyName: "demo-node" }));
  assert.deepEqual(JSON.parse(decodeURIComponent(PolicyDocument)), {
    Version: "2012-10-17",
    Statement: [{ Effect: "Allow", Action: ["s3:Get*", "ec2:DescribeTags", "ec2:DescribeInstances"], Resource: ["*"] }],
  });
});
