/** Instances as answers show them. */
import type { Instance as InstanceAnswer, Reservation } from "@aws-sdk/client-ec2";
import { type FilterTable, tagFilters } from "./filters.ts";
import { STATE_CODES } from "./instance-lifecycle.ts";
import { instanceTypeNamed } from "./instance-types.ts";
import { describeInstanceInterface, groupsOf, publicSide } from "./interface-answers.ts";
import { privateIpName } from "./names.ts";
import type { Ec2, Instance, NetworkInterface } from "./state.ts";
import { tagList } from "./tags.ts";
import { attachmentsAt } from "./volumes/attachments.ts";
import type { VolumeAttachment } from "./volumes/state.ts";

/** Instances of one launch, as RunInstances and DescribeInstances show them. */
export function describeReservation(ec2: Ec2, instances: readonly Instance[]): Reservation {
  return {
    ReservationId: instances[0]?.reservationId,
    OwnerId: ec2.account.id,
    Groups: [],
    Instances: instances.map((instance) => describeInstance(ec2, instance)),
  };
}

function describeInstance(ec2: Ec2, instance: Instance): InstanceAnswer {
  const interfaces = interfacesOf(ec2, instance);
  const primary = interfaces[0];
  const primaryAddress = primary?.privateAddresses[0];
  const association = primary === undefined || primaryAddress === undefined ? undefined : publicSide(ec2, primary, primaryAddress);
  const type = instanceTypeNamed(instance.type);
  const gone = instance.state === "terminated";
  return {
    Architecture: type?.architecture === "arm64" ? "arm64" : "x86_64",
    BlockDeviceMappings: attachmentsAt(ec2, instance).map(({ volume, attachment }) => ({
      DeviceName: attachment.device,
      Ebs: {
        AttachTime: new Date(attachment.attached),
        DeleteOnTermination: attachment.deleteOnTermination,
        Status: attachment.state === "busy" ? "detaching" : attachment.state,
        VolumeId: volume.id,
        EbsCardIndex: attachment.cardIndex,
      },
    })),
    ClientToken: instance.clientToken,
    EbsOptimized: false,
    EnaSupport: true,
    Hypervisor: "xen",
    IamInstanceProfile: instance.profileArn === undefined ? undefined : { Arn: instance.profileArn, Id: profileId(instance.profileArn) },
    InstanceLifecycle: instance.spot ? "spot" : undefined,
    NetworkInterfaces: interfaces.map((networkInterface) => describeInstanceInterface(ec2, networkInterface)),
    RootDeviceName: "/dev/xvda",
    RootDeviceType: "ebs",
    SecurityGroups: primary === undefined ? [] : groupsOf(ec2, primary),
    SourceDestCheck: primary?.sourceDestCheck,
    SpotInstanceRequestId: instance.spot ? `sir-${instance.id.slice(-8)}` : undefined,
    StateReason:
      instance.stateReason === undefined ? undefined : { Code: instance.stateReason.code, Message: instance.stateReason.message },
    Tags: tagList(instance.tags),
    VirtualizationType: "hvm",
    CpuOptions: type === undefined ? undefined : { CoreCount: type.cores, ThreadsPerCore: type.vcpus / type.cores },
    CapacityReservationId: instance.capacityReservationId,
    CapacityReservationSpecification:
      instance.capacityReservationId === undefined
        ? { CapacityReservationPreference: "open" }
        : { CapacityReservationTarget: { CapacityReservationId: instance.capacityReservationId } },
    HibernationOptions: { Configured: false },
    MetadataOptions: {
      State: instance.state === "pending" ? "pending" : "applied",
      HttpTokens: instance.metadata.tokensRequired ? "required" : "optional",
      HttpPutResponseHopLimit: instance.metadata.hopLimit,
      HttpEndpoint: instance.metadata.endpoint ? "enabled" : "disabled",
      HttpProtocolIpv6: instance.metadata.ipv6 ? "enabled" : "disabled",
      InstanceMetadataTags: instance.metadata.tags ? "enabled" : "disabled",
    },
    EnclaveOptions: { Enabled: false },
    BootMode: "uefi-preferred",
    PlatformDetails: "Linux/UNIX",
    UsageOperation: "RunInstances",
    UsageOperationUpdateTime: new Date(instance.launched),
    PrivateDnsNameOptions: gone
      ? undefined
      : {
          HostnameType: instance.names.hostnameType,
          EnableResourceNameDnsARecord: instance.names.aRecord,
          EnableResourceNameDnsAAAARecord: instance.names.aaaaRecord,
        },
    Ipv6Address: primary?.ipv6Addresses[0],
    MaintenanceOptions: { AutoRecovery: "default" },
    CurrentInstanceBootMode: "uefi",
    InstanceId: instance.id,
    ImageId: instance.imageId,
    State: { Code: STATE_CODES[instance.state], Name: instance.state },
    PrivateDnsName: instance.privateDnsName,
    PublicDnsName: association?.PublicDnsName ?? "",
    StateTransitionReason: instance.transitionReason,
    KeyName: instance.keyName,
    AmiLaunchIndex: instance.launchIndex,
    ProductCodes: [],
    InstanceType: instance.type,
    LaunchTime: new Date(instance.launched),
    Placement: {
      AvailabilityZone: instance.zone,
      AvailabilityZoneId: instance.zoneId,
      GroupName: instance.placementGroup ?? "",
      PartitionNumber: instance.partitionNumber,
      Tenancy: instance.tenancy,
    },
    Monitoring: { State: instance.monitoring ? "enabled" : "disabled" },
    SubnetId: instance.subnetId,
    VpcId: instance.vpcId,
    PrivateIpAddress: primaryAddress,
    PublicIpAddress: association?.PublicIp,
  };
}

