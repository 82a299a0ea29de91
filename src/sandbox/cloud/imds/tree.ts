/** Everything below `/latest/meta-data/`, as the instance is at this moment. */
import type { Account } from "../account.ts";
import { targetLifecycleState } from "../autoscaling/state.ts";
import { interfacesOf } from "../ec2/instance-answers.ts";
import { ailments, notices } from "../ec2/instance-queries.ts";
import { groupsOf, publicSide } from "../ec2/interface-answers.ts";
import { maintenanceState } from "../ec2/interruptions.ts";
import { privateIpName } from "../ec2/names.ts";
import type { Instance, NetworkInterface } from "../ec2/state.ts";
import { ROOT_DEVICE } from "../ec2/volumes/launch.ts";
import type { Tree } from "./service.ts";

/** The tree of one instance; what does not apply to it is absent. `credentials` is asked only when the role's keys are read. */
export function metadataTree(account: Account, instance: Instance, credentials: (role: string) => string): Tree {
  const { ec2 } = account;
  const interfaces = interfacesOf(ec2, instance);
  const primary = interfaces[0];
  const address = primary?.privateAddresses[0];
  const association = primary === undefined || address === undefined ? undefined : publicSide(ec2, primary, address);
  return present({
    "ami-id": instance.imageId,
    "ami-launch-index": String(instance.launchIndex),
    autoscaling: autoscaling(account, instance),
    // As it was at launch: volumes that came later are not here.
    "block-device-mapping": {
      ami: ROOT_DEVICE,
      ...Object.fromEntries(instance.launchDevices.map((device, index) => [`ebs${index + 1}`, device])),
      root: ROOT_DEVICE,
    },
    events: events(account, instance),
    hostname: instance.privateDnsName,
    iam: roleTree(instance, credentials),
    "instance-action": "none",
    "instance-id": instance.id,
    "instance-life-cycle": instance.spot ? "spot" : "on-demand",
    "instance-type": instance.type,
    ipv6: primary?.ipv6Addresses[0],
    "local-hostname": instance.privateDnsName,
    "local-ipv4": address,
    mac: primary?.mac,
    network: { interfaces: { macs: Object.fromEntries(interfaces.map((one) => [one.mac, interfaceTree(account, one)])) } },
    placement: present({
      "availability-zone": instance.zone,
      "availability-zone-id": instance.zoneId,
      "group-name": instance.placementGroup,
      "partition-number": instance.partitionNumber === undefined ? undefined : String(instance.partitionNumber),
      region: account.region,
    }),
    profile: "default-hvm",
    "public-hostname": association?.PublicDnsName || undefined,
    "public-ipv4": association?.PublicIp,
    "reservation-id": instance.reservationId,
    "security-groups":
      primary === undefined
        ? undefined
        : groupsOf(ec2, primary)
            .map((group) => group.GroupName)
            .join("\n"),
    services: { domain: account.dnsSuffix, partition: account.partition },
    spot: spot(account, instance),
    tags: instance.metadata.tags ? { instance: { ...instance.tags } } : undefined,
  });
}

/** The role of an instance is named as its profile. Its keys are made when they are read. */
function roleTree(instance: Instance, credentials: (role: string) => string): Tree | undefined {
  const { profileArn } = instance;
  if (profileArn === undefined) return undefined;
  const role = profileArn.split("/").at(-1)!;
  const info = {
    Code: "Success",
    LastUpdated: new Date(instance.launched).toISOString().replace(/\.\d+Z$/, "Z"),
    InstanceProfileArn: profileArn,
  };
  return {
    info: JSON.stringify(info, undefined, 2),
    "security-credentials": Object.defineProperty({}, role, { enumerable: true, get: () => credentials(role) }) as Tree,
  };
}

