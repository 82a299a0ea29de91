/** The steps from the application load balancer that is seen to the one that is wanted. Pure. */
import {
  createLoadBalancer,
  deleteLoadBalancer,
  modifyIpPools,
  setIpAddressType,
  setSecurityGroups,
  setSubnets,
} from "../../aws/elbv2-actions.ts";
import { made, type Step, step } from "../../aws/plan.ts";
import { planAttributes, planCapacity, sameSet } from "../elbv2/load-balancer-parts.ts";
import { type ForeignTags, planTags } from "../elbv2/tags.ts";
import { type GroupsPlan, isRevocation, planGroups, tagList } from "../groups/managed.ts";
import type { Seen } from "../kind.ts";
import type { ApplicationLoadBalancer, Attributes, Tags } from "../model.ts";
import { planTargetGroup, type SeenTargetGroup, standsFor, targetGroupDeletion } from "../target-group-plan.ts";
import { newAttributes } from "./default-attributes.ts";
import { noGuards, planGuards, type SeenGuards } from "./guards.ts";
import { planListeners, type SeenListener } from "./plan-listeners.ts";

export interface SeenApplication extends Seen {
  readonly kind: "application";
  readonly loadBalancer?: SeenLoadBalancer;
  /** Every target group that is its owner's, by its tags. */
  readonly targetGroups: readonly SeenTargetGroup[];
  /** Absent: nothing of it is managed. */
  readonly guards?: SeenGuards;
  /** Tags that somebody else keeps on what is ours. */
  readonly isForeignTag: ForeignTags;
}

export interface SeenLoadBalancer {
  readonly arn: string;
  readonly subnets: readonly string[];
  readonly securityGroups: readonly string[];
  readonly addressType: string;
  readonly ipv4IpamPool?: string;
  /** Read only while some are managed. */
  readonly attributes: Attributes;
  /** Read only while it is managed. */
  readonly capacity?: number;
  readonly tags: Tags;
  readonly listeners: readonly SeenListener[];
}

export function planApplication(model: ApplicationLoadBalancer, vpc: string, seen: SeenApplication): Step[] {
  const lb = seen.loadBalancer;
  const { isForeignTag } = seen;
  const groups = planGroups(model, vpc, seen.managedGroup);
  const arn = lb?.arn ?? made(`load balancer ${model.name}`);
  const targetGroups = model.targetGroups.map((group) => ({ group, plan: planTargetGroup(group, vpc, model, seen.targetGroups) }));
  const arnOf = (name: string) => targetGroups.find(({ plan }) => plan.name === name)?.plan.arn ?? made(`target group ${name}`);
  const retagged = targetGroups.flatMap(({ group }) => {
    const present = seen.targetGroups.find((each) => standsFor(each, group));
    if (present?.tags === undefined) return [];
    return planTags(`target group ${present.name}`, present.arn, group.tags ?? model.tags, present.tags, isForeignTag);
  });
  const unwanted = unwantedGroups(model, seen.targetGroups);
  const isCareful = lb !== undefined && model.keepsUnclaimed !== undefined;
  const widening = (steps: readonly Step[]) => (isCareful ? steps.filter(({ effect }) => effect === "create") : steps);
  return [
    ...widening(groups.open),
    ...targetGroups.flatMap(({ plan }) => plan.steps),
    ...widening(retagged),
    ...(lb === undefined ? [creation(model, groups.ids)] : isCareful ? [] : changes(model, lb, groups.ids, isForeignTag)),
    ...planAttributes(model, arn, lb?.attributes ?? newAttributes),
    ...planListeners(model, lb?.listeners ?? [], {
      loadBalancer: arn,
      arnOf,
      isForeignTag,
      understood: new Set(seen.targetGroups.filter((each) => !isKept(model, each)).map((each) => each.arn)),
    }),
    ...planCapacity(model, arn, lb?.capacity ?? 0),
    ...(isCareful ? [] : groups.close.filter(isRevocation)),
    ...unwanted.map(targetGroupDeletion),
    ...(isCareful ? [] : groups.close.filter((each) => !isRevocation(each))),
    ...(isCareful ? [] : planGuards(model, arn, seen.guards ?? noGuards)),
  ];
}

/** Those that go. Of two that could stand for the same one is enough. */
export function unwantedGroups(model: ApplicationLoadBalancer, seen: readonly SeenTargetGroup[]): readonly SeenTargetGroup[] {
  const used = model.targetGroups.map((group) => seen.find((present) => standsFor(present, group)));
  return seen.filter((present) => !used.includes(present) && !isKept(model, present));
}

