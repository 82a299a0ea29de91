/** The steps from the network load balancer that is seen to the one that is wanted. Pure. */
import { createLoadBalancer, deleteLoadBalancer, setIpAddressType, setSecurityGroups, setSubnets } from "../../aws/elbv2-actions.ts";
import { made, type Step, step } from "../../aws/plan.ts";
import { planAttributes, planCapacity, sameSet } from "../elbv2/load-balancer-parts.ts";
import { type ForeignTags, planTags } from "../elbv2/tags.ts";
import { type GroupsPlan, isRevocation, planGroupDeletion, planGroups, type SeenGroup, tagList } from "../groups/managed.ts";
import type { Seen } from "../kind.ts";
import type { NetworkLoadBalancer, SubnetMapping, Tags } from "../model.ts";
import { planTargetGroup, type SeenTargetGroup, standsFor, targetGroupDeletion } from "../target-group-plan.ts";
import type { FoundNetwork } from "./find.ts";
import { planListeners, type SeenListener } from "./plan-listeners.ts";

export interface SeenNetwork extends Seen {
  readonly kind: "network";
  readonly loadBalancer?: SeenLoadBalancer;
  /** Every target group that is this load balancer's, by what AWS says or by its tags and name. */
  readonly targetGroups: readonly SeenTargetGroup[];
  /** Tags that somebody else keeps on what is ours. Absent: tags are not kept. */
  readonly isForeignTag?: ForeignTags;
}

export interface SeenLoadBalancer {
  readonly arn: string;
  readonly securityGroups: readonly string[];
  /** Read only while some are managed. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly listeners: readonly SeenListener[];
  /** What else is kept as wanted. Absent: it is read when the load balancer is made, and then never again. */
  readonly kept?: Pick<FoundNetwork, "addressType" | "zones" | "sourceNat" | "privateLinkRules"> & {
    readonly tags: Tags;
    /** Read only while it is managed. */
    readonly capacity?: number;
  };
}

export function planNetwork(model: NetworkLoadBalancer, vpc: string, seen: SeenNetwork): Step[] {
  const lb = seen.loadBalancer;
  // A load balancer made without groups can never get one: AWS refuses it.
  const locked = lb?.securityGroups.length === 0;
  const groups = planGroups(locked ? { ...model, securityGroups: { kind: "as-it-is" } } : model, vpc, seen.managedGroup);
  const arn = lb?.arn ?? made(`load balancer ${model.name}`);
  const targetGroups = model.targetGroups.map((group) => planTargetGroup(group, vpc, model, seen.targetGroups));
  const arnOf = (name: string) => targetGroups.find((plan) => plan.name === name)?.arn ?? made(`target group ${name}`);
  const listeners = planListeners(model, arn, arnOf, lb?.listeners ?? [], seen.isForeignTag);
  const place = lb?.kept ? planPlace(model, { ...lb, ...lb.kept }) : [];
  // Source NAT can only go when no listener needs it any more.
  const losesSourceNat = lb?.kept?.sourceNat === true && model.sourceNat === false;
  return [
    ...groups.open,
    ...(lb ? [] : [creation(model, groups.ids)]),
    ...(lb?.kept && seen.isForeignTag ? planTags(`load balancer ${model.name}`, lb.arn, model.tags, lb.kept.tags, seen.isForeignTag) : []),
    ...planSecurityGroups(model, lb, groups.ids),
    ...(losesSourceNat ? [] : place),
    ...targetGroups.flatMap(({ steps }) => steps),
    ...retagged(model, seen),
    ...targetGroups.flatMap(({ targets }) => targets),
    ...listeners,
    ...(losesSourceNat ? place : []),
    ...planAttributes(model, arn, lb?.attributes ?? newLoadBalancerAttributes),
    ...planCapacity(model, arn, lb?.kept?.capacity ?? 0),
    ...groups.close.filter(isRevocation),
    ...unwantedGroups(model, seen.targetGroups).map(targetGroupDeletion),
    ...groups.close.filter((each) => !isRevocation(each)),
  ];
}

/** Target groups that nobody asks for. Of two that could stand for the same one is enough. */
export function unwantedGroups({ targetGroups }: NetworkLoadBalancer, seen: readonly SeenTargetGroup[]): readonly SeenTargetGroup[] {
  const used = targetGroups.map((group) => seen.find((present) => standsFor(present, group)));
  return seen.filter((present) => !used.includes(present));
}

function retagged(model: NetworkLoadBalancer, { targetGroups, isForeignTag }: SeenNetwork): Step[] {
  if (isForeignTag === undefined) return [];
  return model.targetGroups.flatMap((group) => {
    const present = targetGroups.find((each) => standsFor(each, group));
    if (present?.tags === undefined) return [];
    return planTags(`target group ${present.name}`, present.arn, group.tags ?? model.tags, present.tags, isForeignTag);
  });
}

/** As much of what is seen as a deletion needs. */
export interface NetworkLeftovers {
  readonly loadBalancer?: { readonly arn: string };
  readonly targetGroups: readonly Pick<SeenTargetGroup, "arn" | "name">[];
  readonly managedGroup?: Pick<SeenGroup, "id" | "name">;
}

/** Everything that is ours goes, in the order AWS allows: the load balancer, its target groups, its security group. */
export function planNetworkDeletion(name: string, seen: NetworkLeftovers, askedBy: string): Step[] {
  const why = `the ${askedBy} no longer wants it`;
  const lb = seen.loadBalancer;
  return [
    ...(lb
      ? [
          step(
            deleteLoadBalancer,
            { LoadBalancerArn: lb.arn },
            { what: `delete load balancer ${name}`, why, settledBy: ["LoadBalancerNotFound"] },
          ),
        ]
      : []),
    ...seen.targetGroups.map(targetGroupDeletion),
    ...(seen.managedGroup ? [planGroupDeletion(seen.managedGroup, why)] : []),
  ];
}