/** Maintenance that is over or called off is told with its state until EC2 forgets it, and is history too. */
function events(account: Account, instance: Instance): Tree {
  const all = (ailments(account.ec2).get(instance.id)?.events ?? []).map((event) => ({
    NotBefore: maintenanceTime(event.NotBefore),
    NotAfter: maintenanceTime(event.NotAfter),
    NotBeforeDeadline: maintenanceTime(event.NotBeforeDeadline),
    Code: event.Code,
    Description: event.Description,
    EventId: event.InstanceEventId,
    State: maintenanceState(event),
  }));
  const past = all.filter(({ State }) => State !== "active");
  const rebalance = notices(account.ec2).get(instance.id)?.rebalance;
  return present({
    maintenance: { history: JSON.stringify(past), scheduled: JSON.stringify(all) },
    recommendations: rebalance === undefined ? undefined : { rebalance: JSON.stringify({ noticeTime: iso(rebalance) }) },
  });
}

/** Only members of a group have a state that they are on their way to. */
function autoscaling(account: Account, instance: Instance): Tree | undefined {
  const state = targetLifecycleState(account, instance.id);
  return state === undefined ? undefined : { "target-lifecycle-state": state };
}

function spot(account: Account, instance: Instance): Tree | undefined {
  const interruption = notices(account.ec2).get(instance.id)?.interruption;
  if (interruption === undefined) return undefined;
  const { action, time } = interruption;
  return present({
    "instance-action": JSON.stringify({ action, time: iso(time) }),
    "termination-time": action === "terminate" ? iso(time) : undefined,
  });
}

function interfaceTree(account: Account, one: NetworkInterface): Tree {
  const { ec2 } = account;
  const subnet = ec2.subnets.get(one.subnetId);
  const vpc = ec2.vpcs.get(one.vpcId);
  const primary = one.privateAddresses[0];
  const associations = one.privateAddresses
    .map((address) => ({ address, association: publicSide(ec2, one, address) }))
    .filter(({ association }) => association !== undefined);
  const lines = (texts: readonly string[]) => (texts.length === 0 ? undefined : texts.join("\n"));
  return present({
    "device-number": String(one.attachment?.deviceIndex ?? 0),
    "interface-id": one.id,
    "ipv4-associations":
      associations.length === 0
        ? undefined
        : Object.fromEntries(associations.map(({ address, association }) => [association?.PublicIp ?? "", address])),
    "ipv4-prefix": lines(one.ipv4Prefixes),
    "ipv6-prefix": lines(one.ipv6Prefixes),
    ipv6s: lines(one.ipv6Addresses),
    "local-hostname": primary === undefined ? undefined : privateIpName(ec2, primary),
    "local-ipv4s": lines(one.privateAddresses),
    mac: one.mac,
    "network-card": String(one.attachment?.networkCardIndex ?? 0),
    "owner-id": account.id,
    "public-hostname": associations[0]?.association?.PublicDnsName || undefined,
    "public-ipv4s": lines(associations.map(({ association }) => association?.PublicIp ?? "")),
    "security-group-ids": lines(one.groupIds),
    "security-groups": lines(groupsOf(ec2, one).map((group) => group.GroupName)),
    "subnet-id": one.subnetId,
    "subnet-ipv4-cidr-block": subnet?.cidr,
    "subnet-ipv6-cidr-blocks": subnet?.ipv6Cidr,
    "vpc-id": one.vpcId,
    "vpc-ipv4-cidr-block": vpc?.cidrs[0],
    "vpc-ipv4-cidr-blocks": lines(vpc?.cidrs ?? []),
    "vpc-ipv6-cidr-blocks": vpc?.ipv6Cidr,
  });
}

/** `21 Jan 2026 09:00:43 GMT`: a date of its own kind, without the day of the week. */
function maintenanceTime(date: Date | undefined): string | undefined {
  return date?.toUTCString().replace(/^\w{3}, 0?/, "");
}

function present(entries: Readonly<Record<string, Tree | string | undefined>>): Tree {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as Tree;
}

function iso(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, "Z");
}
