/** Security groups of load balancers: what is seen of them, and the steps that make ours exactly as wanted. Pure. */
import type { IpPermission } from "@aws-sdk/client-ec2";
import {
  authorizeSecurityGroupIngress,
  createSecurityGroup,
  createTags,
  deleteSecurityGroup,
  deleteTags,
  revokeSecurityGroupIngress,
} from "../../aws/ec2-actions.ts";
import { type Made, made, type Planned, type Step, step } from "../../aws/plan.ts";
import type { LoadBalancerModel, ManagedGroup, Rule, Tags } from "../model.ts";
import { mayExceedQuota } from "./rule-quota.ts";

/** One rule of a group as EC2 tells it, with the id by which alone it is revoked. */
export interface SeenRule {
  readonly id: string;
  /** `tcp`, `udp`, `icmp`, `icmpv6`, `-1`, or a protocol number. */
  readonly protocol: string;
  readonly fromPort?: number;
  readonly toPort?: number;
  readonly cidr?: string;
  readonly prefixList?: string;
  readonly sourceGroup?: string;
  readonly description?: string;
}

/** A group with its ingress rules. */
export interface SeenGroup {
  readonly id: string;
  readonly name: string;
  readonly tags: Tags;
  /** Whether it carries this cluster's mark: without it, it is not ours to delete, whatever its name. */
  readonly owned: boolean;
  readonly rules: readonly SeenRule[];
}

export interface GroupPlan {
  /** Makes the group and lets in what has to come in. Before the load balancer is touched. */
  readonly open: readonly Step[];
  /** Takes away what is not wanted. After everything else: nobody is cut off before the new way is open. */
  readonly close: readonly Step[];
  /** The group's id, or the promise of one. */
  readonly id: string | Made;
}

/** Keeps a managed group to exactly its rules. Where not all fit beside each other, what is not wanted makes room first. */
export function planGroup(group: ManagedGroup, vpc: string, seen: SeenGroup | undefined, askedBy: string): GroupPlan {
  const promise = made(`security group ${group.name}`);
  const id = seen?.id ?? promise;
  const surplus = seen?.rules.filter((rule) => !group.rules.some((wanted) => ruleKey(wanted) === seenRuleKey(rule))) ?? [];
  const missing = missingRules(group, seen);
  const closing = surplus.length > 0 ? [revocation(group.name, seen!.id, surplus, `the ${askedBy} no longer allows these clients`)] : [];
  const closesFirst = mayExceedQuota(seen?.rules ?? [], missing);
  return {
    id,
    open: [
      ...(seen ? [] : [creation(group, vpc, promise)]),
      ...(seen ? planGroupTags(group, seen) : []),
      ...(closesFirst ? closing : []),
      ...(missing.length > 0 ? [authorization(group.name, id, missing, `the ${askedBy} allows these clients`)] : []),
    ],
    close: closesFirst ? [] : closing,
  };
}

/** The steps for all groups of a load balancer, and the groups it is to have. */
export interface GroupsPlan {
  readonly open: readonly Step[];
  readonly close: readonly Step[];
  /** Undefined: leave them as they are. */
  readonly ids: readonly (string | Made)[] | undefined;
}

/** Ours is kept as wanted while it is asked for, and goes when other groups are given in its place. */
export function planGroups(
  model: Pick<LoadBalancerModel, "securityGroups" | "askedBy">,
  vpc: string,
  seen: SeenGroup | undefined,
): GroupsPlan {
  const { securityGroups: groups, askedBy } = model;
  if (groups.kind === "as-it-is") return { open: [], close: [], ids: undefined };
  const plans = groups.groups.map((entry) =>
    entry.kind === "given" ? { id: entry.id, open: [], close: [] } : planGroup(entry.group, vpc, seen, askedBy),
  );
  const unused = seen?.owned && !groups.groups.some(({ kind }) => kind === "managed") ? [seen] : [];
  return {
    open: plans.flatMap(({ open }) => open),
    close: [...plans.flatMap(({ close }) => close), ...unused.map((group) => planGroupDeletion(group, "other groups replace it"))],
    ids: plans.map(({ id }) => id),
  };
}

/** What a managed group does not let in yet. */
export function missingRules(group: ManagedGroup, seen: SeenGroup | undefined): readonly Rule[] {
  return group.rules.filter((rule) => !seen?.rules.some((present) => seenRuleKey(present) === ruleKey(rule)));
}

/** Deletes one of our groups. AWS refuses while a load balancer's interfaces still use it, which takes a while to pass. */
export function planGroupDeletion(group: Pick<SeenGroup, "id" | "name">, why: string): Step {
  return step(
    deleteSecurityGroup,
    { GroupId: group.id },
    {
      what: `delete security group ${group.name}`,
      why,
      settledBy: ["InvalidGroup.NotFound"],
      waitsOn: ["DependencyViolation", "InvalidGroup.InUse"],
    },
  );
}

/** What makes a group of our name another's: it carries our mark with another value. */
export function groupConflict(group: ManagedGroup, seen: SeenGroup | undefined): string | undefined {
  const [key, expected] = Object.entries(group.ownership).find(([mark, value]) => seen?.tags[mark] && seen.tags[mark] !== value) ?? [];
  if (key === undefined) return undefined;
  return `resource "${seen?.id}" has tag belonging to another cluster: "${key}"="${seen?.tags[key]}" (expected "${expected}")`;
}

