/** A network as installers of clusters build it, for tests and the sandbox. */
import type { Cloud } from "./cloud.ts";
import { KINDS } from "./ec2/kinds.ts";
import { associateTable, createTableIn } from "./ec2/route-tables.ts";
import { runInstances } from "./ec2/run-instances.ts";
import { createSecurityGroup } from "./ec2/security-groups.ts";
import type { Ec2, Instance, Tags } from "./ec2/state.ts";
import { createSubnet } from "./ec2/subnets.ts";
import { tagSpecification } from "./ec2/tags.ts";
import { createVpc } from "./ec2/vpcs.ts";
import { zonesOf } from "./ec2/zones.ts";

/** How the network is to be. */
export interface NetworkOptions {
  readonly clusterId: string;
  readonly zones?: number;
  /** Gives the VPC and its subnets IPv6 blocks, and instances addresses of them. */
  readonly ipv6?: boolean;
  /** How instances of the private subnets are named; by address when absent. */
  readonly hostnameType?: "ip-name" | "resource-name";
}

/** The ids of what was built. */
export interface Network {
  readonly clusterId: string;
  readonly vpcId: string;
  /** One for each zone, in the order of zones. */
  readonly publicSubnetIds: readonly string[];
  readonly privateSubnetIds: readonly string[];
  readonly publicTableId: string;
  readonly privateTableId: string;
  readonly internetGatewayId: string;
  readonly nodeGroupId: string;
}

/**
 * A VPC 10.0.0.0/16 with one public and one private subnet a zone, an internet gateway, two route tables (the private one
 * carries the cluster's tag, as the routes controller wants it) and the nodes' security group, all tagged as a real cluster's.
 */
export function standardNetwork(cloud: Cloud, options: NetworkOptions): Network {
  const { ec2 } = cloud.account;
  const { clusterId, zones: count = 3, ipv6 = false } = options;
  const owned = { [`kubernetes.io/cluster/${clusterId}`]: "owned" };
  const tags = (name: string, more: Tags = {}): Tags => ({ Name: `${clusterId}-${name}`, ...owned, ...more });
  const { id: vpcId, ipv6Cidr } = createVpc(ec2, {
    CidrBlock: "10.0.0.0/16",
    AmazonProvidedIpv6CidrBlock: ipv6,
    TagSpecifications: tagSpecification(KINDS.vpc, tags("vpc")),
  });
  ec2.vpcs.update(vpcId, { dnsHostnames: true });
  const internetGatewayId = ec2.account.ids.resource("igw");
  ec2.internetGateways.put(internetGatewayId, { id: internetGatewayId, vpcId, tags: tags("igw") });

  const zones = zonesOf(ec2.account.region, ec2.account.id).slice(0, count);
  const subnets = (role: "public" | "private", firstBlock: number, roleTag: string) =>
    zones.map((zone, index) => {
      const subnet = createSubnet(ec2, {
        VpcId: vpcId,
        CidrBlock: role === "public" ? `10.0.${firstBlock + index}.0/24` : `10.0.${firstBlock + 32 * index}.0/19`,
        AvailabilityZone: zone.name,
        Ipv6CidrBlock: ipv6Cidr === undefined ? undefined : ipv6Subnet(ipv6Cidr, firstBlock + index),
        TagSpecifications: tagSpecification(KINDS.subnet, tags(`${role}-${zone.name}`, { [roleTag]: "1" })),
      });
      return ec2.subnets.update(subnet.id, {
        publicOnLaunch: role === "public",
        ipv6OnLaunch: ipv6,
        names: { ...subnet.names, hostnameType: role === "private" ? (options.hostnameType ?? "ip-name") : "ip-name" },
      }).id;
    });
  const publicSubnetIds = subnets("public", 0, "kubernetes.io/role/elb");
  const privateSubnetIds = subnets("private", 32, "kubernetes.io/role/internal-elb");

  const publicTableId = createTableIn(ec2, vpcId, { Name: `${clusterId}-public` });
  const privateTableId = createTableIn(ec2, vpcId, tags("private"));
  const out = { destination: "0.0.0.0/0", family: 4, target: { kind: "gateway", id: internetGatewayId } } as const;
  ec2.routeTables.update(publicTableId, { routes: [...ec2.routeTables.get(publicTableId)!.routes, out] });
  for (const id of publicSubnetIds) associateTable(ec2, publicTableId, id);
  for (const id of privateSubnetIds) associateTable(ec2, privateTableId, id);
  return {
    clusterId,
    vpcId,
    publicSubnetIds,
    privateSubnetIds,
    publicTableId,
    privateTableId,
    internetGatewayId,
    nodeGroupId: nodeGroup(ec2, vpcId, clusterId, tags("nodes")),
  };
}

/** Instances of the cluster, spread over the private subnets, carrying its tag. */
export function launchNodes(
  cloud: Cloud,
  network: Network,
  count: number,
  instanceType: Instance["type"] = "m5.large",
): readonly Instance[] {
  const { ec2 } = cloud.account;
  return Array.from({ length: count }, (_, index) => {
    const [instance] = runInstances(ec2, {
      ImageId: "ami-0123456789abcdef0",
      InstanceType: instanceType,
      MinCount: 1,
      MaxCount: 1,
      SubnetId: network.privateSubnetIds[index % network.privateSubnetIds.length],
      SecurityGroupIds: [network.nodeGroupId],
      IamInstanceProfile: { Name: `${network.clusterId}-node` },
      TagSpecifications: tagSpecification(KINDS.instance, {
        Name: `${network.clusterId}-node`,
        [`kubernetes.io/cluster/${network.clusterId}`]: "owned",
      }),
    });
    return instance!;
  });
}

function nodeGroup(ec2: Ec2, vpcId: string, clusterId: string, tags: Tags): string {
  const { id } = createSecurityGroup(ec2, {
    GroupName: `${clusterId}-nodes`,
    Description: "Nodes of the cluster",
    VpcId: vpcId,
    TagSpecifications: tagSpecification(KINDS.securityGroup, tags),
  });
  const rule = ec2.account.ids.resource("sgr");
  ec2.rules.put(rule, {
    id: rule,
    groupId: id,
    egress: false,
    protocol: "-1",
    fromPort: undefined,
    toPort: undefined,
    peer: { kind: "group", groupId: id, userId: ec2.account.id },
    description: "nodes among themselves",
    tags: {},
  });
  return id;
}

function ipv6Subnet(vpcCidr: string, number: number): string {
  // A VPC's /56 leaves one byte for the number of the subnet: the low half of the fourth group.
  const groups = vpcCidr.replace("::/56", "").split(":");
  const fourth = (Number.parseInt(groups[3] ?? "0", 16) | number).toString(16);
  return `${[...groups.slice(0, 3), fourth].join(":")}::/64`;
}