/** The interfaces of an instance, the primary one first. */
export function interfacesOf(ec2: Ec2, instance: Instance): readonly NetworkInterface[] {
  const interfaces = instance.interfaceIds.map((id) => ec2.interfaces.get(id)).filter((one) => one !== undefined);
  return interfaces.length < 2
    ? interfaces
    : interfaces.sort((a, b) => (a.attachment?.deviceIndex ?? 0) - (b.attachment?.deviceIndex ?? 0));
}

function profileId(profileArn: string): string {
  return `AIPA${Buffer.from(profileArn).toString("hex").slice(-17).toUpperCase()}`;
}

/** The filters of DescribeInstances. */
export function instanceFilters(ec2: Ec2): FilterTable<Instance> {
  const primary = (instance: Instance) => interfacesOf(ec2, instance)[0];
  const each =
    <T>(value: (one: NetworkInterface) => T | readonly T[]) =>
    (instance: Instance): readonly T[] =>
      interfacesOf(ec2, instance).flatMap((one) => value(one) as T[]);
  const publicOf = (instance: Instance) => {
    const one = primary(instance);
    const address = one?.privateAddresses[0];
    return one === undefined || address === undefined ? undefined : publicSide(ec2, one, address);
  };
  const disks = (value: (attachment: VolumeAttachment) => string | boolean) => (instance: Instance) =>
    attachmentsAt(ec2, instance).map(({ attachment }) => value(attachment));
  const privateName = each((one) => one.privateAddresses.map((address) => privateIpName(ec2, address)));
  return {
    ...tagFilters<Instance>(),
    architecture: (instance) => instanceTypeNamed(instance.type)?.architecture,
    "availability-zone": (instance) => instance.zone,
    "availability-zone-id": (instance) => instance.zoneId,
    "block-device-mapping.attach-time": disks(({ attached }) => new Date(attached).toISOString()),
    "block-device-mapping.device-name": disks((attachment) => attachment.device),
    "block-device-mapping.volume-id": (instance) => instance.volumeIds,
    "block-device-mapping.delete-on-termination": disks((attachment) => attachment.deleteOnTermination),
    "block-device-mapping.status": disks((attachment) => attachment.state),
    "capacity-reservation-id": (instance) => instance.capacityReservationId,
    "client-token": (instance) => instance.clientToken,
    "dns-name": (instance) => publicOf(instance)?.PublicDnsName,
    hypervisor: () => "xen",
    "iam-instance-profile.arn": (instance) => instance.profileArn,
    "image-id": (instance) => instance.imageId,
    "instance-id": (instance) => instance.id,
    "instance-lifecycle": (instance) => (instance.spot ? "spot" : undefined),
    "instance-state-code": (instance) => STATE_CODES[instance.state],
    "instance-state-name": (instance) => instance.state,
    "instance-type": (instance) => instance.type,
    "instance.group-id": (instance) => primary(instance)?.groupIds,
    "instance.group-name": (instance) => groupNames(ec2, primary(instance)),
    "ip-address": (instance) => publicOf(instance)?.PublicIp,
    "ipv6-address": each((one) => one.ipv6Addresses),
    "key-name": (instance) => instance.keyName,
    "launch-index": (instance) => instance.launchIndex,
    "launch-time": (instance) => new Date(instance.launched).toISOString(),
    "metadata-options.http-tokens": (instance) => (instance.metadata.tokensRequired ? "required" : "optional"),
    "metadata-options.http-endpoint": (instance) => (instance.metadata.endpoint ? "enabled" : "disabled"),
    "monitoring-state": (instance) => (instance.monitoring ? "enabled" : "disabled"),
    "network-interface.addresses.association.public-ip": each((one) =>
      one.privateAddresses.map((address) => publicSide(ec2, one, address)?.PublicIp),
    ),
    "network-interface.addresses.primary": each((one) => one.privateAddresses.map((_, index) => index === 0)),
    "network-interface.addresses.private-ip-address": each((one) => one.privateAddresses),
    "network-interface.association.public-ip": each((one) =>
      one.privateAddresses.map((address) => publicSide(ec2, one, address)?.PublicIp),
    ),
    "network-interface.attachment.attachment-id": each((one) => one.attachment?.id),
    "network-interface.attachment.device-index": each((one) => one.attachment?.deviceIndex),
    "network-interface.attachment.instance-id": each((one) => one.attachment?.instanceId),
    "network-interface.attachment.status": each((one) => one.attachment?.status),
    "network-interface.availability-zone": each((one) => one.zone),
    "network-interface.description": each((one) => one.description),
    "network-interface.group-id": each((one) => one.groupIds),
    "network-interface.group-name": each((one) => groupNames(ec2, one)),
    "network-interface.ipv6-addresses.ipv6-address": each((one) => one.ipv6Addresses),
    "network-interface.mac-address": each((one) => one.mac),
    "network-interface.network-interface-id": each((one) => one.id),
    "network-interface.owner-id": () => ec2.account.id,
    "network-interface.private-dns-name": privateName,
    "network-interface.private-ip-address": each((one) => one.privateAddresses),
    "network-interface.requester-managed": each((one) => one.requesterId !== undefined),
    "network-interface.source-dest-check": each((one) => one.sourceDestCheck),
    "network-interface.status": each((one) => (one.attachment === undefined ? "available" : "in-use")),
    "network-interface.subnet-id": each((one) => one.subnetId),
    "network-interface.vpc-id": each((one) => one.vpcId),
    "owner-id": () => ec2.account.id,
    "placement-group-name": (instance) => instance.placementGroup,
    "placement-partition-number": (instance) => instance.partitionNumber,
    "private-dns-name": (instance) => instance.privateDnsName || undefined,
    "private-dns-name-options.hostname-type": (instance) => instance.names.hostnameType,
    "private-dns-name-options.enable-resource-name-dns-a-record": (instance) => instance.names.aRecord,
    "private-dns-name-options.enable-resource-name-dns-aaaa-record": (instance) => instance.names.aaaaRecord,
    "private-ip-address": each((one) => one.privateAddresses),
    "requester-id": () => undefined,
    "reservation-id": (instance) => instance.reservationId,
    "root-device-name": () => "/dev/xvda",
    "root-device-type": () => "ebs",
    "source-dest-check": (instance) => primary(instance)?.sourceDestCheck,
    "spot-instance-request-id": (instance) => (instance.spot ? `sir-${instance.id.slice(-8)}` : undefined),
    "state-reason-code": (instance) => instance.stateReason?.code,
    "subnet-id": (instance) => instance.subnetId,
    tenancy: (instance) => instance.tenancy,
    "virtualization-type": () => "hvm",
    "vpc-id": (instance) => instance.vpcId,
  };
}

function groupNames(ec2: Ec2, one: NetworkInterface | undefined): readonly string[] {
  return one === undefined ? [] : groupsOf(ec2, one).map((group) => group.GroupName);
}
