/** Security groups. Their rules are in `security-group-rules.ts`. */
import {
  CreateSecurityGroup$,
  type CreateSecurityGroupRequest,
  type CreateSecurityGroupResult,
  DeleteSecurityGroup$,
  type DeleteSecurityGroupRequest,
  type DeleteSecurityGroupResult,
  DescribeSecurityGroups$,
  type DescribeSecurityGroupsRequest,
  type DescribeSecurityGroupsResult,
  type SecurityGroup as SecurityGroupAnswer,
} from "@aws-sdk/client-ec2";
import { arn } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { type FilterTable, filtered, tagFilters } from "./filters.ts";
import { find, findAll, KINDS } from "./kinds.ts";
import { page } from "./pages.ts";
import { permissionsOf } from "./permissions.ts";
import type { Ec2, RulePeer, SecurityGroup, SecurityGroupRule } from "./state.ts";
import { needsCreateTags, specifiedTags, tagList } from "./tags.ts";

/** The operations on security groups themselves. */
export function securityGroupOperations(ec2: Ec2): Operations {
  return [
    write<CreateSecurityGroupRequest, CreateSecurityGroupResult>(
      CreateSecurityGroup$,
      (input) => {
        const group = createSecurityGroup(ec2, input);
        return { GroupId: group.id, Tags: tagList(group.tags), SecurityGroupArn: groupArn(ec2, group) };
      },
      needsCreateTags,
    ),
    write<DeleteSecurityGroupRequest, DeleteSecurityGroupResult>(DeleteSecurityGroup$, (input) => {
      const group = groupGiven(ec2, input);
      deleteSecurityGroup(ec2, group);
      return { Return: true, GroupId: group.id };
    }),
    read<DescribeSecurityGroupsRequest, DescribeSecurityGroupsResult>(DescribeSecurityGroups$, (input) => describeGroups(ec2, input)),
  ];
}

/** A group that lets everything out, as new ones do. */
export function createSecurityGroup(ec2: Ec2, input: CreateSecurityGroupRequest): SecurityGroup {
  const tags = specifiedTags(input.TagSpecifications, KINDS.securityGroup);
  const name = input.GroupName ?? "";
  checkText(name, "GroupName");
  checkText(input.Description ?? "", "GroupDescription");
  if (name.toLowerCase().startsWith("sg-")) {
    throw new ServiceError(
      "InvalidParameterValue",
      `Value (${name}) for parameter GroupName is invalid. Group names may not be in the format sg-*.`,
    );
  }
  if (name === "default") throw new ServiceError("InvalidParameterValue", "Cannot use reserved security group name: default");
  const vpcId = vpcFor(ec2, input.VpcId);
  if (ec2.securityGroups.values().some((group) => group.vpcId === vpcId && group.name === name)) {
    throw new ServiceError("InvalidGroup.Duplicate", `The security group '${name}' already exists for VPC '${vpcId}'`);
  }
  if (ec2.securityGroups.size >= ec2.account.settings().quotas.securityGroupsPerRegion) {
    throw new ServiceError("SecurityGroupLimitExceeded", "The maximum number of security groups for this region has been reached.");
  }
  return put(ec2, { name, description: input.Description ?? "", vpcId, tags });
}

/** The group every VPC is born with: its members reach each other. */
export function createDefaultGroup(ec2: Ec2, vpcId: string): SecurityGroup {
  const group = put(ec2, { name: "default", description: "default VPC security group", vpcId, tags: {} });
  addRule(ec2, group.id, false, { kind: "group", groupId: group.id, userId: ec2.account.id });
  return group;
}

/** The group named by id, or by name in the default VPC. */
export function groupGiven(
  ec2: Ec2,
  input: { readonly GroupId?: string | undefined; readonly GroupName?: string | undefined },
): SecurityGroup {
  if (input.GroupId !== undefined) return find(ec2.securityGroups, KINDS.securityGroup, input.GroupId);
  if (input.GroupName === undefined) {
    throw new ServiceError("MissingParameter", "The request must contain the parameter groupName or groupId");
  }
  const vpcId = vpcFor(ec2, undefined);
  const group = ec2.securityGroups.values().find((other) => other.vpcId === vpcId && other.name === input.GroupName);
  if (group === undefined) {
    throw new ServiceError("InvalidGroup.NotFound", `The security group '${input.GroupName}' does not exist in default VPC '${vpcId}'`);
  }
  return group;
}

/** Deletes a group that nothing uses: no interface, and no rule of another group. */
function deleteSecurityGroup(ec2: Ec2, group: SecurityGroup): void {
  if (group.name === "default") {
    throw new ServiceError("CannotDelete", `the specified group: "${group.id}" name: "default" cannot be deleted by a user`);
  }
  const used = ec2.interfaces.values().some((networkInterface) => networkInterface.groupIds.includes(group.id));
  const rules = ec2.rules.values();
  const referred = rules.some((rule) => rule.groupId !== group.id && rule.peer.kind === "group" && rule.peer.groupId === group.id);
  if (used || referred) throw new ServiceError("DependencyViolation", `resource ${group.id} has a dependent object`);
  for (const rule of rules) if (rule.groupId === group.id) ec2.rules.delete(rule.id);
  ec2.securityGroups.delete(group.id);
}

