/** The rules of security groups: authorised, revoked, described and changed, by content or by id. */
import {
  AuthorizeSecurityGroupEgress$,
  type AuthorizeSecurityGroupEgressRequest,
  AuthorizeSecurityGroupIngress$,
  type AuthorizeSecurityGroupIngressRequest,
  type AuthorizeSecurityGroupIngressResult,
  DescribeSecurityGroupRules$,
  type DescribeSecurityGroupRulesRequest,
  type DescribeSecurityGroupRulesResult,
  ModifySecurityGroupRules$,
  type ModifySecurityGroupRulesRequest,
  type ModifySecurityGroupRulesResult,
  RevokeSecurityGroupEgress$,
  type RevokeSecurityGroupEgressRequest,
  RevokeSecurityGroupIngress$,
  type RevokeSecurityGroupIngressRequest,
  type RevokeSecurityGroupIngressResult,
  type SecurityGroupRule as RuleAnswer,
  type SecurityGroupRuleRequest,
  UpdateSecurityGroupRuleDescriptionsEgress$,
  type UpdateSecurityGroupRuleDescriptionsEgressRequest,
  UpdateSecurityGroupRuleDescriptionsIngress$,
  type UpdateSecurityGroupRuleDescriptionsIngressRequest,
  type UpdateSecurityGroupRuleDescriptionsIngressResult,
} from "@aws-sdk/client-ec2";
import { arn } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { type FilterTable, filtered, tagFilters } from "./filters.ts";
import { find, findAll, KINDS } from "./kinds.ts";
import { page } from "./pages.ts";
import {
  checkedCidr,
  checkedDescription,
  checkedPorts,
  checkedPrefixList,
  checkedProtocol,
  type PermissionInput,
  type RuleContent,
  ruleContents,
  ruleKey,
  ruleText,
} from "./permissions.ts";
import { groupGiven } from "./security-groups.ts";
import type { Ec2, RulePeer, SecurityGroup, SecurityGroupRule, Tags } from "./state.ts";
import { needsCreateTags, specifiedTags, tagList } from "./tags.ts";

/** The operations on rules. */
export function securityGroupRuleOperations(ec2: Ec2): Operations {
  return [
    write<AuthorizeSecurityGroupIngressRequest, AuthorizeSecurityGroupIngressResult>(
      AuthorizeSecurityGroupIngress$,
      (input) => authorize(ec2, input, false),
      needsCreateTags,
    ),
    write<AuthorizeSecurityGroupEgressRequest, AuthorizeSecurityGroupIngressResult>(
      AuthorizeSecurityGroupEgress$,
      (input) => authorize(ec2, input, true),
      needsCreateTags,
    ),
    write<RevokeSecurityGroupIngressRequest, RevokeSecurityGroupIngressResult>(RevokeSecurityGroupIngress$, (input) =>
      revoke(ec2, input, false),
    ),
    write<RevokeSecurityGroupEgressRequest, RevokeSecurityGroupIngressResult>(RevokeSecurityGroupEgress$, (input) =>
      revoke(ec2, input, true),
    ),
    write<UpdateSecurityGroupRuleDescriptionsIngressRequest, UpdateSecurityGroupRuleDescriptionsIngressResult>(
      UpdateSecurityGroupRuleDescriptionsIngress$,
      (input) => describeAnew(ec2, input, false),
    ),
    write<UpdateSecurityGroupRuleDescriptionsEgressRequest, UpdateSecurityGroupRuleDescriptionsIngressResult>(
      UpdateSecurityGroupRuleDescriptionsEgress$,
      (input) => describeAnew(ec2, input, true),
    ),
    write<ModifySecurityGroupRulesRequest, ModifySecurityGroupRulesResult>(ModifySecurityGroupRules$, (input) => modify(ec2, input)),
    read<DescribeSecurityGroupRulesRequest, DescribeSecurityGroupRulesResult>(DescribeSecurityGroupRules$, (input) => {
      const { items, NextToken } = page(
        ec2,
        filtered(rulesAsked(ec2, input.SecurityGroupRuleIds), input.Filters, FILTERS),
        (rule) => rule.id,
        input,
        {
          action: "DescribeSecurityGroupRules",
          min: 5,
          max: 1000,
        },
      );
      return { SecurityGroupRules: items.map((rule) => answerFor(ec2, rule)), NextToken };
    }),
  ];
}

type AuthorizeInput = Pick<AuthorizeSecurityGroupIngressRequest, "GroupName" | "GroupId" | "TagSpecifications"> & PermissionInput;

