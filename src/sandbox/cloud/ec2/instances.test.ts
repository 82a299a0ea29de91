import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CreateNetworkInterfaceCommand,
  DescribeInstanceAttributeCommand,
  DescribeInstanceStatusCommand,
  DescribeInstancesCommand,
  DescribeInstanceTopologyCommand,
  DescribeInstanceTypesCommand,
  DescribeNetworkInterfacesCommand,
  type EC2Client,
  type Filter,
  type Instance,
  ModifyInstanceAttributeCommand,
  ModifyNetworkInterfaceAttributeCommand,
  ModifyPrivateDnsNameOptionsCommand,
  RunInstancesCommand,
  type RunInstancesCommandInput,
  StartInstancesCommand,
  StopInstancesCommand,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import { launchNodes } from "../network.ts";
import { networkBed, refused } from "../testing.ts";
import { ailments } from "./instance-queries.ts";

const LAUNCH = { ImageId: "ami-0123456789abcdef0", InstanceType: "m5.large", MinCount: 1, MaxCount: 1 } satisfies RunInstancesCommandInput;
const MINUTE = 60_000;

async function run(ec2: EC2Client, input: Partial<RunInstancesCommandInput>): Promise<Instance> {
  const { Instances } = await ec2.send(new RunInstancesCommand({ ...LAUNCH, ...input }));
  return Instances![0]!;
}

async function describe(ec2: EC2Client, id: string): Promise<Instance> {
  const { Reservations } = await ec2.send(new DescribeInstancesCommand({ InstanceIds: [id] }));
  return Reservations![0]!.Instances![0]!;
}

async function matching(ec2: EC2Client, ...Filters: Filter[]): Promise<string[]> {
  const { Reservations } = await ec2.send(new DescribeInstancesCommand({ Filters }));
  return Reservations!.flatMap((reservation) => reservation.Instances!.map((instance) => instance.InstanceId!));
}

test("RunInstances honours Ipv6AddressCount inside NetworkInterfaces[]", async () => {
  const { ec2, network } = networkBed({ ipv6: true });
  const made = await run(ec2, { NetworkInterfaces: [{ DeviceIndex: 0, SubnetId: network.privateSubnetIds[0], Ipv6AddressCount: 2 }] });
  const seen = await describe(ec2, made.InstanceId!);
  assert.equal(seen.NetworkInterfaces![0]!.Ipv6Addresses!.length, 2);
  assert.equal(seen.Ipv6Address, seen.NetworkInterfaces![0]!.Ipv6Addresses![0]!.Ipv6Address);
});

test("RunInstances names by resource when PrivateDnsNameOptions or the subnet ask for it, and returns the options", async () => {
  const { ec2, network } = networkBed();
  const byAddress = await run(ec2, { SubnetId: network.privateSubnetIds[0] });
  assert.match(byAddress.PrivateDnsName!, /^ip-10-0-\d+-\d+\.ec2\.internal$/);
  const byId = await run(ec2, { SubnetId: network.privateSubnetIds[0], PrivateDnsNameOptions: { HostnameType: "resource-name" } });
  assert.equal(byId.PrivateDnsName, `${byId.InstanceId}.ec2.internal`);
  assert.equal(byId.PrivateDnsNameOptions?.HostnameType, "resource-name");
  const other = networkBed({ hostnameType: "resource-name" }, { region: "eu-central-1" });
  const bySubnet = await run(other.ec2, { SubnetId: other.network.privateSubnetIds[0] });
  assert.equal(bySubnet.PrivateDnsName, `${bySubnet.InstanceId}.eu-central-1.compute.internal`);
});

test("RunInstances with the same ClientToken launches once; with other parameters it is a mismatch", async () => {
  const { ec2, network } = networkBed();
  const first = await run(ec2, { SubnetId: network.privateSubnetIds[0], ClientToken: "once" });
  const again = await run(ec2, { SubnetId: network.privateSubnetIds[0], ClientToken: "once" });
  assert.equal(again.InstanceId, first.InstanceId);
  await refused(run(ec2, { SubnetId: network.privateSubnetIds[1], ClientToken: "once" }), "IdempotentParameterMismatch", 400);
  assert.equal((await matching(ec2, { Name: "client-token", Values: ["once"] })).length, 1);
});

