/** Security groups and their rules. */
import { isDeepStrictEqual } from "node:util";
import {
  AuthorizeSecurityGroupEgressCommand,
  AuthorizeSecurityGroupIngressCommand,
  CreateSecurityGroupCommand,
  DeleteSecurityGroupCommand,
  DescribeSecurityGroupRulesCommand,
  DescribeSecurityGroupsCommand,
  type IpPermission,
  RevokeSecurityGroupEgressCommand,
  RevokeSecurityGroupIngressCommand,
  type SecurityGroupRule,
} from "@aws-sdk/client-ec2";
import type { Value } from "../msgpack.ts";
import type { Fields } from "../plan.ts";
import type { ResourceType } from "../plugin.ts";
import { type Aws, optionalText, persist, retag, tagged, tagsIn, text, texts, unlessMissing } from "./account.ts";

export function groupTypes(aws: Aws): Readonly<Record<string, ResourceType>> {
  return { aws_security_group: group(aws), aws_security_group_rule: rule(aws) };
}

/** What AWS lets out of a new group. */
const everything: IpPermission = { IpProtocol: "-1", IpRanges: [{ CidrIp: "0.0.0.0/0" }] };
const everythingByIpv6: IpPermission = { IpProtocol: "-1", Ipv6Ranges: [{ CidrIpv6: "::/0" }] };

function group(aws: Aws): ResourceType {
  const { ec2 } = aws;
  const read = async (state: Fields): Promise<Fields | undefined> => {
    const asked = ec2.send(new DescribeSecurityGroupsCommand({ GroupIds: [text(state.id)] }));
    const found = (await unlessMissing(asked))?.SecurityGroups?.[0];
    if (found === undefined) return undefined;
    return {
      id: found.GroupId!,
      arn: `arn:aws:ec2:${aws.region}:${found.OwnerId}:security-group/${found.GroupId}`,
      name: found.GroupName!,
      description: found.Description!,
      vpc_id: found.VpcId!,
      owner_id: found.OwnerId!,
      // Rules of other resources are no business of the group that writes none itself.
      egress: isEmpty(state.egress)
        ? (state.egress ?? null)
        : seenEgress(state.egress as readonly Fields[], found.IpPermissionsEgress ?? []),
      ...tagsIn(state, found.Tags),
    };
  };
  return {
    fixed: ["name", "description", "vpc_id"],
    read,
    async create(wanted) {
      const { GroupId } = await ec2.send(
        new CreateSecurityGroupCommand({
          GroupName: text(wanted.name),
          Description: optionalText(wanted.description) ?? "Managed by Terraform",
          VpcId: text(wanted.vpc_id),
          ...tagged("security-group", wanted.tags),
        }),
      );
      await ec2.send(new RevokeSecurityGroupEgressCommand({ GroupId: GroupId!, IpPermissions: [everything] }));
      // There only in a VPC with IPv6.
      await unlessMissing(ec2.send(new RevokeSecurityGroupEgressCommand({ GroupId: GroupId!, IpPermissions: [everythingByIpv6] })));
      await egress(GroupId!, [], asRules(wanted.egress));
      return (await read({ ...wanted, id: GroupId! }))!;
    },
    async update(before, wanted) {
      await egress(text(before.id), asRules(before.egress), asRules(wanted.egress));
      await retag(aws, text(before.id), before.tags, wanted.tags);
      return (await read(wanted))!;
    },
    async delete({ id }) {
      await persist(aws, `the end of ${text(id)}`, ["DependencyViolation"], () =>
        ec2.send(new DeleteSecurityGroupCommand({ GroupId: text(id) })),
      );
    },
  };

  async function egress(GroupId: string, before: readonly Fields[], after: readonly Fields[]): Promise<void> {
    if (isDeepStrictEqual(before, after)) return;
    if (before.length > 0) await ec2.send(new RevokeSecurityGroupEgressCommand({ GroupId, IpPermissions: before.map(permission) }));
    if (after.length > 0) await ec2.send(new AuthorizeSecurityGroupEgressCommand({ GroupId, IpPermissions: after.map(permission) }));
  }
}

function isEmpty(value: Value | undefined): boolean {
  return !Array.isArray(value) || value.length === 0;
}