function creation(model: NetworkLoadBalancer, groups: GroupsPlan["ids"]): Step {
  const where = model.internal ? "internal" : "internet-facing";
  return step(
    createLoadBalancer,
    {
      Name: model.name,
      Type: "network",
      ...(model.internal && { Scheme: "internal" }),
      ...(model.addressType === "dualstack" && { IpAddressType: "dualstack" }),
      SubnetMappings: model.subnets.map(sentMapping),
      ...(model.sourceNat && { EnablePrefixForIpv6SourceNat: "on" }),
      SecurityGroups: groups ?? [],
      Tags: tagList(model.tags),
    },
    {
      what: `create network load balancer ${model.name}, ${where}, in ${model.subnets.map(({ subnet }) => subnet).join(", ")}`,
      why: `the ${model.askedBy} asks for one`,
      makes: { name: `load balancer ${model.name}`, id: (output) => output.LoadBalancers?.[0]?.LoadBalancerArn },
    },
  );
}

const sentMapping = ({ subnet, allocation, privateIpv4Address, ipv6Address, sourceNatIpv6Prefix }: SubnetMapping) => ({
  SubnetId: subnet,
  AllocationId: allocation,
  PrivateIPv4Address: privateIpv4Address,
  ...(ipv6Address !== undefined && { IPv6Address: ipv6Address }),
  ...(sourceNatIpv6Prefix !== undefined && { SourceNatIpv6Prefix: sourceNatIpv6Prefix }),
});

/** The groups, and whether their rules count for what comes by PrivateLink, which AWS takes with the groups only: new ones say yes. */
function planSecurityGroups(model: NetworkLoadBalancer, lb: SeenLoadBalancer | undefined, ids: GroupsPlan["ids"]): Step[] {
  const { name, privateLinkRules } = model;
  const attached = ids ?? lb?.securityGroups ?? [];
  const groupsDiffer = lb !== undefined && ids !== undefined && !sameSet(ids, lb.securityGroups);
  const rulesDiffer = attached.length > 0 && privateLinkRules !== undefined && privateLinkRules !== (lb?.kept?.privateLinkRules ?? "on");
  if (!groupsDiffer && !rulesDiffer) return [];
  const what = `set the security groups of load balancer ${name}`;
  return [
    step(
      setSecurityGroups,
      {
        LoadBalancerArn: lb?.arn ?? made(`load balancer ${name}`),
        SecurityGroups: attached,
        ...(rulesDiffer && { EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic: privateLinkRules }),
      },
      {
        what: rulesDiffer ? `${what}, with their rules ${privateLinkRules} for PrivateLink traffic` : what,
        why: groupsDiffer ? "the wanted groups differ from those attached" : "it differs from what is wanted",
      },
    ),
  ];
}

/** Where one that stands is, and with which addresses. AWS tells of prefixes that it chose itself too: only chosen ones are compared. */
function planPlace(model: NetworkLoadBalancer, lb: Pick<SeenLoadBalancer, "arn"> & NonNullable<SeenLoadBalancer["kept"]>): Step[] {
  const { name, subnets, addressType, sourceNat } = model;
  const why = "it differs from what is wanted";
  const zoneOf = ({ subnet }: SubnetMapping) => lb.zones.find((zone) => zone.subnet === subnet);
  const isOther = (mapping: SubnetMapping) => {
    const prefix = mapping.sourceNatIpv6Prefix;
    const zone = zoneOf(mapping);
    return zone === undefined || (prefix !== undefined && prefix !== autoAssigned && prefix !== zone.sourceNatPrefix);
  };
  const familyDiffers = addressType !== lb.addressType;
  const natDiffers = sourceNat !== undefined && sourceNat !== lb.sourceNat;
  const getsIpv6 = familyDiffers && addressType === "dualstack" && subnets.some(({ ipv6Address }) => ipv6Address !== undefined);
  if (subnets.length !== lb.zones.length || subnets.some(isOther) || natDiffers || getsIpv6) {
    const mappings = {
      LoadBalancerArn: lb.arn,
      SubnetMappings: subnets.map(sentMapping),
      ...(familyDiffers && { IpAddressType: addressType }),
      ...(sourceNat !== undefined && { EnablePrefixForIpv6SourceNat: sourceNat ? ("on" as const) : ("off" as const) }),
    };
    return [step(setSubnets, mappings, { what: `set the subnets of load balancer ${name} to ${placesText(model)}`, why })];
  }
  if (!familyDiffers) return [];
  const what = `make load balancer ${name} ${addressType} instead of ${lb.addressType}`;
  return [step(setIpAddressType, { LoadBalancerArn: lb.arn, IpAddressType: addressType }, { what, why })];
}

/** The prefix of source NAT is for AWS to choose. */
export const autoAssigned = "auto_assigned";

const placesText = ({ subnets, addressType, sourceNat }: NetworkLoadBalancer) =>
  `${subnets.map(({ subnet }) => subnet).join(", ")}, ${addressType}${sourceNat ? ", with source NAT" : ""}`;

/** What AWS gives a new network load balancer, of the keys we manage. */
const newLoadBalancerAttributes = { "load_balancing.cross_zone.enabled": "false", "access_logs.s3.enabled": "false" };