/** It may be of somebody who cannot be understood. */
export function isKept({ keepsUnclaimed }: ApplicationLoadBalancer, { part = "" }: SeenTargetGroup): boolean {
  return keepsUnclaimed?.prefixes.some((prefix) => part.startsWith(prefix)) ?? false;
}

/** Its listeners and their rules go with it. */
export function planApplicationDeletion({ name, arn }: { readonly name: string; readonly arn: string }, askedBy: string): Step[] {
  const why = `the ${askedBy} no longer wants it`;
  const options = { what: `delete load balancer ${name}`, why, settledBy: ["LoadBalancerNotFound"] };
  return [step(deleteLoadBalancer, { LoadBalancerArn: arn }, options)];
}

function creation(model: ApplicationLoadBalancer, groups: GroupsPlan["ids"]): Step {
  const subnets = model.subnets.map(({ subnet }) => subnet);
  return step(
    createLoadBalancer,
    {
      Name: model.name,
      Type: "application",
      Scheme: schemeOf(model),
      IpAddressType: model.addressType,
      SubnetMappings: subnets.map((SubnetId) => ({ SubnetId })),
      SecurityGroups: groups ?? [],
      ...(model.customerOwnedIpv4Pool && { CustomerOwnedIpv4Pool: model.customerOwnedIpv4Pool }),
      ...(model.ipv4IpamPool && { IpamPools: { Ipv4IpamPoolId: model.ipv4IpamPool } }),
      Tags: tagList(model.tags),
    },
    {
      what: `create application load balancer ${model.name}, ${schemeOf(model)}, in ${subnets.join(", ")}`,
      why: `the ${model.askedBy} asks for one`,
      makes: { name: `load balancer ${model.name}`, id: (output) => output.LoadBalancers?.[0]?.LoadBalancerArn },
    },
  );
}

/** What can be changed in place: all but its name, its scheme and its pool of customer-owned addresses. */
function changes(model: ApplicationLoadBalancer, lb: SeenLoadBalancer, groups: GroupsPlan["ids"], isForeignTag: ForeignTags): Step[] {
  const { name, addressType, ipv4IpamPool } = model;
  const subnets = model.subnets.map(({ subnet }) => subnet);
  const LoadBalancerArn = lb.arn;
  const why = "it differs from what is wanted";
  const when = (differs: boolean, change: () => Step) => (differs ? [change()] : []);
  return [
    ...when(lb.ipv4IpamPool !== undefined && ipv4IpamPool === undefined, () =>
      step(
        modifyIpPools,
        { LoadBalancerArn, RemoveIpamPools: ["ipv4"] },
        { what: `take load balancer ${name} out of address pool ${lb.ipv4IpamPool}`, why },
      ),
    ),
    ...planTags(`load balancer ${name}`, lb.arn, model.tags, lb.tags, isForeignTag),
    ...when(groups !== undefined && !sameSet(groups, lb.securityGroups), () =>
      step(
        setSecurityGroups,
        { LoadBalancerArn, SecurityGroups: groups ?? [] },
        { what: `set the security groups of load balancer ${name}`, why: "the wanted groups differ from those attached" },
      ),
    ),
    ...when(!sameSet(subnets, lb.subnets), () =>
      step(
        setSubnets,
        { LoadBalancerArn, SubnetMappings: subnets.map((SubnetId) => ({ SubnetId })) },
        { what: `set the subnets of load balancer ${name} to ${subnets.join(", ")}`, why },
      ),
    ),
    ...when(addressType !== lb.addressType, () =>
      step(
        setIpAddressType,
        { LoadBalancerArn, IpAddressType: addressType },
        { what: `make load balancer ${name} ${addressType} instead of ${lb.addressType}`, why },
      ),
    ),
    ...when(ipv4IpamPool !== undefined && ipv4IpamPool !== lb.ipv4IpamPool, () =>
      step(
        modifyIpPools,
        { LoadBalancerArn, IpamPools: { Ipv4IpamPoolId: ipv4IpamPool } },
        { what: `give load balancer ${name} addresses of pool ${ipv4IpamPool}`, why },
      ),
    ),
  ];
}

const schemeOf = ({ internal }: Pick<ApplicationLoadBalancer, "internal">) => (internal ? "internal" : "internet-facing");
