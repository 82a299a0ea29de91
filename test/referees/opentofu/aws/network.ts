/** VPCs, subnets and gateways. */
import {
  AssociateSubnetCidrBlockCommand,
  AssociateVpcCidrBlockCommand,
  AttachInternetGatewayCommand,
  CreateInternetGatewayCommand,
  CreateNatGatewayCommand,
  CreateSubnetCommand,
  CreateVpcCommand,
  DeleteInternetGatewayCommand,
  DeleteNatGatewayCommand,
  DeleteSubnetCommand,
  DeleteVpcCommand,
  DescribeInternetGatewaysCommand,
  DescribeNatGatewaysCommand,
  DescribeSubnetsCommand,
  DescribeVpcAttributeCommand,
  DescribeVpcsCommand,
  DetachInternetGatewayCommand,
  DisassociateSubnetCidrBlockCommand,
  DisassociateVpcCidrBlockCommand,
  ModifySubnetAttributeCommand,
  ModifyVpcAttributeCommand,
} from "@aws-sdk/client-ec2";
import type { Fields } from "../plan.ts";
import type { ResourceType } from "../plugin.ts";
import { type Aws, optionalText, persist, retag, tagged, tagsIn, text, unlessMissing, waitFor } from "./account.ts";

const inUse = ["DependencyViolation"];

export function networkTypes(aws: Aws): Readonly<Record<string, ResourceType>> {
  return {
    aws_vpc: vpc(aws),
    aws_subnet: subnet(aws),
    aws_internet_gateway: internetGateway(aws),
    aws_nat_gateway: natGateway(aws),
  };
}

function vpc(aws: Aws): ResourceType {
  const { ec2 } = aws;
  const read = async (state: Fields): Promise<Fields | undefined> => {
    const VpcId = text(state.id);
    const found = (await unlessMissing(ec2.send(new DescribeVpcsCommand({ VpcIds: [VpcId] }))))?.Vpcs?.[0];
    if (found === undefined) return undefined;
    const [hostnames, support] = await Promise.all([
      ec2.send(new DescribeVpcAttributeCommand({ VpcId, Attribute: "enableDnsHostnames" })),
      ec2.send(new DescribeVpcAttributeCommand({ VpcId, Attribute: "enableDnsSupport" })),
    ]);
    return {
      id: VpcId,
      arn: `arn:aws:ec2:${aws.region}:${found.OwnerId}:vpc/${VpcId}`,
      cidr_block: found.CidrBlock!,
      assign_generated_ipv6_cidr_block: found.Ipv6CidrBlockAssociationSet?.length ? true : (state.assign_generated_ipv6_cidr_block ?? null),
      ipv6_cidr_block: found.Ipv6CidrBlockAssociationSet?.[0]?.Ipv6CidrBlock ?? "",
      ipv6_association_id: found.Ipv6CidrBlockAssociationSet?.[0]?.AssociationId ?? "",
      enable_dns_hostnames: hostnames.EnableDnsHostnames?.Value ?? false,
      enable_dns_support: support.EnableDnsSupport?.Value ?? true,
      instance_tenancy: found.InstanceTenancy!,
      owner_id: found.OwnerId!,
      dhcp_options_id: found.DhcpOptionsId!,
      ...tagsIn(state, found.Tags),
    };
  };
  const settle = async (id: string, wanted: Fields) => {
    if (typeof wanted.enable_dns_hostnames !== "boolean") return;
    await ec2.send(new ModifyVpcAttributeCommand({ VpcId: id, EnableDnsHostnames: { Value: wanted.enable_dns_hostnames } }));
  };
  return {
    fixed: ["cidr_block", "instance_tenancy"],
    plain: ["assign_generated_ipv6_cidr_block"],
    affects: { assign_generated_ipv6_cidr_block: ["ipv6_cidr_block", "ipv6_association_id"] },
    read,
    async create(wanted) {
      const AmazonProvidedIpv6CidrBlock = wanted.assign_generated_ipv6_cidr_block === true;
      const { Vpc } = await ec2.send(
        new CreateVpcCommand({ CidrBlock: text(wanted.cidr_block), AmazonProvidedIpv6CidrBlock, ...tagged("vpc", wanted.tags) }),
      );
      await settle(Vpc!.VpcId!, wanted);
      return (await read({ ...wanted, id: Vpc!.VpcId! }))!;
    },
    async update(before, wanted) {
      const [had, wants] = [before.assign_generated_ipv6_cidr_block === true, wanted.assign_generated_ipv6_cidr_block === true];
      if (!had && wants) await ec2.send(new AssociateVpcCidrBlockCommand({ VpcId: text(before.id), AmazonProvidedIpv6CidrBlock: true }));
      if (had && !wants) {
        const AssociationId = text(before.ipv6_association_id);
        await persist(aws, `the end of ${AssociationId}`, inUse, () => ec2.send(new DisassociateVpcCidrBlockCommand({ AssociationId })));
      }
      await settle(text(before.id), wanted);
      await retag(aws, text(before.id), before.tags, wanted.tags);
      return (await read(wanted))!;
    },
    async delete({ id }) {
      await persist(aws, `the end of ${text(id)}`, inUse, () => ec2.send(new DeleteVpcCommand({ VpcId: text(id) })));
    },
  };
}