function asRules(value: Value | undefined): readonly Fields[] {
  return Array.isArray(value) ? (value as unknown as readonly Fields[]) : [];
}

/** The rules that the state writes, as long as AWS has them and no others. */
function seenEgress(written: readonly Fields[], seen: readonly IpPermission[]): Value {
  const key = ({ IpProtocol, IpRanges = [], Ipv6Ranges = [] }: IpPermission) =>
    `${IpProtocol} ${[...IpRanges.map(({ CidrIp }) => CidrIp), ...Ipv6Ranges.map(({ CidrIpv6 }) => CidrIpv6)].sort()}`;
  const same = isDeepStrictEqual(written.map(permission).map(key).sort(), seen.map(key).sort());
  return (same ? written : []) as readonly Value[];
}

function permission(rule: Fields): IpPermission {
  const IpProtocol = text(rule.protocol);
  const source = optionalText(rule.source_security_group_id);
  return {
    IpProtocol,
    ...(IpProtocol !== "-1" && { FromPort: Number(rule.from_port), ToPort: Number(rule.to_port) }),
    ...(!isEmpty(rule.cidr_blocks) && { IpRanges: texts(rule.cidr_blocks).map((CidrIp) => ({ CidrIp })) }),
    ...(!isEmpty(rule.ipv6_cidr_blocks) && { Ipv6Ranges: texts(rule.ipv6_cidr_blocks).map((CidrIpv6) => ({ CidrIpv6 })) }),
    ...(source !== undefined && { UserIdGroupPairs: [{ GroupId: source }] }),
  };
}

function rule({ ec2 }: Aws): ResourceType {
  const id = (state: Fields) =>
    [
      "sgrule",
      state.security_group_id,
      state.type,
      state.protocol,
      state.from_port,
      state.source_security_group_id ?? [...texts(state.cidr_blocks), ...texts(state.ipv6_cidr_blocks)],
    ]
      .map(String)
      .join("-");
  return {
    fixed: ["security_group_id", "type", "protocol", "from_port", "to_port", "cidr_blocks", "ipv6_cidr_blocks", "source_security_group_id"],
    plain: ["cidr_blocks", "ipv6_cidr_blocks", "prefix_list_ids", "self", "description"],
    async read(state): Promise<Fields | undefined> {
      const Filters = [{ Name: "group-id", Values: [text(state.security_group_id)] }];
      const { SecurityGroupRules = [] } = await ec2.send(new DescribeSecurityGroupRulesCommand({ Filters }));
      const like = SecurityGroupRules.filter((each) => isLike(each, state));
      const source = optionalText(state.source_security_group_id);
      if (source !== undefined) return like.some(({ ReferencedGroupInfo }) => ReferencedGroupInfo?.GroupId === source) ? {} : undefined;
      const left = texts(state.cidr_blocks).filter((cidr) => like.some(({ CidrIpv4 }) => CidrIpv4 === cidr));
      const left6 = texts(state.ipv6_cidr_blocks).filter((cidr) => like.some(({ CidrIpv6 }) => CidrIpv6 === cidr));
      if (left.length + left6.length === 0) return undefined;
      return { ...(left.length > 0 && { cidr_blocks: left }), ...(left6.length > 0 && { ipv6_cidr_blocks: left6 }) };
    },
    async create(wanted) {
      const input = { GroupId: text(wanted.security_group_id), IpPermissions: [permission(wanted)] };
      if (wanted.type === "egress") await ec2.send(new AuthorizeSecurityGroupEgressCommand(input));
      else await ec2.send(new AuthorizeSecurityGroupIngressCommand(input));
      return { id: id(wanted) };
    },
    async delete(state) {
      const input = { GroupId: text(state.security_group_id), IpPermissions: [permission(state)] };
      if (state.type === "egress") await ec2.send(new RevokeSecurityGroupEgressCommand(input));
      else await ec2.send(new RevokeSecurityGroupIngressCommand(input));
    },
  };
}

/** All protocols have no ports, whatever a configuration says of them. */
function isLike(seen: SecurityGroupRule, state: Fields): boolean {
  const ports = state.protocol === "-1" || (seen.FromPort === state.from_port && seen.ToPort === state.to_port);
  return seen.IsEgress === (state.type === "egress") && seen.IpProtocol === state.protocol && ports;
}