test("RunInstances keeps network-interface tags, Placement.GroupName and PartitionNumber", async () => {
  const { ec2, network } = networkBed();
  const made = await run(ec2, {
    SubnetId: network.privateSubnetIds[0],
    Placement: { GroupName: "racks", PartitionNumber: 2 },
    TagSpecifications: [{ ResourceType: "network-interface", Tags: [{ Key: "a", Value: "b" }] }],
  });
  assert.equal(made.Placement?.GroupName, "racks");
  assert.equal(made.Placement?.PartitionNumber, 2);
  const { NetworkInterfaces } = await ec2.send(
    new DescribeNetworkInterfacesCommand({ Filters: [{ Name: "attachment.instance-id", Values: [made.InstanceId!] }] }),
  );
  assert.deepEqual(NetworkInterfaces?.[0]?.TagSet, [{ Key: "a", Value: "b" }]);
});

test("RunInstances returns Placement.AvailabilityZoneId, CpuOptions and EnaSupport", async () => {
  const { ec2, network } = networkBed();
  const made = await run(ec2, { SubnetId: network.privateSubnetIds[0] });
  assert.match(made.Placement!.AvailabilityZoneId!, /^use1-az\d$/);
  assert.deepEqual(made.CpuOptions, { CoreCount: 1, ThreadsPerCore: 2 });
  assert.equal(made.EnaSupport, true);
});

test("Instance-level SecurityGroups are filled when given through NetworkInterfaces[] and by default", async () => {
  const { ec2, network } = networkBed();
  const given = await run(ec2, {
    NetworkInterfaces: [{ DeviceIndex: 0, SubnetId: network.privateSubnetIds[0], Groups: [network.nodeGroupId] }],
  });
  assert.deepEqual(given.SecurityGroups, [{ GroupId: network.nodeGroupId, GroupName: "test-nodes" }]);
  const byDefault = await run(ec2, { SubnetId: network.privateSubnetIds[0] });
  assert.equal(byDefault.SecurityGroups?.[0]?.GroupName, "default");
});

test("DescribeInstances refuses a malformed id with Malformed, and names every missing id in NotFound", async () => {
  const { ec2, network, cloud } = networkBed();
  const [known] = launchNodes(cloud, network, 1);
  await refused(describe(ec2, "i-zzz"), "InvalidInstanceID.Malformed", 400);
  const message = await refused(
    ec2.send(new DescribeInstancesCommand({ InstanceIds: [known!.id, "i-0000000000000000a", "i-0000000000000000b"] })),
    "InvalidInstanceID.NotFound",
    400,
  );
  assert.equal(message, "The instance IDs 'i-0000000000000000a, i-0000000000000000b' do not exist");
});

test("DescribeInstances filters by network-interface.*, ipv6-address, block-device-mapping.* and private-dns-name-options.*", async () => {
  const { ec2, network, cloud } = networkBed({ ipv6: true });
  const [one, other] = launchNodes(cloud, network, 2);
  const seen = await describe(ec2, one!.id);
  const networkInterface = seen.NetworkInterfaces![0]!;
  for (const [Name, Value] of [
    ["network-interface.network-interface-id", networkInterface.NetworkInterfaceId!],
    ["network-interface.addresses.private-ip-address", seen.PrivateIpAddress!],
    ["network-interface.private-dns-name", networkInterface.PrivateDnsName!],
    ["network-interface.subnet-id", network.privateSubnetIds[0]!],
    ["ipv6-address", seen.Ipv6Address!],
    ["block-device-mapping.volume-id", seen.BlockDeviceMappings![0]!.Ebs!.VolumeId!],
  ] as const) {
    assert.deepEqual(await matching(ec2, { Name, Values: [Value] }), [one!.id], Name);
  }
  const both = await matching(ec2, { Name: "private-dns-name-options.hostname-type", Values: ["ip-name"] });
  assert.deepEqual(both.sort(), [one!.id, other!.id].sort());
});

test("DescribeInstances takes wildcards outside tags", async () => {
  const { ec2, network, cloud } = networkBed();
  const [first] = launchNodes(cloud, network, 3);
  assert.deepEqual(await matching(ec2, { Name: "private-dns-name", Values: ["ip-10-0-32-?.*"] }), [first!.id]);
});