function subnet(aws: Aws): ResourceType {
  const { ec2 } = aws;
  const read = async (state: Fields): Promise<Fields | undefined> => {
    const found = (await unlessMissing(ec2.send(new DescribeSubnetsCommand({ SubnetIds: [text(state.id)] }))))?.Subnets?.[0];
    if (found === undefined) return undefined;
    return {
      id: found.SubnetId!,
      arn: found.SubnetArn ?? null,
      vpc_id: found.VpcId!,
      cidr_block: found.CidrBlock!,
      ipv6_cidr_block: found.Ipv6CidrBlockAssociationSet?.[0]?.Ipv6CidrBlock ?? state.ipv6_cidr_block ?? null,
      ipv6_cidr_block_association_id: found.Ipv6CidrBlockAssociationSet?.[0]?.AssociationId ?? null,
      assign_ipv6_address_on_creation: found.AssignIpv6AddressOnCreation || (state.assign_ipv6_address_on_creation ?? null),
      availability_zone: found.AvailabilityZone!,
      availability_zone_id: found.AvailabilityZoneId!,
      map_public_ip_on_launch: found.MapPublicIpOnLaunch ?? false,
      owner_id: found.OwnerId!,
      ...tagsIn(state, found.Tags),
    };
  };
  const settle = async (SubnetId: string, wanted: Fields) => {
    const [MapPublicIpOnLaunch, AssignIpv6AddressOnCreation] = [wanted.map_public_ip_on_launch, wanted.assign_ipv6_address_on_creation].map(
      (Value) => (typeof Value === "boolean" ? { Value } : undefined),
    );
    // One attribute at a time, as AWS wants it.
    if (MapPublicIpOnLaunch) await ec2.send(new ModifySubnetAttributeCommand({ SubnetId, MapPublicIpOnLaunch }));
    if (AssignIpv6AddressOnCreation) await ec2.send(new ModifySubnetAttributeCommand({ SubnetId, AssignIpv6AddressOnCreation }));
  };
  return {
    fixed: ["vpc_id", "cidr_block", "availability_zone"],
    plain: ["ipv6_cidr_block", "assign_ipv6_address_on_creation"],
    affects: { ipv6_cidr_block: ["ipv6_cidr_block_association_id"] },
    read,
    async create(wanted) {
      const { Subnet } = await ec2.send(
        new CreateSubnetCommand({
          VpcId: text(wanted.vpc_id),
          CidrBlock: text(wanted.cidr_block),
          AvailabilityZone: optionalText(wanted.availability_zone),
          Ipv6CidrBlock: optionalText(wanted.ipv6_cidr_block),
          ...tagged("subnet", wanted.tags),
        }),
      );
      await settle(Subnet!.SubnetId!, wanted);
      return (await read({ ...wanted, id: Subnet!.SubnetId! }))!;
    },
    async update(before, wanted) {
      const [SubnetId, Ipv6CidrBlock] = [text(before.id), optionalText(wanted.ipv6_cidr_block)];
      if (before.ipv6_cidr_block !== wanted.ipv6_cidr_block) {
        const AssociationId = optionalText(before.ipv6_cidr_block_association_id);
        if (AssociationId !== undefined) {
          await ec2.send(new ModifySubnetAttributeCommand({ SubnetId, AssignIpv6AddressOnCreation: { Value: false } }));
          await ec2.send(new DisassociateSubnetCidrBlockCommand({ AssociationId }));
        }
        if (Ipv6CidrBlock !== undefined) await ec2.send(new AssociateSubnetCidrBlockCommand({ SubnetId, Ipv6CidrBlock }));
      }
      await settle(SubnetId, wanted);
      await retag(aws, text(before.id), before.tags, wanted.tags);
      return (await read(wanted))!;
    },
    async delete({ id }) {
      await persist(aws, `the end of ${text(id)}`, inUse, () => ec2.send(new DeleteSubnetCommand({ SubnetId: text(id) })));
    },
  };
}

