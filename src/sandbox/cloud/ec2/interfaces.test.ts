import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AssignIpv6AddressesCommand,
  AssignPrivateIpAddressesCommand,
  AttachNetworkInterfaceCommand,
  CreateNetworkInterfaceCommand,
  DeleteNetworkInterfaceCommand,
  DescribeInstancesCommand,
  DescribeNetworkInterfacesCommand,
  DescribeSubnetsCommand,
  DetachNetworkInterfaceCommand,
  type EC2Client,
  ModifyNetworkInterfaceAttributeCommand,
} from "@aws-sdk/client-ec2";
import { launchNodes } from "../network.ts";
import { networkBed, refused } from "../testing.ts";
import { createServiceInterface } from "./interfaces.ts";

const MINUTE = 60_000;

const create = async (ec2: EC2Client, input: CreateNetworkInterfaceCommand["input"]) =>
  (await ec2.send(new CreateNetworkInterfaceCommand(input))).NetworkInterface!;

test("ENIs: deleting an attached one is refused; the implicit primary one goes with its instance", async () => {
  const { ec2, network, cloud } = networkBed();
  const [node] = launchNodes(cloud, network, 1);
  const id = node!.interfaceIds[0]!;
  await refused(ec2.send(new DeleteNetworkInterfaceCommand({ NetworkInterfaceId: id })), "InvalidParameterValue", 400);
  const { NetworkInterfaces } = await ec2.send(new DescribeNetworkInterfacesCommand({ NetworkInterfaceIds: [id] }));
  assert.equal(NetworkInterfaces?.[0]?.Attachment?.DeleteOnTermination, true);
});

test("ENIs: prefixes are delegated and take sixteen addresses of the subnet each", async () => {
  const { ec2, network } = networkBed({ ipv6: true });
  const SubnetId = network.privateSubnetIds[0]!;
  const free = async () => (await ec2.send(new DescribeSubnetsCommand({ SubnetIds: [SubnetId] }))).Subnets![0]!.AvailableIpAddressCount!;
  const before = await free();
  const made = await create(ec2, { SubnetId, Ipv4PrefixCount: 2, Ipv6PrefixCount: 1 });
  assert.deepEqual(
    made.Ipv4Prefixes?.map((prefix) => prefix.Ipv4Prefix),
    ["10.0.32.16/28", "10.0.32.32/28"],
  );
  assert.match(made.Ipv6Prefixes![0]!.Ipv6Prefix!, /\/80$/);
  assert.equal(await free(), before - 33);
});

test("AssignIpv6Addresses on a subnet without IPv6 is refused", async () => {
  const { ec2, network } = networkBed();
  const { NetworkInterfaceId } = await create(ec2, { SubnetId: network.privateSubnetIds[0] });
  await refused(ec2.send(new AssignIpv6AddressesCommand({ NetworkInterfaceId, Ipv6AddressCount: 1 })), "InvalidParameterValue", 400);
});

test("ENIs filter by attachment.status and ipv6-addresses.ipv6-address, and group-id matches any of several values", async () => {
  const { ec2, network, cloud } = networkBed({ ipv6: true });
  const [node] = launchNodes(cloud, network, 1);
  const loose = await create(ec2, { SubnetId: network.privateSubnetIds[0], Ipv6AddressCount: 1 });
  const ids = async (Name: string, ...Values: string[]) =>
    (await ec2.send(new DescribeNetworkInterfacesCommand({ Filters: [{ Name, Values }] }))).NetworkInterfaces!.map(
      (one) => one.NetworkInterfaceId,
    );
  assert.deepEqual(await ids("attachment.status", "attached"), node!.interfaceIds);
  assert.deepEqual(await ids("ipv6-addresses.ipv6-address", loose.Ipv6Addresses![0]!.Ipv6Address!), [loose.NetworkInterfaceId]);
  assert.equal((await ids("group-id", network.nodeGroupId, loose.Groups![0]!.GroupId!, "sg-none")).length, 2);
});