test("An unknown filter is refused with InvalidParameterValue whether or not there is something to filter", async () => {
  const { ec2, network, cloud } = networkBed();
  const ask = () => matching(ec2, { Name: "no-such-filter", Values: ["x"] });
  assert.equal(await refused(ask(), "InvalidParameterValue", 400), "The filter 'no-such-filter' is invalid");
  launchNodes(cloud, network, 1);
  await refused(ask(), "InvalidParameterValue", 400);
});

test("More than 200 values in a filter are refused", async () => {
  const { ec2 } = networkBed();
  const Values = Array.from({ length: 201 }, (_, index) => `ip-${index}`);
  await refused(matching(ec2, { Name: "private-dns-name", Values }), "FilterLimitExceeded", 400);
  assert.deepEqual(await matching(ec2, { Name: "private-dns-name", Values: Values.slice(1) }), []);
});

test("Instance states take their time: pending, running, stopping, stopped, pending, shutting-down, terminated", async () => {
  const { ec2, network, world } = networkBed();
  const { InstanceId: id } = await run(ec2, { SubnetId: network.privateSubnetIds[0] });
  const ids = { InstanceIds: [id!] };
  const state = async () => (await describe(ec2, id!)).State?.Name;
  const story = [await state()];
  world.pass(MINUTE);
  story.push(await state());
  await ec2.send(new StopInstancesCommand(ids));
  story.push(await state());
  world.pass(MINUTE);
  story.push(await state());
  await ec2.send(new StartInstancesCommand(ids));
  story.push(await state());
  const change = await ec2.send(new TerminateInstancesCommand(ids));
  assert.equal(change.TerminatingInstances?.[0]?.PreviousState?.Name, "pending");
  story.push(await state());
  world.pass(MINUTE);
  story.push(await state());
  assert.deepEqual(story, ["pending", "running", "stopping", "stopped", "pending", "shutting-down", "terminated"]);
});

test("A terminated instance loses IP, DNS name, ENIs and VPC, keeps its tags, no longer matches private-dns-name, and is forgotten after an hour", async () => {
  const { ec2, network, cloud, world } = networkBed();
  const { id, privateDnsName } = launchNodes(cloud, network, 1)[0]!;
  world.pass(MINUTE);
  await ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
  world.pass(MINUTE);
  const gone = await describe(ec2, id);
  assert.equal(gone.State?.Name, "terminated");
  assert.equal(gone.PrivateDnsName || undefined, undefined);
  assert.deepEqual(
    [gone.PrivateIpAddress, gone.VpcId, gone.SubnetId, gone.NetworkInterfaces, gone.SecurityGroups],
    [undefined, undefined, undefined, [], []],
  );
  assert.equal(gone.Tags?.length, 2);
  assert.deepEqual(await matching(ec2, { Name: "private-dns-name", Values: [privateDnsName] }), []);
  const { NetworkInterfaces } = await ec2.send(new DescribeNetworkInterfacesCommand({}));
  assert.deepEqual(NetworkInterfaces, []);
  world.pass(61 * MINUTE);
  await refused(describe(ec2, id), "InvalidInstanceID.NotFound");
});

test("A terminated instance cannot be started again", async () => {
  const { ec2, network, cloud, world } = networkBed();
  const [node] = launchNodes(cloud, network, 1);
  await ec2.send(new TerminateInstancesCommand({ InstanceIds: [node!.id] }));
  world.pass(MINUTE);
  await refused(ec2.send(new StartInstancesCommand({ InstanceIds: [node!.id] })), "IncorrectInstanceState", 400);
});

test("Termination protection refuses, and one protected instance keeps its neighbours alive", async () => {
  const { ec2, network, cloud } = networkBed();
  const [free] = launchNodes(cloud, network, 1);
  const { InstanceId: kept } = await run(ec2, { SubnetId: network.privateSubnetIds[0], DisableApiTermination: true });
  await refused(ec2.send(new TerminateInstancesCommand({ InstanceIds: [free!.id, kept!] })), "OperationNotPermitted");
  assert.equal((await describe(ec2, free!.id)).State?.Name, "pending");
});