function authorize(ec2: Ec2, input: AuthorizeInput, egress: boolean): AuthorizeSecurityGroupIngressResult {
  const tags = specifiedTags(input.TagSpecifications, KINDS.rule);
  const group = groupGiven(ec2, input);
  const contents = ruleContents(ec2, group, input);
  const existing = rulesOf(ec2, group, egress);
  const keys = new Set(existing.map(ruleKey));
  const duplicate = contents.find((content) => keys.has(ruleKey(content)));
  if (duplicate !== undefined) {
    throw new ServiceError("InvalidPermission.Duplicate", `the specified rule "${ruleText(duplicate)}" already exists`);
  }
  checkQuota(ec2, [...existing, ...contents]);
  const made = contents.map((content) => putRule(ec2, group, egress, content, tags));
  return { Return: true, SecurityGroupRules: made.map((rule) => answerFor(ec2, rule)) };
}

/** The quota holds for each direction and each family: a rule for a group or a prefix list counts in both. */
function checkQuota(ec2: Ec2, rules: readonly RuleContent[]): void {
  const { rulesPerSecurityGroup } = ec2.account.settings().quotas;
  for (const other of ["ipv6", "ipv4"]) {
    if (rules.filter((rule) => rule.peer.kind !== other).length > rulesPerSecurityGroup) {
      throw new ServiceError("RulesPerSecurityGroupLimitExceeded", "The maximum number of rules per security group has been reached.");
    }
  }
}

function putRule(ec2: Ec2, group: SecurityGroup, egress: boolean, content: RuleContent, tags: Tags): SecurityGroupRule {
  const id = ec2.account.ids.resource("sgr");
  return ec2.rules.put(id, { id, groupId: group.id, egress, ...content, tags });
}

type RevokeInput = Pick<RevokeSecurityGroupIngressRequest, "GroupId" | "GroupName" | "SecurityGroupRuleIds"> & PermissionInput;

/** All or nothing: one rule that is not there, and none is revoked. */
function revoke(ec2: Ec2, input: RevokeInput, egress: boolean): RevokeSecurityGroupIngressResult {
  const group = groupGiven(ec2, input);
  const revoked = input.SecurityGroupRuleIds?.length
    ? rulesById(ec2, group, egress, input.SecurityGroupRuleIds)
    : rulesByContent(ec2, group, egress, input);
  for (const rule of revoked) ec2.rules.delete(rule.id);
  return {
    Return: true,
    RevokedSecurityGroupRules: revoked.map((rule) => ({
      SecurityGroupRuleId: rule.id,
      GroupId: group.id,
      IsEgress: egress,
      IpProtocol: rule.protocol,
      FromPort: rule.fromPort ?? -1,
      ToPort: rule.toPort ?? -1,
      CidrIpv4: rule.peer.kind === "ipv4" ? rule.peer.cidr : undefined,
      CidrIpv6: rule.peer.kind === "ipv6" ? rule.peer.cidr : undefined,
      PrefixListId: rule.peer.kind === "prefix-list" ? rule.peer.id : undefined,
      ReferencedGroupId: rule.peer.kind === "group" ? rule.peer.groupId : undefined,
      Description: rule.description,
    })),
  };
}

function rulesById(ec2: Ec2, group: SecurityGroup, egress: boolean, ids: readonly string[]): readonly SecurityGroupRule[] {
  const rules = findAll(ec2.rules, KINDS.rule, ids);
  const foreign = rules.find((rule) => rule.groupId !== group.id || rule.egress !== egress);
  if (foreign !== undefined) {
    throw new ServiceError(KINDS.rule.notFound, `The security group rule ID '${foreign.id}' does not exist in this security group`);
  }
  return rules;
}

function rulesByContent(ec2: Ec2, group: SecurityGroup, egress: boolean, input: PermissionInput): readonly SecurityGroupRule[] {
  const existing = new Map(rulesOf(ec2, group, egress).map((rule) => [ruleKey(rule), rule]));
  return ruleContents(ec2, group, input).map((content) => {
    const rule = existing.get(ruleKey(content));
    if (rule === undefined) {
      throw new ServiceError("InvalidPermission.NotFound", "The specified rule does not exist in this security group.");
    }
    return rule;
  });
}

