/** Network interfaces and elastic addresses. */
import {
  AllocateAddressCommand,
  AssignPrivateIpAddressesCommand,
  AssociateAddressCommand,
  AttachNetworkInterfaceCommand,
  CreateNetworkInterfaceCommand,
  DeleteNetworkInterfaceCommand,
  DescribeAddressesCommand,
  DescribeNetworkInterfacesCommand,
  DetachNetworkInterfaceCommand,
  DisassociateAddressCommand,
  ModifyNetworkInterfaceAttributeCommand,
  ReleaseAddressCommand,
  UnassignPrivateIpAddressesCommand,
} from "@aws-sdk/client-ec2";
import { asker, type Exchange } from "../script.ts";

const ask = asker("ec2");

export const interfaceExchanges: readonly Exchange[] = [
  ask(
    "an interface is created",
    CreateNetworkInterfaceCommand,
    {
      SubnetId: "$subnetB",
      Description: "pods",
      Groups: ["$nodes"],
      PrivateIpAddress: "10.0.2.50",
      TagSpecifications: [{ ResourceType: "network-interface", Tags: [{ Key: "Name", Value: "pods" }] }],
    },
    { interface: "NetworkInterface.NetworkInterfaceId" },
  ),
  ask("an interface is created with an address that is taken", CreateNetworkInterfaceCommand, {
    SubnetId: "$subnetB",
    PrivateIpAddress: "10.0.2.10",
  }),
  ask("an interface is created in a subnet that does not exist", CreateNetworkInterfaceCommand, {
    SubnetId: "subnet-0123456789abcdef0",
  }),
  ask("an interface is created with a group that does not exist", CreateNetworkInterfaceCommand, {
    SubnetId: "$subnetB",
    Groups: ["sg-0123456789abcdef0"],
  }),
  ask("an interface by id", DescribeNetworkInterfacesCommand, { NetworkInterfaceIds: ["$interface"] }),
  ask(
    "an interface is attached",
    AttachNetworkInterfaceCommand,
    { NetworkInterfaceId: "$interface", InstanceId: "$node", DeviceIndex: 1 },
    { attachment: "AttachmentId" },
  ),
  ask("an attached interface", DescribeNetworkInterfacesCommand, { NetworkInterfaceIds: ["$interface"] }),
  ask("the interfaces of an instance", DescribeNetworkInterfacesCommand, {
    Filters: [{ Name: "attachment.instance-id", Values: ["$node"] }],
  }),
  ask("the interfaces of a security group in a subnet", DescribeNetworkInterfacesCommand, {
    Filters: [
      { Name: "group-id", Values: ["$nodes"] },
      { Name: "subnet-id", Values: ["$subnetB"] },
    ],
  }),
  ask("interfaces by description", DescribeNetworkInterfacesCommand, { Filters: [{ Name: "description", Values: ["pods"] }] }),
  ask("interfaces by a private address", DescribeNetworkInterfacesCommand, {
    Filters: [{ Name: "addresses.private-ip-address", Values: ["10.0.2.50"] }],
  }),
  ask("an interface that does not exist", DescribeNetworkInterfacesCommand, { NetworkInterfaceIds: ["eni-0123456789abcdef0"] }),
  ask("an interface is given another address", AssignPrivateIpAddressesCommand, {
    NetworkInterfaceId: "$interface",
    PrivateIpAddresses: ["10.0.2.51"],
  }),
  ask("an interface with two addresses", DescribeNetworkInterfacesCommand, { NetworkInterfaceIds: ["$interface"] }),
  ask("an address is taken from an interface", UnassignPrivateIpAddressesCommand, {
    NetworkInterfaceId: "$interface",
    PrivateIpAddresses: ["10.0.2.51"],
  }),
  ask("the groups of an interface are changed", ModifyNetworkInterfaceAttributeCommand, {
    NetworkInterfaceId: "$interface",
    Groups: ["$nodes", "$balancer"],
  }),
  ask("an interface is told to route for others", ModifyNetworkInterfaceAttributeCommand, {
    NetworkInterfaceId: "$interface",
    SourceDestCheck: { Value: false },
  }),
  ask("an interface after its changes", DescribeNetworkInterfacesCommand, { NetworkInterfaceIds: ["$interface"] }),
  ask(
    "another interface is created",
    CreateNetworkInterfaceCommand,
    { SubnetId: "$subnetB", Groups: ["$nodes"], PrivateIpAddress: "10.0.2.60" },
    { otherInterface: "NetworkInterface.NetworkInterfaceId" },
  ),
  ask("another interface is attached", AttachNetworkInterfaceCommand, {
    NetworkInterfaceId: "$otherInterface",
    InstanceId: "$twinA",
    DeviceIndex: 1,
  }),
  ask("an attached interface is attached again", AttachNetworkInterfaceCommand, {
    NetworkInterfaceId: "$otherInterface",
    InstanceId: "$twinB",
    DeviceIndex: 1,
  }),
  ask("an interface in use is deleted", DeleteNetworkInterfaceCommand, { NetworkInterfaceId: "$nodeInterface" }),
];