test("AssignPrivateIpAddresses answers with the added addresses only", async () => {
  const { ec2, network } = networkBed();
  const { NetworkInterfaceId, PrivateIpAddress } = await create(ec2, { SubnetId: network.privateSubnetIds[0] });
  const answer = await ec2.send(new AssignPrivateIpAddressesCommand({ NetworkInterfaceId, SecondaryPrivateIpAddressCount: 2 }));
  const added = answer.AssignedPrivateIpAddresses!.map((address) => address.PrivateIpAddress);
  assert.equal(added.length, 2);
  assert.ok(!added.includes(PrivateIpAddress));
});

test("Attach and detach: limits of the type, device index in use, the primary one stays, detaching takes time", async () => {
  const { ec2, network, cloud, world } = networkBed();
  const [node] = launchNodes(cloud, network, 1);
  world.pass(MINUTE);
  const SubnetId = network.privateSubnetIds[0];
  const attach = async (DeviceIndex: number) => {
    const { NetworkInterfaceId } = await create(ec2, { SubnetId });
    return ec2.send(new AttachNetworkInterfaceCommand({ InstanceId: node!.id, NetworkInterfaceId, DeviceIndex }));
  };
  const { AttachmentId } = await attach(1);
  await refused(attach(1), "InvalidParameterValue");
  await attach(2);
  await refused(attach(3), "AttachmentLimitExceeded");
  const { Reservations } = await ec2.send(new DescribeInstancesCommand({ InstanceIds: [node!.id] }));
  const interfaces = Reservations![0]!.Instances![0]!.NetworkInterfaces!;
  assert.deepEqual(
    interfaces.map((one) => one.Attachment?.DeviceIndex),
    [0, 1, 2],
  );
  await refused(
    ec2.send(new DetachNetworkInterfaceCommand({ AttachmentId: interfaces[0]!.Attachment!.AttachmentId })),
    "OperationNotPermitted",
  );
  await ec2.send(new DetachNetworkInterfaceCommand({ AttachmentId }));
  const second = async () =>
    (await ec2.send(new DescribeNetworkInterfacesCommand({ NetworkInterfaceIds: [interfaces[1]!.NetworkInterfaceId!] })))
      .NetworkInterfaces![0]!;
  assert.equal((await second()).Attachment?.Status, "detaching");
  world.pass(MINUTE);
  assert.equal((await second()).Status, "available");
});

test("An interface that a service holds is marked as requester-managed and refuses its user", async () => {
  const { ec2, network, cloud } = networkBed();
  const service = { requesterId: "amazon-elb", ownerId: "amazon-elb", publicIp: true };
  const { id } = createServiceInterface(cloud.account.ec2, service, { subnetId: network.publicSubnetIds[0]!, description: "ELB web" });
  const { NetworkInterfaces } = await ec2.send(
    new DescribeNetworkInterfacesCommand({ Filters: [{ Name: "description", Values: ["ELB *"] }] }),
  );
  const [held] = NetworkInterfaces!;
  assert.deepEqual([held?.NetworkInterfaceId, held?.RequesterManaged, held?.Status], [id, true, "in-use"]);
  assert.ok(held?.Association?.PublicIp);
  await refused(ec2.send(new DetachNetworkInterfaceCommand({ AttachmentId: held?.Attachment?.AttachmentId })), "OperationNotPermitted");
  await refused(ec2.send(new DeleteNetworkInterfaceCommand({ NetworkInterfaceId: id })), "InvalidParameterValue");
  await refused(
    ec2.send(new ModifyNetworkInterfaceAttributeCommand({ NetworkInterfaceId: id, Groups: [network.nodeGroupId] })),
    "AuthFailure",
  );
});

test("A wished address must be in the subnet, not AWS's own, and free", async () => {
  const { ec2, network } = networkBed({ ipv6: true });
  const SubnetId = network.publicSubnetIds[0];
  const wish = (PrivateIpAddress: string) => create(ec2, { SubnetId, PrivateIpAddress });
  await refused(wish("10.0.1.9"), "InvalidParameterValue");
  await refused(wish("10.0.0.3"), "InvalidParameterValue");
  await refused(wish("10.0.0.255"), "InvalidParameterValue");
  await wish("10.0.0.4");
  await refused(wish("10.0.0.4"), "InvalidIPAddress.InUse");
  assert.equal((await create(ec2, { SubnetId })).PrivateIpAddress, "10.0.0.5");
  await refused(create(ec2, { SubnetId, Ipv6Addresses: [{ Ipv6Address: "2001:db8::1" }] }), "InvalidParameterValue");
});