function describeAnew(
  ec2: Ec2,
  input: UpdateSecurityGroupRuleDescriptionsIngressRequest,
  egress: boolean,
): UpdateSecurityGroupRuleDescriptionsIngressResult {
  const group = groupGiven(ec2, input);
  if (input.SecurityGroupRuleDescriptions?.length) {
    const wanted = input.SecurityGroupRuleDescriptions;
    const rules = rulesById(
      ec2,
      group,
      egress,
      wanted.map((entry) => entry.SecurityGroupRuleId ?? ""),
    );
    rules.forEach((rule, index) => {
      ec2.rules.update(rule.id, { description: checkedDescription(wanted[index]?.Description) });
    });
  } else {
    const contents = ruleContents(ec2, group, input);
    const rules = rulesByContent(ec2, group, egress, input);
    rules.forEach((rule, index) => {
      ec2.rules.update(rule.id, { description: contents[index]?.description });
    });
  }
  return { Return: true };
}

function modify(ec2: Ec2, input: ModifySecurityGroupRulesRequest): ModifySecurityGroupRulesResult {
  const group = groupGiven(ec2, input);
  const wanted = input.SecurityGroupRules ?? [];
  const changes = wanted.map(({ SecurityGroupRuleId, SecurityGroupRule }) => {
    const rule = find(ec2.rules, KINDS.rule, SecurityGroupRuleId ?? "");
    if (rule.groupId !== group.id)
      throw new ServiceError(KINDS.rule.notFound, `The security group rule ID '${rule.id}' does not exist in this security group`);
    return { rule, content: requestedContent(ec2, SecurityGroupRule ?? {}) };
  });
  const touched = new Set(changes.map(({ rule }) => rule.id));
  for (const { rule, content } of changes) {
    const others = rulesOf(ec2, group, rule.egress).filter((other) => !touched.has(other.id));
    if (others.some((other) => ruleKey(other) === ruleKey(content))) {
      throw new ServiceError("InvalidPermission.Duplicate", `the specified rule "${ruleText(content)}" already exists`);
    }
  }
  for (const { rule, content } of changes) ec2.rules.update(rule.id, content);
  return { Return: true };
}

function requestedContent(ec2: Ec2, request: SecurityGroupRuleRequest): RuleContent {
  const protocol = checkedProtocol(request.IpProtocol);
  return {
    protocol,
    ...checkedPorts(protocol, request.FromPort, request.ToPort),
    peer: requestedPeer(ec2, request),
    description: checkedDescription(request.Description),
  };
}

function requestedPeer(ec2: Ec2, request: SecurityGroupRuleRequest): RulePeer {
  if (request.CidrIpv4 !== undefined) return { kind: "ipv4", cidr: checkedCidr(request.CidrIpv4, 4) };
  if (request.CidrIpv6 !== undefined) return { kind: "ipv6", cidr: checkedCidr(request.CidrIpv6, 6) };
  if (request.PrefixListId !== undefined) return { kind: "prefix-list", id: checkedPrefixList(request.PrefixListId) };
  const group = find(ec2.securityGroups, KINDS.securityGroup, request.ReferencedGroupId ?? "");
  return { kind: "group", groupId: group.id, userId: ec2.account.id };
}

function rulesOf(ec2: Ec2, group: SecurityGroup, egress: boolean): SecurityGroupRule[] {
  return ec2.rules.values().filter((rule) => rule.groupId === group.id && rule.egress === egress);
}

function rulesAsked(ec2: Ec2, ids: readonly string[] | undefined): readonly SecurityGroupRule[] {
  return ids?.length ? findAll(ec2.rules, KINDS.rule, ids) : ec2.rules.values();
}

function answerFor(ec2: Ec2, rule: SecurityGroupRule): RuleAnswer {
  const { peer } = rule;
  return {
    SecurityGroupRuleId: rule.id,
    GroupId: rule.groupId,
    GroupOwnerId: ec2.account.id,
    IsEgress: rule.egress,
    IpProtocol: rule.protocol,
    FromPort: rule.fromPort ?? -1,
    ToPort: rule.toPort ?? -1,
    CidrIpv4: peer.kind === "ipv4" ? peer.cidr : undefined,
    CidrIpv6: peer.kind === "ipv6" ? peer.cidr : undefined,
    PrefixListId: peer.kind === "prefix-list" ? peer.id : undefined,
    ReferencedGroupInfo: peer.kind === "group" ? { GroupId: peer.groupId, UserId: peer.userId } : undefined,
    Description: rule.description,
    Tags: tagList(rule.tags),
    SecurityGroupRuleArn: arn(ec2.account, "ec2", `security-group-rule/${rule.id}`),
  };
}

const FILTERS: FilterTable<SecurityGroupRule> = {
  ...tagFilters<SecurityGroupRule>(),
  "group-id": (rule) => rule.groupId,
  "security-group-rule-id": (rule) => rule.id,
};