export const addressExchanges: readonly Exchange[] = [
  ask(
    "an address is allocated",
    AllocateAddressCommand,
    { Domain: "vpc", TagSpecifications: [{ ResourceType: "elastic-ip", Tags: [{ Key: "Name", Value: "front" }] }] },
    { allocation: "AllocationId", address: "PublicIp" },
  ),
  ask("an address by its allocation", DescribeAddressesCommand, { AllocationIds: ["$allocation"] }),
  ask("an address by itself", DescribeAddressesCommand, { PublicIps: ["$address"] }),
  ask("addresses by a tag", DescribeAddressesCommand, { Filters: [{ Name: "tag:Name", Values: ["front"] }] }),
  ask("an allocation that does not exist", DescribeAddressesCommand, { AllocationIds: ["eipalloc-0123456789abcdef0"] }),
  ask(
    "an address is associated with an interface",
    AssociateAddressCommand,
    { AllocationId: "$allocation", NetworkInterfaceId: "$interface" },
    { addressAssociation: "AssociationId" },
  ),
  ask("an associated address", DescribeAddressesCommand, { AllocationIds: ["$allocation"] }),
  ask("the interface of an associated address", DescribeNetworkInterfacesCommand, { NetworkInterfaceIds: ["$interface"] }),
  ask("an address is set free", DisassociateAddressCommand, { AssociationId: "$addressAssociation" }),
  ask("an address is set free twice", DisassociateAddressCommand, { AssociationId: "$addressAssociation" }),
  ask(
    "an address is associated again",
    AssociateAddressCommand,
    { AllocationId: "$allocation", NetworkInterfaceId: "$interface" },
    { addressAssociation: "AssociationId" },
  ),
  ask("an associated address is released", ReleaseAddressCommand, { AllocationId: "$allocation" }),
  ask("an address that could not be released is set free", DisassociateAddressCommand, { AssociationId: "$addressAssociation" }),
  ask("an address that does not exist is released", ReleaseAddressCommand, { AllocationId: "eipalloc-0123456789abcdef0" }),
  ask("an address is allocated to be released", AllocateAddressCommand, { Domain: "vpc" }, { spare: "AllocationId" }),
  ask("an address is released", ReleaseAddressCommand, { AllocationId: "$spare" }),
  ask("an address that was released", DescribeAddressesCommand, { AllocationIds: ["$spare"] }),
];

/** The interface goes, with nothing on it any more. */
export const interfaceEndExchanges: readonly Exchange[] = [
  ask("an interface is detached", DetachNetworkInterfaceCommand, { AttachmentId: "$attachment" }),
  ask("a detached interface", DescribeNetworkInterfacesCommand, { NetworkInterfaceIds: ["$interface"] }),
  ask("an interface is deleted", DeleteNetworkInterfaceCommand, { NetworkInterfaceId: "$interface" }),
  ask("an interface is deleted twice", DeleteNetworkInterfaceCommand, { NetworkInterfaceId: "$interface" }),
];
