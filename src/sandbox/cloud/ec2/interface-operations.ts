/** What users do with network interfaces. */
import {
  AttachNetworkInterface$,
  type AttachNetworkInterfaceRequest,
  type AttachNetworkInterfaceResult,
  CreateNetworkInterface$,
  type CreateNetworkInterfaceRequest,
  type CreateNetworkInterfaceResult,
  DeleteNetworkInterface$,
  type DeleteNetworkInterfaceRequest,
  DescribeNetworkInterfaces$,
  type DescribeNetworkInterfacesRequest,
  type DescribeNetworkInterfacesResult,
  DetachNetworkInterface$,
  type DetachNetworkInterfaceRequest,
  ModifyNetworkInterfaceAttribute$,
  type ModifyNetworkInterfaceAttributeRequest,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { filtered } from "./filters.ts";
import { instanceTypeNamed } from "./instance-types.ts";
import { takePrefixes } from "./interface-addresses.ts";
import { describeInterface, interfaceFilters } from "./interface-answers.ts";
import { checkedGroups, createInterface, newAttachment, removeInterface } from "./interfaces.ts";
import { find, findAll, KINDS } from "./kinds.ts";
import { page } from "./pages.ts";
import type { Ec2, Instance, NetworkInterface } from "./state.ts";
import { needsCreateTags, specifiedTags } from "./tags.ts";

const DETACHING_MS = 5_000;

/** The operations on interfaces as a whole; those on their addresses are in `interface-addresses.ts`. */
export function interfaceOperations(ec2: Ec2): Operations {
  return [
    write<CreateNetworkInterfaceRequest, CreateNetworkInterfaceResult>(
      CreateNetworkInterface$,
      (input) => {
        const { ClientToken, ...parameters } = input;
        const { id } = ec2.tokens.once("CreateNetworkInterface", ClientToken, parameters, () => create(ec2, input));
        return { NetworkInterface: describeInterface(ec2, find(ec2.interfaces, KINDS.networkInterface, id)), ClientToken };
      },
      needsCreateTags,
    ),
    write<DeleteNetworkInterfaceRequest, void>(DeleteNetworkInterface$, (input) => {
      const networkInterface = find(ec2.interfaces, KINDS.networkInterface, input.NetworkInterfaceId!);
      if (networkInterface.attachment !== undefined) {
        throw new ServiceError("InvalidParameterValue", `Network interface '${networkInterface.id}' is currently in use.`);
      }
      removeInterface(ec2, networkInterface.id);
    }),
    read<DescribeNetworkInterfacesRequest, DescribeNetworkInterfacesResult>(DescribeNetworkInterfaces$, (input) => {
      const { NetworkInterfaceIds: ids } = input;
      if (ids?.length && input.MaxResults !== undefined) {
        throw new ServiceError(
          "InvalidParameterCombination",
          "The parameter networkInterfaceIds cannot be used with the parameter maxResults",
        );
      }
      const records = ids?.length ? findAll(ec2.interfaces, KINDS.networkInterface, ids) : ec2.interfaces.values();
      const { items, NextToken } = page(ec2, filtered(records, input.Filters, interfaceFilters(ec2)), (one) => one.id, input, {
        action: "DescribeNetworkInterfaces",
        min: 5,
        max: 1000,
        usual: 1000,
      });
      return { NetworkInterfaces: items.map((one) => describeInterface(ec2, one)), NextToken };
    }),
    write<AttachNetworkInterfaceRequest, AttachNetworkInterfaceResult>(AttachNetworkInterface$, (input) => attach(ec2, input)),
    write<DetachNetworkInterfaceRequest, void>(DetachNetworkInterface$, (input) => detach(ec2, input)),
    write<ModifyNetworkInterfaceAttributeRequest, void>(ModifyNetworkInterfaceAttribute$, (input) => modify(ec2, input)),
  ];
}

function create(ec2: Ec2, input: CreateNetworkInterfaceRequest): NetworkInterface {
  const listed = input.PrivateIpAddresses ?? [];
  const primary = input.PrivateIpAddress ?? listed.find((address) => address.Primary)?.PrivateIpAddress;
  const made = createInterface(ec2, {
    subnetId: input.SubnetId!,
    description: input.Description,
    groupIds: input.Groups,
    privateAddress: primary,
    secondaryAddresses: listed
      .map((address) => address.PrivateIpAddress)
      .filter((address) => address !== undefined && address !== primary) as string[],
    secondaryCount: input.SecondaryPrivateIpAddressCount,
    ipv6Addresses: input.Ipv6Addresses?.map((address) => address.Ipv6Address ?? ""),
    ipv6Count: input.Ipv6AddressCount,
    interfaceType: input.InterfaceType,
    tags: specifiedTags(input.TagSpecifications, KINDS.networkInterface),
  });
  return takePrefixes(ec2, made, {
    ipv4: input.Ipv4PrefixCount ?? input.Ipv4Prefixes?.length ?? 0,
    ipv6: input.Ipv6PrefixCount ?? input.Ipv6Prefixes?.length ?? 0,
  });
}

function attach(ec2: Ec2, input: AttachNetworkInterfaceRequest): AttachNetworkInterfaceResult {
  const networkInterface = find(ec2.interfaces, KINDS.networkInterface, input.NetworkInterfaceId!);
  const instance = find(ec2.instances, KINDS.instance, input.InstanceId!);
  if (networkInterface.attachment !== undefined)
    throw new ServiceError("InvalidNetworkInterface.InUse", `Interface: [${networkInterface.id}] in use.`);
  if (instance.state !== "running" && instance.state !== "stopped") {
    throw new ServiceError("IncorrectState", `Instance '${instance.id}' is not in a valid state for this operation.`);
  }
  if (networkInterface.zone !== instance.zone) {
    throw new ServiceError(
      "InvalidParameterCombination",
      "You may not attach a network interface to an instance if they are not in the same availability zone",
    );
  }
  checkRoom(ec2, instance, input.DeviceIndex!);
  const attachment = newAttachment(ec2, {
    instanceId: instance.id,
    instanceOwnerId: ec2.account.id,
    deviceIndex: input.DeviceIndex!,
    networkCardIndex: input.NetworkCardIndex ?? 0,
    deleteOnTermination: false,
  });
  ec2.interfaces.update(networkInterface.id, { attachment });
  ec2.instances.update(instance.id, { interfaceIds: [...instance.interfaceIds, networkInterface.id] });
  return { AttachmentId: attachment.id, NetworkCardIndex: attachment.networkCardIndex };
}

function checkRoom(ec2: Ec2, instance: Instance, deviceIndex: number): void {
  if (instance.interfaceIds.some((id) => ec2.interfaces.get(id)?.attachment?.deviceIndex === deviceIndex)) {
    throw new ServiceError(
      "InvalidParameterValue",
      `Instance '${instance.id}' already has an interface attached at device index '${deviceIndex}'.`,
    );
  }
  const limit = instanceTypeNamed(instance.type)?.interfaces ?? 2;
  if (instance.interfaceIds.length >= limit) {
    throw new ServiceError(
      "AttachmentLimitExceeded",
      `Interface count ${instance.interfaceIds.length + 1} exceeds the limit for ${instance.type}`,
    );
  }
}

function detach(ec2: Ec2, input: DetachNetworkInterfaceRequest): void {
  const networkInterface = ec2.interfaces.values().find((one) => one.attachment?.id === input.AttachmentId);
  const attachment = networkInterface?.attachment;
  if (networkInterface === undefined || attachment === undefined) {
    throw new ServiceError("InvalidAttachmentID.NotFound", `The attachment '${input.AttachmentId}' does not exist.`);
  }
  if (networkInterface.requesterId !== undefined) {
    throw new ServiceError("OperationNotPermitted", "You are not allowed to manage 'ela-attach' attachments.");
  }
  if (attachment.deviceIndex === 0) {
    throw new ServiceError("OperationNotPermitted", "The network interface at device index 0 cannot be detached.");
  }
  ec2.interfaces.update(networkInterface.id, { attachment: { ...attachment, status: "detaching" } });
  ec2.account.time.after(DETACHING_MS, () => {
    const instance = ec2.instances.get(attachment.instanceId ?? "");
    if (instance !== undefined) {
      ec2.instances.update(instance.id, { interfaceIds: instance.interfaceIds.filter((id) => id !== networkInterface.id) });
    }
    if (ec2.interfaces.has(networkInterface.id)) ec2.interfaces.update(networkInterface.id, { attachment: undefined });
  });
}

function modify(ec2: Ec2, input: ModifyNetworkInterfaceAttributeRequest): void {
  const networkInterface = find(ec2.interfaces, KINDS.networkInterface, input.NetworkInterfaceId!);
  if (networkInterface.requesterId !== undefined) {
    throw new ServiceError("AuthFailure", "You do not have permission to access the specified resource.", 401);
  }
  const { attachment } = networkInterface;
  const wanted = input.Attachment;
  if (wanted !== undefined && (attachment === undefined || wanted.AttachmentId !== attachment.id)) {
    throw new ServiceError("InvalidAttachmentID.NotFound", `The attachment '${wanted.AttachmentId ?? ""}' does not exist.`);
  }
  ec2.interfaces.update(networkInterface.id, {
    groupIds: input.Groups?.length ? checkedGroups(ec2, networkInterface.vpcId, input.Groups) : networkInterface.groupIds,
    sourceDestCheck: input.SourceDestCheck?.Value ?? networkInterface.sourceDestCheck,
    description: input.Description?.Value ?? networkInterface.description,
    attachment: attachment && { ...attachment, deleteOnTermination: wanted?.DeleteOnTermination ?? attachment.deleteOnTermination },
  });
}