function put(ec2: Ec2, content: Omit<SecurityGroup, "id">): SecurityGroup {
  const group = { ...content, id: ec2.account.ids.resource("sg") };
  ec2.securityGroups.put(group.id, group);
  addRule(ec2, group.id, true, { kind: "ipv4", cidr: "0.0.0.0/0" });
  if (ec2.vpcs.get(group.vpcId)?.ipv6Cidr !== undefined) addRule(ec2, group.id, true, { kind: "ipv6", cidr: "::/0" });
  return group;
}

function addRule(ec2: Ec2, groupId: string, egress: boolean, peer: RulePeer): void {
  const id = ec2.account.ids.resource("sgr");
  ec2.rules.put(id, {
    id,
    groupId,
    egress,
    protocol: "-1",
    fromPort: undefined,
    toPort: undefined,
    peer,
    description: undefined,
    tags: {},
  });
}

function vpcFor(ec2: Ec2, id: string | undefined): string {
  if (id !== undefined) return find(ec2.vpcs, KINDS.vpc, id).id;
  const fallback = ec2.vpcs.values().find((vpc) => vpc.isDefault);
  if (fallback === undefined) throw new ServiceError("VPCIdNotSpecified", "No default VPC for this user");
  return fallback.id;
}

function checkText(text: string, parameter: string): void {
  if (text === "") throw new ServiceError("MissingParameter", `The request must contain the parameter ${parameter}`);
  if (text.length > 255 || !/^[a-zA-Z0-9 ._\-:/()#,@[\]+=&;{}!$*]*$/.test(text)) {
    throw new ServiceError(
      "InvalidParameterValue",
      `Value (${text}) for parameter ${parameter} is invalid. Character sets beyond ASCII are not supported.`,
    );
  }
}

function groupArn(ec2: Ec2, group: SecurityGroup): string {
  return arn(ec2.account, "ec2", `security-group/${group.id}`);
}

/** A group with its rules, gathered once for a whole answer. */
interface GroupView {
  readonly group: SecurityGroup;
  readonly tags: SecurityGroup["tags"];
  readonly ingress: readonly SecurityGroupRule[];
  readonly egress: readonly SecurityGroupRule[];
}

function describeGroups(ec2: Ec2, input: DescribeSecurityGroupsRequest): DescribeSecurityGroupsResult {
  const groups = input.GroupIds?.length ? findAll(ec2.securityGroups, KINDS.securityGroup, input.GroupIds) : ec2.securityGroups.values();
  for (const GroupName of input.GroupNames ?? []) groupGiven(ec2, { GroupName });
  const rules = Map.groupBy(ec2.rules.values(), (rule) => rule.groupId);
  const views = groups
    .filter((group) => !input.GroupNames?.length || input.GroupNames.includes(group.name))
    .map((group): GroupView => {
      const own = rules.get(group.id) ?? [];
      return { group, tags: group.tags, ingress: own.filter((rule) => !rule.egress), egress: own.filter((rule) => rule.egress) };
    });
  const { items, NextToken } = page(ec2, filtered(views, input.Filters, filterTable(ec2)), (view) => view.group.id, input, {
    action: "DescribeSecurityGroups",
    min: 5,
    max: 1000,
  });
  return { SecurityGroups: items.map((view) => answerFor(ec2, view)), NextToken };
}

function answerFor(ec2: Ec2, { group, ingress, egress }: GroupView): SecurityGroupAnswer {
  return {
    GroupId: group.id,
    IpPermissionsEgress: permissionsOf(egress),
    Tags: tagList(group.tags),
    VpcId: group.vpcId,
    SecurityGroupArn: groupArn(ec2, group),
    OwnerId: ec2.account.id,
    GroupName: group.name,
    Description: group.description,
    IpPermissions: permissionsOf(ingress),
  };
}

function filterTable(ec2: Ec2): FilterTable<GroupView> {
  return {
    ...tagFilters<GroupView>(),
    description: (view) => view.group.description,
    "group-id": (view) => view.group.id,
    "group-name": (view) => view.group.name,
    "owner-id": () => ec2.account.id,
    "vpc-id": (view) => view.group.vpcId,
    ...ruleFilters(ec2, "ip-permission", (view) => view.ingress),
    ...ruleFilters(ec2, "egress.ip-permission", (view) => view.egress),
  };
}

function ruleFilters(ec2: Ec2, prefix: string, rulesOf: (view: GroupView) => readonly SecurityGroupRule[]): FilterTable<GroupView> {
  const each = (value: (rule: SecurityGroupRule) => string | number | undefined) => (view: GroupView) => rulesOf(view).map(value);
  return {
    [`${prefix}.cidr`]: each(({ peer }) => (peer.kind === "ipv4" ? peer.cidr : undefined)),
    [`${prefix}.ipv6-cidr`]: each(({ peer }) => (peer.kind === "ipv6" ? peer.cidr : undefined)),
    [`${prefix}.prefix-list-id`]: each(({ peer }) => (peer.kind === "prefix-list" ? peer.id : undefined)),
    [`${prefix}.group-id`]: each(({ peer }) => (peer.kind === "group" ? peer.groupId : undefined)),
    [`${prefix}.group-name`]: each(({ peer }) => (peer.kind === "group" ? ec2.securityGroups.get(peer.groupId)?.name : undefined)),
    [`${prefix}.user-id`]: each(({ peer }) => (peer.kind === "group" ? peer.userId : undefined)),
    [`${prefix}.from-port`]: each((rule) => rule.fromPort),
    [`${prefix}.to-port`]: each((rule) => rule.toPort),
    [`${prefix}.protocol`]: each((rule) => rule.protocol),
  };
}
