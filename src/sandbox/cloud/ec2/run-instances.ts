/** RunInstances: everything a launch decides, and everything EC2 refuses about it. */
import {
  type IamInstanceProfileSpecification,
  type InstanceNetworkInterfaceSpecification,
  type Reservation,
  RunInstances$,
  type RunInstancesRequest,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { emit } from "../events/bus.ts";
import { stateChange } from "../events/shapes.ts";
import { instanceProfiles } from "../iam/instance-profiles.ts";
import { type Operations, write } from "../service.ts";
import { describeReservation } from "./instance-answers.ts";
import { becomeRunning, PENDING } from "./instance-lifecycle.ts";
import { type InstanceType, instanceTypeNamed } from "./instance-types.ts";
import { takePrefixes } from "./interface-addresses.ts";
import { createInterface, newAttachment } from "./interfaces.ts";
import { checkKeyName } from "./key-pairs.ts";
import { find, KINDS, type Kind } from "./kinds.ts";
import { instanceName } from "./names.ts";
import type { Ec2, Instance, NameOptions, NetworkInterface, Subnet, Tags } from "./state.ts";
import { needsCreateTags, specifiedTags } from "./tags.ts";
import { createLaunchVolume, launchVolumes } from "./volumes/launch.ts";

const SPOT_REQUEST: Kind = { prefix: "sir", type: "spot-instances-request", malformed: "", notFound: "", noun: "" };
const TAGGED_AT_LAUNCH = [KINDS.instance, KINDS.networkInterface, KINDS.volume, SPOT_REQUEST];

/** The operation. */
export function runInstanceOperations(ec2: Ec2): Operations {
  return [
    write<RunInstancesRequest, Reservation>(
      RunInstances$,
      (input) => describeReservation(ec2, runInstances(ec2, input)),
      (input) => [...needsCreateTags(input), ...(input.IamInstanceProfile === undefined ? [] : ["iam:PassRole"])],
    ),
  ];
}

/** Launches instances; a repeated client token launches nothing and answers with the first launch. */
export function runInstances(ec2: Ec2, input: RunInstancesRequest): readonly Instance[] {
  const { ClientToken, ...parameters } = input;
  const ids = ec2.tokens.once("RunInstances", ClientToken, parameters, () => launch(ec2, input).map((instance) => instance.id));
  return ids.map((id) => ec2.instances.get(id)).filter((instance) => instance !== undefined);
}

/** What all instances of one launch have in common. */
interface Launch {
  readonly input: RunInstancesRequest;
  readonly type: InstanceType;
  readonly reservationId: string;
  readonly tags: Tags;
  readonly interfaceTags: Tags;
  readonly volumeTags: Tags;
}

function launch(ec2: Ec2, input: RunInstancesRequest): readonly Instance[] {
  const { MinCount: min = 1, MaxCount: max = 1 } = input;
  if (min < 1 || max < min) {
    throw new ServiceError(
      "InvalidParameterValue",
      `Value (${max}) for parameter maxCount is invalid. Max count must be at least the min count, and both at least 1.`,
    );
  }
  const alive = ec2.instances.values().filter((instance) => instance.state !== "terminated").length;
  const room = ec2.account.settings().quotas.instances - alive;
  if (room < min)
    throw new ServiceError(
      "InstanceLimitExceeded",
      `You have requested more instances (${alive + min}) than your current instance limit allows.`,
    );
  if (!/^ami-([0-9a-f]{8}|[0-9a-f]{17})$/.test(input.ImageId ?? "")) {
    throw new ServiceError("InvalidAMIID.Malformed", `Invalid id: "${input.ImageId ?? ""}" (expecting "ami-...")`);
  }
  const type = instanceTypeNamed(input.InstanceType ?? "t3.micro");
  if (type === undefined) throw new ServiceError("InvalidParameterValue", `Invalid value '${input.InstanceType}' for InstanceType.`);
  checkKeyName(ec2, input.KeyName);
  checkProfile(ec2, input.IamInstanceProfile);
  const shared: Launch = {
    input,
    type,
    reservationId: ec2.account.ids.resource("r"),
    tags: specifiedTags(input.TagSpecifications, KINDS.instance, TAGGED_AT_LAUNCH),
    interfaceTags: specifiedTags(input.TagSpecifications, KINDS.networkInterface, TAGGED_AT_LAUNCH),
    volumeTags: specifiedTags(input.TagSpecifications, KINDS.volume, TAGGED_AT_LAUNCH),
  };
  const count = Math.min(max, room);
  return Array.from({ length: count }, (_, index) => launchOne(ec2, shared, index));
}

function launchOne(ec2: Ec2, shared: Launch, launchIndex: number): Instance {
  const { input, type } = shared;
  const id = ec2.account.ids.resource("i");
  const interfaces = launchInterfaces(ec2, shared);
  const primary = interfaces[0]!.networkInterface;
  const subnet = find(ec2.subnets, KINDS.subnet, primary.subnetId);
  const { Placement: placement } = input;
  if (placement?.AvailabilityZone !== undefined && placement.AvailabilityZone !== subnet.zone) {
    throw new ServiceError(
      "InvalidParameterValue",
      `The specified subnet ${subnet.id} is not in the availability zone ${placement.AvailabilityZone}.`,
    );
  }
  for (const { networkInterface, deviceIndex, networkCardIndex, deleteOnTermination } of interfaces) {
    const attachment = newAttachment(ec2, {
      instanceId: id,
      instanceOwnerId: ec2.account.id,
      deviceIndex,
      networkCardIndex,
      deleteOnTermination,
    });
    ec2.interfaces.update(networkInterface.id, { attachment });
  }
  const names = nameOptions(input, subnet);
  const volumes = launchVolumes(ec2, input.BlockDeviceMappings);
  const instance = ec2.instances.put(id, {
    id,
    reservationId: shared.reservationId,
    launchIndex,
    clientToken: input.ClientToken ?? "",
    imageId: input.ImageId!,
    type: type.name,
    state: "pending",
    stateReason: PENDING,
    transitionReason: "",
    launched: ec2.account.time.now(),
    zone: subnet.zone,
    zoneId: subnet.zoneId,
    placementGroup: placement?.GroupName,
    partitionNumber: placement?.PartitionNumber,
    tenancy: placement?.Tenancy ?? "default",
    vpcId: subnet.vpcId,
    subnetId: subnet.id,
    interfaceIds: interfaces.map(({ networkInterface }) => networkInterface.id),
    names,
    privateDnsName: instanceName(ec2, names, id, primary.privateAddresses[0]),
    keyName: input.KeyName,
    profileArn: profileArn(ec2, input),
    spot: input.InstanceMarketOptions?.MarketType === "spot",
    capacityReservationId: input.CapacityReservationSpecification?.CapacityReservationTarget?.CapacityReservationId,
    terminationProtection: input.DisableApiTermination ?? false,
    stopProtection: input.DisableApiStop ?? false,
    shutdownTerminates: input.InstanceInitiatedShutdownBehavior === "terminate",
    monitoring: input.Monitoring?.Enabled ?? false,
    userData: input.UserData,
    // As the usual node images set them; an image that sets nothing gets optional tokens and one hop.
    metadata: {
      endpoint: input.MetadataOptions?.HttpEndpoint !== "disabled",
      tokensRequired: input.MetadataOptions?.HttpTokens !== "optional",
      hopLimit: input.MetadataOptions?.HttpPutResponseHopLimit ?? 2,
      tags: input.MetadataOptions?.InstanceMetadataTags === "enabled",
      ipv6: input.MetadataOptions?.HttpProtocolIpv6 === "enabled",
    },
    rootVolumeId: volumes[0].id,
    launchDevices: volumes.slice(1).map(({ device }) => device),
    volumeIds: volumes.map((volume) => volume.id),
    lendsPublicIp: ec2.interfaces.get(primary.id)?.lentPublicIp !== undefined,
    tags: shared.tags,
  });
  for (const volume of volumes) createLaunchVolume(ec2, instance, volume, shared.volumeTags);
  emit(ec2.account, stateChange(ec2.account, id, "pending"));
  becomeRunning(ec2, id);
  return instance;
}

function nameOptions(input: RunInstancesRequest, subnet: Subnet): NameOptions {
  const asked = input.PrivateDnsNameOptions;
  if (asked?.HostnameType === "ip-name" && subnet.cidr === undefined) {
    throw new ServiceError("InvalidParameterCombination", "The hostname type ip-name needs a subnet with an IPv4 CIDR block.");
  }
  return {
    hostnameType: asked?.HostnameType ?? subnet.names.hostnameType,
    aRecord: asked?.EnableResourceNameDnsARecord ?? subnet.names.aRecord,
    aaaaRecord: asked?.EnableResourceNameDnsAAAARecord ?? subnet.names.aaaaRecord,
  };
}

function profileArn(ec2: Ec2, input: RunInstancesRequest): string | undefined {
  const { Arn, Name } = input.IamInstanceProfile ?? {};
  if (Arn !== undefined) return Arn;
  return Name === undefined ? undefined : `arn:${ec2.account.partition}:iam::${ec2.account.id}:instance-profile/${Name}`;
}

/** IAM is asked only where the account is set to: most accounts of tests have no profiles, and launch as if they had. */
function checkProfile(ec2: Ec2, { Name, Arn }: IamInstanceProfileSpecification = {}): void {
  if (!ec2.account.settings().checkInstanceProfiles || (Name === undefined && Arn === undefined)) return;
  const profile = instanceProfiles(ec2.account).get(Name ?? Arn!.split("/").at(-1)!);
  const [field, value] = Name === undefined ? ["arn", Arn] : ["name", Name];
  const refused = (why: string) =>
    new ServiceError("InvalidParameterValue", `Value (${value}) for parameter iamInstanceProfile.${field} is invalid. ${why}`);
  if (profile === undefined) throw refused(`Invalid IAM Instance Profile ${field}`);
  if (profile.role === undefined) throw refused("IAM Instance Profile has no associated IAM Roles");
}

interface LaunchInterface {
  readonly networkInterface: NetworkInterface;
  readonly deviceIndex: number;
  readonly networkCardIndex: number;
  readonly deleteOnTermination: boolean;
}

/** The interfaces of a launch, the primary one first: one from the top-level parameters, or those spelled out. */
function launchInterfaces(ec2: Ec2, shared: Launch): readonly LaunchInterface[] {
  const { input, type } = shared;
  const specified = input.NetworkInterfaces ?? [];
  if (specified.length === 0) return [launchInterface(ec2, shared, topLevelSpecification(ec2, input))];
  if (input.SubnetId !== undefined || input.SecurityGroupIds?.length || input.SecurityGroups?.length) {
    throw new ServiceError(
      "InvalidParameterCombination",
      "Network interfaces and an instance-level subnet ID or security groups may not be specified on the same request",
    );
  }
  const indexes = specified.map((specification) => specification.DeviceIndex);
  if (indexes.some((index) => index === undefined))
    throw new ServiceError("MissingParameter", "Each network interface requires a device index.");
  if (new Set(indexes).size < indexes.length || !indexes.includes(0)) {
    throw new ServiceError("InvalidParameterValue", "Each network interface requires a unique device index, and one of them must be 0.");
  }
  if (specified.length > type.interfaces) {
    throw new ServiceError("AttachmentLimitExceeded", `Interface count ${specified.length} exceeds the limit for ${type.name}`);
  }
  const sorted = [...specified].sort((a, b) => a.DeviceIndex! - b.DeviceIndex!);
  return sorted.map((specification) => launchInterface(ec2, shared, specification));
}

function topLevelSpecification(ec2: Ec2, input: RunInstancesRequest): InstanceNetworkInterfaceSpecification {
  return {
    DeviceIndex: 0,
    SubnetId: input.SubnetId ?? defaultSubnet(ec2, input.Placement?.AvailabilityZone).id,
    Groups: input.SecurityGroupIds,
    PrivateIpAddress: input.PrivateIpAddress,
    Ipv6AddressCount: input.Ipv6AddressCount,
    Ipv6Addresses: input.Ipv6Addresses,
  };
}

function defaultSubnet(ec2: Ec2, zone: string | undefined): Subnet {
  const subnet = ec2.subnets.values().find((one) => one.defaultForZone && (zone === undefined || one.zone === zone));
  if (subnet === undefined) {
    throw new ServiceError("MissingInput", "No subnets found for the default VPC. Please specify a subnet.");
  }
  return subnet;
}

function launchInterface(ec2: Ec2, shared: Launch, specification: InstanceNetworkInterfaceSpecification): LaunchInterface {
  const place = { deviceIndex: specification.DeviceIndex ?? 0, networkCardIndex: specification.NetworkCardIndex ?? 0 };
  if (specification.NetworkInterfaceId !== undefined) {
    const networkInterface = find(ec2.interfaces, KINDS.networkInterface, specification.NetworkInterfaceId);
    if (networkInterface.attachment !== undefined)
      throw new ServiceError("InvalidNetworkInterface.InUse", `Interface: [${networkInterface.id}] in use.`);
    return { networkInterface, ...place, deleteOnTermination: specification.DeleteOnTermination ?? false };
  }
  const subnet =
    specification.SubnetId === undefined
      ? defaultSubnet(ec2, shared.input.Placement?.AvailabilityZone)
      : find(ec2.subnets, KINDS.subnet, specification.SubnetId);
  const listed = specification.PrivateIpAddresses ?? [];
  const primary = specification.PrivateIpAddress ?? listed.find((address) => address.Primary)?.PrivateIpAddress;
  const created = createInterface(ec2, {
    subnetId: subnet.id,
    description: specification.Description,
    groupIds: specification.Groups,
    privateAddress: primary,
    secondaryAddresses: listed.map((address) => address.PrivateIpAddress ?? "").filter((address) => address !== "" && address !== primary),
    secondaryCount: specification.SecondaryPrivateIpAddressCount,
    ipv6Addresses: specification.Ipv6Addresses?.map((address) => address.Ipv6Address ?? ""),
    ipv6Count: specification.Ipv6AddressCount,
    interfaceType: specification.InterfaceType,
    tags: shared.interfaceTags,
  });
  takePrefixes(ec2, created, { ipv4: specification.Ipv4PrefixCount ?? 0, ipv6: specification.Ipv6PrefixCount ?? 0 });
  const wantsPublic = specification.AssociatePublicIpAddress ?? (subnet.publicOnLaunch && place.deviceIndex === 0);
  const networkInterface = ec2.interfaces.update(created.id, {
    lentPublicIp: wantsPublic && subnet.cidr !== undefined ? ec2.pools.takePublic() : undefined,
  });
  return { networkInterface, ...place, deleteOnTermination: specification.DeleteOnTermination ?? true };
}