test("A lent public address goes with a stop and another comes with the start; an instance in a public subnet has a public name", async () => {
  const { ec2, network, world } = networkBed();
  const { InstanceId: id } = await run(ec2, { SubnetId: network.publicSubnetIds[0] });
  world.pass(MINUTE);
  const before = await describe(ec2, id!);
  assert.match(before.PublicDnsName!, /^ec2-198-18-\d+-\d+\.compute-1\.amazonaws\.com$/);
  await ec2.send(new StopInstancesCommand({ InstanceIds: [id!] }));
  world.pass(MINUTE);
  assert.equal((await describe(ec2, id!)).PublicIpAddress, undefined);
  await ec2.send(new StartInstancesCommand({ InstanceIds: [id!] }));
  assert.notEqual((await describe(ec2, id!)).PublicIpAddress, before.PublicIpAddress);
});

test("DescribeInstanceStatus: initialising, ok, impaired, and scheduled events", async () => {
  const { ec2, network, cloud, world } = networkBed();
  const [node] = launchNodes(cloud, network, 1);
  const status = async () => (await ec2.send(new DescribeInstanceStatusCommand({}))).InstanceStatuses!;
  assert.deepEqual(await status(), []);
  const { InstanceStatuses: all } = await ec2.send(new DescribeInstanceStatusCommand({ IncludeAllInstances: true }));
  assert.equal(all?.[0]?.InstanceStatus?.Status, "not-applicable");
  world.pass(MINUTE);
  assert.equal((await status())[0]?.InstanceStatus?.Status, "initializing");
  world.pass(2 * MINUTE);
  assert.equal((await status())[0]?.InstanceStatus?.Status, "ok");
  ailments(cloud.account.ec2).put(node!.id, {
    instanceCheck: "ok",
    systemCheck: "impaired",
    events: [{ Code: "instance-retirement", InstanceEventId: "instance-event-0d59937288b749b32", Description: "hardware" }],
  });
  const [sick] = await status();
  assert.equal(sick?.SystemStatus?.Status, "impaired");
  assert.equal(sick?.Events?.[0]?.Code, "instance-retirement");
});

test("ModifyInstanceAttribute: sourceDestCheck and Groups reach the ENI, and the ENI's reach the instance", async () => {
  const { ec2, network, cloud } = networkBed();
  const [node] = launchNodes(cloud, network, 1);
  const eni = node!.interfaceIds[0]!;
  await ec2.send(new ModifyInstanceAttributeCommand({ InstanceId: node!.id, SourceDestCheck: { Value: false } }));
  const { NetworkInterfaces: after } = await ec2.send(new DescribeNetworkInterfacesCommand({ NetworkInterfaceIds: [eni] }));
  assert.equal(after?.[0]?.SourceDestCheck, false);
  await ec2.send(new ModifyNetworkInterfaceAttributeCommand({ NetworkInterfaceId: eni, SourceDestCheck: { Value: true } }));
  assert.equal((await describe(ec2, node!.id)).SourceDestCheck, true);
  const { SecurityGroups } = await run(ec2, { SubnetId: network.privateSubnetIds[0] });
  await ec2.send(new ModifyInstanceAttributeCommand({ InstanceId: node!.id, Groups: [SecurityGroups![0]!.GroupId!] }));
  assert.deepEqual((await describe(ec2, node!.id)).NetworkInterfaces?.[0]?.Groups, SecurityGroups);
});

test("ModifyInstanceAttribute refuses sourceDestCheck for an instance with several interfaces", async () => {
  const { ec2, network } = networkBed();
  const subnet = network.privateSubnetIds[0];
  const made = await run(ec2, {
    NetworkInterfaces: [
      { DeviceIndex: 1, SubnetId: subnet },
      { DeviceIndex: 0, SubnetId: subnet },
    ],
  });
  assert.deepEqual(
    made.NetworkInterfaces?.map((one) => one.Attachment?.DeviceIndex),
    [0, 1],
  );
  await refused(
    ec2.send(new ModifyInstanceAttributeCommand({ InstanceId: made.InstanceId, SourceDestCheck: { Value: false } })),
    "InvalidInstanceID",
  );
});

test("ModifyPrivateDnsNameOptions renames a stopped instance and refuses a running one", async () => {
  const { ec2, network, cloud, world } = networkBed();
  const [node] = launchNodes(cloud, network, 1);
  world.pass(MINUTE);
  const rename = () => ec2.send(new ModifyPrivateDnsNameOptionsCommand({ InstanceId: node!.id, PrivateDnsHostnameType: "resource-name" }));
  await refused(rename(), "IncorrectInstanceState");
  await ec2.send(new StopInstancesCommand({ InstanceIds: [node!.id] }));
  world.pass(MINUTE);
  await rename();
  assert.equal((await describe(ec2, node!.id)).PrivateDnsName, `${node!.id}.ec2.internal`);
});

