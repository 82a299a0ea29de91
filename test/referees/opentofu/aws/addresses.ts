/** Elastic addresses and their associations. */
import {
  AllocateAddressCommand,
  AssociateAddressCommand,
  DescribeAddressesCommand,
  DisassociateAddressCommand,
  ReleaseAddressCommand,
} from "@aws-sdk/client-ec2";
import type { Fields } from "../plan.ts";
import type { ResourceType } from "../plugin.ts";
import { type Aws, optionalText, persist, retag, tagged, tagsIn, text, unlessMissing } from "./account.ts";

export function addressTypes(aws: Aws): Readonly<Record<string, ResourceType>> {
  return {
    aws_eip: address(aws),
    aws_eip_association: addressAssociation(aws),
  };
}

function address(aws: Aws): ResourceType {
  const { ec2 } = aws;
  const read = async (state: Fields): Promise<Fields | undefined> => {
    const found = (await unlessMissing(ec2.send(new DescribeAddressesCommand({ AllocationIds: [text(state.id)] }))))?.Addresses?.[0];
    if (found === undefined) return undefined;
    return {
      id: found.AllocationId!,
      allocation_id: found.AllocationId!,
      association_id: found.AssociationId ?? null,
      domain: found.Domain!,
      instance: found.InstanceId ?? null,
      network_border_group: found.NetworkBorderGroup ?? null,
      network_interface: found.NetworkInterfaceId ?? null,
      private_ip: found.PrivateIpAddress ?? null,
      public_ip: found.PublicIp!,
      public_ipv4_pool: found.PublicIpv4Pool ?? null,
      ...tagsIn(state, found.Tags),
    };
  };
  return {
    fixed: ["domain", "network_border_group"],
    read,
    async create(wanted) {
      const NetworkBorderGroup = optionalText(wanted.network_border_group);
      const { AllocationId } = await ec2.send(
        new AllocateAddressCommand({ Domain: "vpc", NetworkBorderGroup, ...tagged("elastic-ip", wanted.tags) }),
      );
      return (await read({ ...wanted, id: AllocationId! }))!;
    },
    async update(before, wanted) {
      await retag(aws, text(before.id), before.tags, wanted.tags);
      return (await read(wanted))!;
    },
    async delete({ id }) {
      await persist(aws, `the release of ${text(id)}`, ["InvalidIPAddress.InUse"], () =>
        ec2.send(new ReleaseAddressCommand({ AllocationId: text(id) })),
      );
    },
  };
}

function addressAssociation({ ec2 }: Aws): ResourceType {
  const read = async (state: Fields): Promise<Fields | undefined> => {
    const Filters = [{ Name: "association-id", Values: [text(state.id)] }];
    const found = (await ec2.send(new DescribeAddressesCommand({ Filters }))).Addresses?.[0];
    if (found === undefined) return undefined;
    return {
      id: found.AssociationId!,
      allocation_id: found.AllocationId!,
      instance_id: found.InstanceId ?? null,
      network_interface_id: found.NetworkInterfaceId ?? null,
      private_ip_address: found.PrivateIpAddress ?? null,
      public_ip: found.PublicIp!,
    };
  };
  return {
    fixed: ["allocation_id", "instance_id"],
    read,
    async create(wanted) {
      const input = { AllocationId: text(wanted.allocation_id), InstanceId: text(wanted.instance_id) };
      const { AssociationId } = await ec2.send(new AssociateAddressCommand(input));
      return (await read({ ...wanted, id: AssociationId! }))!;
    },
    async delete({ id }) {
      await unlessMissing(ec2.send(new DisassociateAddressCommand({ AssociationId: text(id) })));
    },
  };
}
