/** The steps from the network load balancer that is seen to the one that is wanted. Pure. */
import { createLoadBalancer, deleteLoadBalancer, modifyLoadBalancerAttributes, setSecurityGroups } from "../../aws/elbv2-actions.ts";
import { type Made, made, type Step, step } from "../../aws/plan.ts";
import { attributesText, changedAttributes } from "../elbv2/attributes.ts";
import { type GroupsPlan, isRevocation, planGroupDeletion, planGroups, type SeenGroup, tagList } from "../groups/managed.ts";
import type { Seen } from "../kind.ts";
import type { Attributes, NetworkLoadBalancer } from "../model.ts";
import { planTargetGroup, type SeenTargetGroup, targetGroupDeletion } from "../target-group-plan.ts";
import { planListeners, type SeenListener } from "./plan-listeners.ts";

export interface SeenNetwork extends Seen {
  readonly kind: "network";
  readonly loadBalancer?: {
    readonly arn: string;
    readonly securityGroups: readonly string[];
    readonly attributes: Readonly<Record<string, string>>;
    readonly listeners: readonly SeenListener[];
  };
  /** Every target group that is this load balancer's, by what AWS says or by its tags and name. */
  readonly targetGroups: readonly SeenTargetGroup[];
}

export function planNetwork(model: NetworkLoadBalancer, vpc: string, seen: SeenNetwork): Step[] {
  const lb = seen.loadBalancer;
  // A load balancer made without groups can never get one: AWS refuses it.
  const locked = lb?.securityGroups.length === 0;
  const groups = planGroups(locked ? { ...model, securityGroups: { kind: "as-it-is" } } : model, vpc, seen.managedGroup);
  const arn = lb?.arn ?? made(`load balancer ${model.name}`);
  const targetGroups = model.targetGroups.map((group) => planTargetGroup(group, vpc, model, seen.targetGroups));
  const arnOf = (name: string) => targetGroups.find((plan) => plan.name === name)?.arn ?? made(`target group ${name}`);
  const listeners = planListeners(model, arn, arnOf, lb?.listeners ?? []);
  return [
    ...groups.open,
    ...(lb ? [] : [creation(model, groups.ids)]),
    ...(lb ? attach(model, lb, groups.ids) : []),
    ...targetGroups.flatMap(({ steps }) => steps),
    ...targetGroups.flatMap(({ targets }) => targets),
    ...listeners,
    ...planAttributes(model, arn, lb?.attributes ?? newLoadBalancerAttributes),
    ...groups.close.filter(isRevocation),
    ...seen.targetGroups.filter(({ name }) => !model.targetGroups.some((group) => group.name === name)).map(targetGroupDeletion),
    ...groups.close.filter((each) => !isRevocation(each)),
  ];
}

/** As much of what is seen as a deletion needs. */
export interface NetworkLeftovers {
  readonly loadBalancer?: { readonly arn: string };
  readonly targetGroups: readonly Pick<SeenTargetGroup, "arn" | "name">[];
  readonly managedGroup?: Pick<SeenGroup, "id" | "name">;
}

/** Everything that is ours goes, in the order AWS allows: the load balancer, its target groups, its security group. */
export function planNetworkDeletion(name: string, seen: NetworkLeftovers, askedBy: string): Step[] {
  const why = `the ${askedBy} does not want it any more`;
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
      SubnetMappings: model.subnets.map(({ subnet, allocation, privateIpv4Address }) => ({
        SubnetId: subnet,
        AllocationId: allocation,
        PrivateIPv4Address: privateIpv4Address,
      })),
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

function attach({ name }: NetworkLoadBalancer, lb: NonNullable<SeenNetwork["loadBalancer"]>, ids: GroupsPlan["ids"]): Step[] {
  if (ids === undefined || sameSet(ids, lb.securityGroups)) return [];
  const why = "the wanted groups differ from those attached";
  return [
    step(
      setSecurityGroups,
      { LoadBalancerArn: lb.arn, SecurityGroups: ids },
      { what: `set the security groups of load balancer ${name}`, why },
    ),
  ];
}

/** What AWS gives a new network load balancer, of the keys we manage. */
const newLoadBalancerAttributes = { "load_balancing.cross_zone.enabled": "false", "access_logs.s3.enabled": "false" };

function planAttributes({ name, attributes }: NetworkLoadBalancer, arn: string | Made, present: Attributes): Step[] {
  const changed = changedAttributes(attributes, present);
  if (changed.length === 0) return [];
  return [
    step(
      modifyLoadBalancerAttributes,
      { LoadBalancerArn: arn, Attributes: changed },
      { what: `set ${attributesText(changed)} on load balancer ${name}`, why: "it differs from what is wanted" },
    ),
  ];
}

const sameSet = (a: readonly unknown[], b: readonly unknown[]) => a.length === b.length && a.every((item) => b.includes(item));