function internetGateway(aws: Aws): ResourceType {
  const { ec2 } = aws;
  const read = async (state: Fields): Promise<Fields | undefined> => {
    const asked = ec2.send(new DescribeInternetGatewaysCommand({ InternetGatewayIds: [text(state.id)] }));
    const found = (await unlessMissing(asked))?.InternetGateways?.[0];
    if (found === undefined) return undefined;
    return {
      id: found.InternetGatewayId!,
      vpc_id: found.Attachments?.[0]?.VpcId ?? null,
      owner_id: found.OwnerId!,
      ...tagsIn(state, found.Tags),
    };
  };
  return {
    fixed: ["vpc_id"],
    read,
    async create(wanted) {
      const { InternetGateway } = await ec2.send(new CreateInternetGatewayCommand(tagged("internet-gateway", wanted.tags)));
      const InternetGatewayId = InternetGateway!.InternetGatewayId!;
      await ec2.send(new AttachInternetGatewayCommand({ InternetGatewayId, VpcId: text(wanted.vpc_id) }));
      return (await read({ ...wanted, id: InternetGatewayId }))!;
    },
    async update(before, wanted) {
      await retag(aws, text(before.id), before.tags, wanted.tags);
      return (await read(wanted))!;
    },
    async delete({ id, vpc_id }) {
      const gateway = { InternetGatewayId: text(id) };
      await persist(aws, `the detachment of ${text(id)}`, inUse, () =>
        ec2.send(new DetachInternetGatewayCommand({ ...gateway, VpcId: text(vpc_id) })),
      );
      await ec2.send(new DeleteInternetGatewayCommand(gateway));
    },
  };
}

function natGateway(aws: Aws): ResourceType {
  const { ec2 } = aws;
  const find = async (id: string) => (await ec2.send(new DescribeNatGatewaysCommand({ NatGatewayIds: [id] }))).NatGateways![0]!;
  const read = async (state: Fields): Promise<Fields | undefined> => {
    const found = await unlessMissing(find(text(state.id)));
    if (found === undefined || found.State === "deleted") return undefined;
    const [main] = found.NatGatewayAddresses ?? [];
    return {
      id: found.NatGatewayId!,
      allocation_id: main?.AllocationId ?? null,
      association_id: main?.AssociationId ?? null,
      connectivity_type: found.ConnectivityType ?? null,
      network_interface_id: main?.NetworkInterfaceId ?? null,
      private_ip: main?.PrivateIp ?? null,
      public_ip: main?.PublicIp ?? null,
      subnet_id: found.SubnetId!,
      ...tagsIn(state, found.Tags),
    };
  };
  return {
    fixed: ["allocation_id", "subnet_id"],
    read,
    async create(wanted) {
      const { NatGateway } = await ec2.send(
        new CreateNatGatewayCommand({
          AllocationId: optionalText(wanted.allocation_id),
          SubnetId: text(wanted.subnet_id),
          ...tagged("natgateway", wanted.tags),
        }),
      );
      const id = NatGateway!.NatGatewayId!;
      await waitFor(aws, `${id} to be available`, async () => ((await find(id)).State === "available" ? id : undefined));
      return (await read({ ...wanted, id }))!;
    },
    async update(before, wanted) {
      await retag(aws, text(before.id), before.tags, wanted.tags);
      return (await read(wanted))!;
    },
    async delete({ id }) {
      await ec2.send(new DeleteNatGatewayCommand({ NatGatewayId: text(id) }));
      await waitFor(aws, `the end of ${text(id)}`, async () => ((await find(text(id))).State === "deleted" ? true : undefined));
    },
  };
}
