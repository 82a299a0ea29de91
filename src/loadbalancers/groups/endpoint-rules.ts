/**
 * What TargetGroupBindings let in to their targets, as rules of the targets' security groups: the union over all bindings,
 * one writer for each group. Pure.
 */
import { authorizeSecurityGroupIngress } from "../../aws/ec2-actions.ts";
import { type Step, step } from "../../aws/plan.ts";
import { revocation, type SeenRule, seenRuleKey } from "./managed.ts";

/** The whole description of a rule of ours. */
export const endpointRuleDescription = "elbv2.k8s.aws/targetGroupBinding=shared";

/** One thing to let in: from a block of addresses, or from whatever has a group. */
export interface EndpointRule {
  readonly protocol: "tcp" | "udp";
  readonly fromPort: number;
  readonly toPort: number;
  readonly source: { readonly kind: "cidr"; readonly cidr: string } | { readonly kind: "group"; readonly id: string };
}

export interface EndpointGroup {
  readonly id: string;
  readonly rules: readonly SeenRule[];
}

const sourceText = ({ source }: EndpointRule) => (source.kind === "cidr" ? source.cidr : source.id);

export const endpointRuleKey = (rule: EndpointRule) => `${rule.protocol} ${rule.fromPort}-${rule.toPort} ${sourceText(rule)}`;

/**
 * What a group has to let in for everybody. Rules from a group are one per protocol and source, from the lowest port to the
 * highest, unless they are to be exact: AWS allows few rules for a group, and the reference writes them so.
 */
export function unionOf(rules: readonly EndpointRule[], exact: boolean): readonly EndpointRule[] {
  const distinct = [...new Map(rules.map((rule) => [endpointRuleKey(rule), rule])).values()];
  if (exact) return distinct;
  const fromGroups = Map.groupBy(
    distinct.filter(({ source }) => source.kind === "group"),
    (rule) => `${rule.protocol} ${sourceText(rule)}`,
  );
  const joined = [...fromGroups.values()].map((some): EndpointRule => {
    const all = some.some(({ fromPort, toPort }) => fromPort === 0 && toPort === 0);
    const fromPort = all ? 0 : Math.min(...some.map((rule) => rule.fromPort));
    const toPort = all ? 65_535 : Math.max(...some.map((rule) => rule.toPort));
    return { ...some[0]!, fromPort, toPort };
  });
  return [...distinct.filter(({ source }) => source.kind === "cidr"), ...joined];
}

/** Labels in a description: `key=value`, several of them apart by commas. */
const labels = /([^\s,=]+)=([^\s,=]+)(?:,|$)/g;

function isOurs({ description = "" }: SeenRule): boolean {
  return [...description.matchAll(labels)].some(([, key, value]) => `${key}=${value}` === endpointRuleDescription);
}

export interface EndpointRulePlan {
  readonly grant: readonly Step[];
  readonly revoke: readonly Step[];
}

export interface EndpointRuleWish {
  /** What everybody has asked for who is known in full. */
  readonly asked: readonly EndpointRule[];
  /** What those may have asked for who are not: it stays as far as it is there, and is not granted anew. */
  readonly unheard: readonly EndpointRule[];
  /** Write every rule as it is asked for, and join none. */
  readonly exact: boolean;
}

/** A rule that is there under another description counts as there, and is none of our business. */
export function planEndpointRules(group: EndpointGroup, { asked, unheard, exact }: EndpointRuleWish): EndpointRulePlan {
  const wanted = unionOf([...asked, ...standing(group, unheard)], exact);
  const present = new Set(group.rules.map(seenRuleKey));
  const keys = new Set(wanted.map(endpointRuleKey));
  const missing = wanted.filter((rule) => !present.has(endpointRuleKey(rule)));
  const surplus = group.rules.filter((rule) => isOurs(rule) && !keys.has(seenRuleKey(rule)));
  return {
    grant: missing.length > 0 ? [grant(group.id, missing)] : [],
    revoke: surplus.length > 0 ? [revocation(group.id, group.id, surplus, "no TargetGroupBinding asks for them")] : [],
  };
}

/** As much of these rules as a group lets in already by rules of ours: of a range of ports, those that they share. */
function standing(group: EndpointGroup, rules: readonly EndpointRule[]): readonly EndpointRule[] {
  return group.rules.filter(isOurs).flatMap(({ protocol, fromPort = 0, toPort = 0, cidr, sourceGroup }) =>
    rules
      .filter((rule) => rule.protocol === protocol && sourceText(rule) === (cidr ?? sourceGroup))
      .map((rule) => ({ ...rule, fromPort: Math.max(rule.fromPort, fromPort), toPort: Math.min(rule.toPort, toPort) }))
      .filter((rule) => rule.fromPort <= rule.toPort),
  );
}

function grant(id: string, rules: readonly EndpointRule[]): Step {
  const permissions = rules.map(({ protocol, fromPort, toPort, source }) => ({
    IpProtocol: protocol,
    FromPort: fromPort,
    ToPort: toPort,
    ...sourceOf(source),
  }));
  const texts = rules.map((rule) => `${rule.protocol}:${rule.fromPort}-${rule.toPort} from ${sourceText(rule)}`);
  return step(
    authorizeSecurityGroupIngress,
    { GroupId: id, IpPermissions: permissions },
    {
      what: `allow ${texts.join(", ")} in security group ${id}`,
      why: "TargetGroupBindings allow this traffic to their targets",
      waitsOn: ["InvalidPermission.Duplicate"],
      // One source that does not exist, or is none, fails the whole call: the others are let in without it.
      batch: { ids: rules.map(endpointRuleKey), refusedBy, only: (keys) => grant(id, onlyThese(rules, keys)) },
      needsRoom: ["RulesPerSecurityGroupLimitExceeded"],
    },
  );
}

const refusedBy = ["InvalidGroup.NotFound", "InvalidGroupId.Malformed", "InvalidParameterValue", "InvalidPermission.Malformed"];

function onlyThese(rules: readonly EndpointRule[], keys: readonly string[]): readonly EndpointRule[] {
  return rules.filter((rule) => keys.includes(endpointRuleKey(rule)));
}

/** Whether a rule, perhaps joined with others, is part of what this one asks for. */
export function isPartOf(key: string, rule: EndpointRule): boolean {
  return key.startsWith(`${rule.protocol} `) && key.endsWith(` ${sourceText(rule)}`);
}

function sourceOf(source: EndpointRule["source"]) {
  const Description = endpointRuleDescription;
  if (source.kind === "group") return { UserIdGroupPairs: [{ GroupId: source.id, Description }] };
  const { cidr } = source;
  return cidr.includes(":") ? { Ipv6Ranges: [{ CidrIpv6: cidr, Description }] } : { IpRanges: [{ CidrIp: cidr, Description }] };
}