test("DescribeInstanceTopology: three layers for supported running types, nothing for others, at most 100 ids", async () => {
  const { ec2, network, cloud, world } = networkBed();
  const [fast] = launchNodes(cloud, network, 1, "p5.48xlarge");
  const [plain] = launchNodes(cloud, network, 1);
  world.pass(MINUTE);
  const { Instances } = await ec2.send(new DescribeInstanceTopologyCommand({ InstanceIds: [fast!.id, plain!.id] }));
  assert.deepEqual(
    Instances?.map((one) => one.InstanceId),
    [fast!.id],
  );
  assert.equal(Instances?.[0]?.NetworkNodes?.length, 3);
  const InstanceIds = Array.from({ length: 101 }, (_, index) => `i-${index.toString(16).padStart(17, "0")}`);
  await refused(ec2.send(new DescribeInstanceTopologyCommand({ InstanceIds })), "InvalidParameterValue");
});

test("DescribeInstanceTypes knows attachment and interface limits and names unknown types", async () => {
  const { ec2 } = networkBed();
  const { InstanceTypes } = await ec2.send(new DescribeInstanceTypesCommand({ InstanceTypes: ["m5.large", "m7i.large", "p4d.24xlarge"] }));
  const limits = InstanceTypes?.map(({ EbsInfo, NetworkInfo }) => [
    NetworkInfo?.MaximumNetworkInterfaces,
    EbsInfo?.MaximumEbsAttachments,
    EbsInfo?.AttachmentLimitType,
  ]);
  assert.deepEqual(limits, [
    [3, 27, "shared"],
    [3, 32, "dedicated"],
    [60, 28, "dedicated"],
  ]);
  const unknown = new DescribeInstanceTypesCommand({ InstanceTypes: ["m99.large" as "m5.large"] });
  assert.match(await refused(ec2.send(unknown), "InvalidInstanceType"), /m99\.large/);
});

test("DescribeInstanceAttribute reads one attribute", async () => {
  const { ec2, network, cloud } = networkBed();
  const [node] = launchNodes(cloud, network, 1);
  const answer = await ec2.send(new DescribeInstanceAttributeCommand({ InstanceId: node!.id, Attribute: "sourceDestCheck" }));
  assert.deepEqual(answer.SourceDestCheck, { Value: true });
});

test("An instance launched on a pre-made interface keeps its address and leaves it behind", async () => {
  const { ec2, network, world } = networkBed();
  const { NetworkInterface } = await ec2.send(
    new CreateNetworkInterfaceCommand({ SubnetId: network.privateSubnetIds[0], PrivateIpAddress: "10.0.33.7" }),
  );
  const eni = NetworkInterface!.NetworkInterfaceId!;
  const made = await run(ec2, { NetworkInterfaces: [{ DeviceIndex: 0, NetworkInterfaceId: eni }] });
  assert.equal(made.PrivateIpAddress, "10.0.33.7");
  await ec2.send(new TerminateInstancesCommand({ InstanceIds: [made.InstanceId!] }));
  world.pass(MINUTE);
  const { NetworkInterfaces } = await ec2.send(new DescribeNetworkInterfacesCommand({ NetworkInterfaceIds: [eni] }));
  assert.equal(NetworkInterfaces?.[0]?.Status, "available");
});

test("DescribeInstances finds the instances of a capacity reservation", async () => {
  const { ec2, network } = networkBed();
  const CapacityReservationTarget = { CapacityReservationId: "cr-0123456789abcdef0" };
  const SubnetId = network.privateSubnetIds[0];
  const reserved = await run(ec2, { SubnetId, CapacityReservationSpecification: { CapacityReservationTarget } });
  const open = await run(ec2, { SubnetId });
  assert.deepEqual(await matching(ec2, { Name: "capacity-reservation-id", Values: ["cr-0123456789abcdef0"] }), [reserved.InstanceId]);
  const [seen, other] = [await describe(ec2, reserved.InstanceId!), await describe(ec2, open.InstanceId!)];
  assert.deepEqual([seen.CapacityReservationId, other.CapacityReservationId], ["cr-0123456789abcdef0", undefined]);
  assert.equal(other.CapacityReservationSpecification?.CapacityReservationPreference, "open");
});