/** Lets in what the rules say, all or nothing: when one of them is there already, what we saw was old. */
export function authorization(name: string, id: string | Made, rules: readonly Rule[], why: string): Step {
  return step(
    authorizeSecurityGroupIngress,
    { GroupId: id, IpPermissions: rules.map(permission) },
    { what: `allow ${rules.map(ruleText).join(", ")} in security group ${name}`, why, waitsOn: ["InvalidPermission.Duplicate"] },
  );
}

/** Takes rules away, by their ids: nothing but these can be hit. All or nothing: when one is gone, what we saw was old. */
export function revocation(name: string, id: string, rules: readonly SeenRule[], why: string): Step {
  return step(
    revokeSecurityGroupIngress,
    { GroupId: id, SecurityGroupRuleIds: rules.map((rule) => rule.id) },
    {
      what: `revoke ${rules.map(seenRuleText).join(", ")} in security group ${name}`,
      why,
      waitsOn: ["InvalidSecurityGroupRuleId.NotFound", "InvalidPermission.NotFound"],
    },
  );
}

/** Whether a step closes what was open: no deletion that has to wait may hold it up. */
export const isRevocation = ({ action }: Step) => action === revokeSecurityGroupIngress;

/** Two rules of one key cannot stand in one group: EC2 takes them for the same, whatever their descriptions. */
export function ruleKey({ protocol, fromPort, toPort, cidr, prefixList }: Rule): string {
  const source = cidr ?? prefixList;
  return protocol === "all" ? `-1 ${source}` : `${protocol} ${fromPort}-${toPort} ${source}`;
}

/** The same of a rule that is there. */
export function seenRuleKey({ protocol, fromPort, toPort, cidr, prefixList, sourceGroup }: SeenRule): string {
  const source = cidr ?? prefixList ?? sourceGroup ?? "";
  return protocol === "-1" ? `-1 ${source}` : `${protocol} ${fromPort}-${toPort} ${source}`;
}

function creation(group: ManagedGroup, vpc: string, { made: name }: Made): Step {
  return step(
    createSecurityGroup,
    {
      GroupName: group.name,
      Description: group.description,
      VpcId: vpc,
      TagSpecifications: [{ ResourceType: "security-group", Tags: tagList(group.tags) }],
    },
    {
      what: `create security group ${group.name}`,
      why: "the load balancer needs one of its own",
      makes: { name, id: (output) => output.GroupId },
      // It was made a moment ago and is not seen yet: look again.
      waitsOn: ["InvalidGroup.Duplicate"],
    },
  );
}

/** Marks that are missing; where all tags are kept, also those that differ or that nobody asks for. */
export function planGroupTags(
  { name, tags, ownership, isForeignTag }: Pick<ManagedGroup, "name" | "tags" | "ownership" | "isForeignTag">,
  { id, tags: present }: Pick<SeenGroup, "id" | "tags">,
): Step[] {
  const isKept = (key: string) => key.startsWith("aws:") || isForeignTag === undefined || isForeignTag(key);
  const missing = Object.entries({ ...tags, ...ownership }).filter(([key, value]) =>
    isKept(key) ? key in ownership && !present[key] : present[key] !== value,
  );
  const surplus = Object.keys(present).filter((key) => !isKept(key) && !(key in tags) && !(key in ownership));
  const resources = { Resources: [id] };
  const why = "without this tag the group is not recognised as this cluster's";
  return [
    ...(missing.length > 0
      ? [
          step(
            createTags,
            { ...resources, Tags: tagList(Object.fromEntries(missing)) },
            { what: `tag security group ${name}`, why, needsRoom: ["TagLimitExceeded"] },
          ),
        ]
      : []),
    ...(surplus.length > 0
      ? [
          step(
            deleteTags,
            { ...resources, Tags: surplus.map((Key) => ({ Key })) },
            { what: `remove tags ${surplus.join(", ")} of security group ${name}`, why: "nothing asks for them" },
          ),
        ]
      : []),
  ];
}

/** A rule as EC2 takes it. */
export function permission(rule: Rule): Planned<IpPermission> {
  const { protocol, fromPort, toPort } = rule;
  const source = sourceOf(rule);
  return protocol === "all" ? { IpProtocol: "-1", ...source } : { IpProtocol: protocol, FromPort: fromPort, ToPort: toPort, ...source };
}

function sourceOf({ cidr, prefixList, description: Description }: Rule): Planned<IpPermission> {
  if (cidr === undefined) return { PrefixListIds: [{ PrefixListId: prefixList, Description }] };
  return cidr.includes(":") ? { Ipv6Ranges: [{ CidrIpv6: cidr, Description }] } : { IpRanges: [{ CidrIp: cidr, Description }] };
}

/** `tcp:80 from 0.0.0.0/0` */
export function ruleText({ protocol, fromPort, toPort, cidr, prefixList }: Rule): string {
  const source = cidr ?? prefixList;
  return protocol === "all" ? `everything from ${source}` : `${protocol}:${portText(fromPort, toPort)} from ${source}`;
}

function seenRuleText({ protocol, fromPort, toPort, cidr, prefixList, sourceGroup }: SeenRule): string {
  const source = cidr ?? prefixList ?? sourceGroup ?? "an unknown source";
  return protocol === "-1" ? `everything from ${source}` : `${protocol}:${portText(fromPort, toPort)} from ${source}`;
}

const portText = (from: number | undefined, to: number | undefined) => (from === to ? `${from}` : `${from}-${to}`);

/** Tags as AWS takes them. */
export const tagList = (tags: Tags) => Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
