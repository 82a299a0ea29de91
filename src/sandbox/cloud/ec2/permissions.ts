/** Security group permissions as requests and answers carry them, and as single rules, which is how EC2 keeps them. */
import type { IpPermission } from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { formatBlock, parseBlock } from "./cidr.ts";
import { find, KINDS } from "./kinds.ts";
import type { Ec2, RulePeer, SecurityGroup, SecurityGroupRule } from "./state.ts";

/** A rule before it has an id. */
export type RuleContent = Pick<SecurityGroupRule, "protocol" | "fromPort" | "toPort" | "peer" | "description">;

/** The parameters that Authorize and Revoke share: permissions, or one permission spelled out. */
export interface PermissionInput {
  readonly IpPermissions?: readonly IpPermission[] | undefined;
  readonly IpProtocol?: string | undefined;
  readonly FromPort?: number | undefined;
  readonly ToPort?: number | undefined;
  readonly CidrIp?: string | undefined;
  readonly SourceSecurityGroupName?: string | undefined;
}

/** The single rules that the permissions of a request stand for, in canonical form. */
export function ruleContents(ec2: Ec2, group: SecurityGroup, input: PermissionInput): RuleContent[] {
  const permissions = input.IpPermissions?.length ? input.IpPermissions : [flatPermission(input)];
  const contents = permissions.flatMap((permission) => contentsOf(ec2, group, permission));
  const seen = new Set<string>();
  for (const content of contents) {
    const key = ruleKey(content);
    if (seen.has(key)) throw new ServiceError("InvalidParameterValue", "The same permission must not appear multiple times");
    seen.add(key);
  }
  return contents;
}

/** What makes two rules of one group the same: everything but the description. */
export function ruleKey(rule: RuleContent): string {
  return `${rule.protocol} ${rule.fromPort ?? ""} ${rule.toPort ?? ""} ${peerText(rule.peer)}`;
}

/** Rules gathered into permissions by protocol and ports, as DescribeSecurityGroups shows them. */
export function permissionsOf(rules: readonly SecurityGroupRule[]): IpPermission[] {
  const permissions = new Map<string, IpPermission>();
  for (const rule of rules) {
    const key = `${rule.protocol} ${rule.fromPort ?? ""} ${rule.toPort ?? ""}`;
    let permission = permissions.get(key);
    if (permission === undefined) {
      permission = {
        IpProtocol: rule.protocol,
        FromPort: rule.fromPort,
        ToPort: rule.toPort,
        UserIdGroupPairs: [],
        IpRanges: [],
        Ipv6Ranges: [],
        PrefixListIds: [],
      };
      permissions.set(key, permission);
    }
    addPeer(permission, rule);
  }
  return [...permissions.values()];

  function addPeer(permission: IpPermission, { peer, description }: SecurityGroupRule): void {
    const Description = description;
    if (peer.kind === "ipv4") permission.IpRanges?.push({ CidrIp: peer.cidr, Description });
    else if (peer.kind === "ipv6") permission.Ipv6Ranges?.push({ CidrIpv6: peer.cidr, Description });
    else if (peer.kind === "prefix-list") permission.PrefixListIds?.push({ PrefixListId: peer.id, Description });
    else permission.UserIdGroupPairs?.push({ GroupId: peer.groupId, UserId: peer.userId, Description });
  }
}

/** How EC2 names a rule in its messages. */
export function ruleText(rule: RuleContent): string {
  const ports = rule.fromPort === undefined ? "" : `, from port: ${rule.fromPort}, to port: ${rule.toPort}`;
  const protocol = rule.protocol === "-1" ? "ALL" : rule.protocol.toUpperCase();
  return `peer: ${peerText(rule.peer)}, ${protocol}${ports}, ALLOW`;
}

/** A rule's description within EC2's limits. */
export function checkedDescription(description: string | undefined): string | undefined {
  if (description === undefined) return undefined;
  if (description.length > 255 || !/^[a-zA-Z0-9 ._\-:/()#,@[\]+=&;{}!$*]*$/.test(description)) {
    throw new ServiceError(
      "InvalidParameterValue",
      "Invalid rule description. Valid descriptions are strings less than 256 characters from the following set: a-zA-Z0-9. _-:/()#,@[]+=&;{}!$*",
    );
  }
  return description === "" ? undefined : description;
}

/** `6` and `TCP` are `tcp`; what EC2 does not know it refuses. */
export function checkedProtocol(text: string | undefined): string {
  if (text === undefined) throw new ServiceError("MissingParameter", "The request must contain the parameter ipProtocol");
  const named = { "6": "tcp", "17": "udp", "1": "icmp", "58": "icmpv6" }[text] ?? text.toLowerCase();
  if (["tcp", "udp", "icmp", "icmpv6", "-1"].includes(named)) return named;
  if (/^\d{1,3}$/.test(named) && Number(named) <= 255) return named;
  throw new ServiceError("InvalidParameterValue", `Invalid value '${text}' for IP protocol. Unknown protocol.`);
}

/** The ports of a rule as EC2 keeps them: none where the protocol has none. */
export function checkedPorts(protocol: string, from: number | undefined, to: number | undefined): Pick<RuleContent, "fromPort" | "toPort"> {
  if (protocol === "tcp" || protocol === "udp") {
    if (from === undefined || to === undefined) {
      throw new ServiceError("InvalidParameterValue", `Invalid value 'Must specify both from and to ports with TCP/UDP.' for portRange.`);
    }
    if (from > to || from < 0 || to > 65_535) {
      throw new ServiceError("InvalidParameterValue", `Invalid ${protocol.toUpperCase()} port range (${from},${to})`);
    }
    return { fromPort: from, toPort: to };
  }
  if (protocol === "icmp" || protocol === "icmpv6") {
    const [type, code] = [from ?? -1, to ?? -1];
    if (type < -1 || type > 255 || code < -1 || code > 255) {
      throw new ServiceError("InvalidParameterValue", `ICMP code (${code}) or type (${type}) out of range`);
    }
    return { fromPort: type, toPort: code };
  }
  return { fromPort: undefined, toPort: undefined };
}

/** A CIDR of the given family in network form. */
export function checkedCidr(text: string | undefined, family: 4 | 6): string {
  const block = parseBlock(text ?? "");
  if (block?.family !== family) throw new ServiceError("InvalidParameterValue", `CIDR block ${text ?? ""} is malformed`);
  return formatBlock(block);
}

/** A prefix list id of the right form. */
export function checkedPrefixList(id: string | undefined): string {
  if (id === undefined || !/^pl-[0-9a-f]{8}(?:[0-9a-f]{9})?$/.test(id)) {
    throw new ServiceError("InvalidPrefixListID.Malformed", `Invalid id: "${id ?? ""}" (expecting "pl-...")`);
  }
  return id;
}

function contentsOf(ec2: Ec2, group: SecurityGroup, permission: IpPermission): RuleContent[] {
  const protocol = checkedProtocol(permission.IpProtocol);
  const ports = checkedPorts(protocol, permission.FromPort, permission.ToPort);
  const content = (peer: RulePeer, description: string | undefined): RuleContent => ({
    protocol,
    ...ports,
    peer,
    description: checkedDescription(description),
  });
  const contents = [
    ...(permission.IpRanges ?? []).map((range) => content({ kind: "ipv4", cidr: checkedCidr(range.CidrIp, 4) }, range.Description)),
    ...(permission.Ipv6Ranges ?? []).map((range) => content({ kind: "ipv6", cidr: checkedCidr(range.CidrIpv6, 6) }, range.Description)),
    ...(permission.PrefixListIds ?? []).map((list) =>
      content({ kind: "prefix-list", id: checkedPrefixList(list.PrefixListId) }, list.Description),
    ),
    ...(permission.UserIdGroupPairs ?? []).map((pair) => content(groupPeer(ec2, group, pair.GroupId, pair.GroupName), pair.Description)),
  ];
  if (contents.length === 0) throw new ServiceError("MissingParameter", "Source group or CIDR must be specified for the rule");
  return contents;
}

function groupPeer(ec2: Ec2, group: SecurityGroup, id: string | undefined, name: string | undefined): RulePeer {
  const peer =
    id === undefined
      ? ec2.securityGroups.values().find((other) => other.vpcId === group.vpcId && other.name === name)
      : find(ec2.securityGroups, KINDS.securityGroup, id);
  if (peer === undefined) throw new ServiceError("InvalidGroup.NotFound", `The security group '${name ?? ""}' does not exist`);
  if (peer.vpcId !== group.vpcId) {
    throw new ServiceError("InvalidGroup.NotFound", "You have specified two resources that belong to different networks.");
  }
  return { kind: "group", groupId: peer.id, userId: ec2.account.id };
}

function flatPermission(input: PermissionInput): IpPermission {
  if (input.IpProtocol === undefined && input.SourceSecurityGroupName === undefined) {
    throw new ServiceError("MissingParameter", "The request must contain the parameter ipPermissions");
  }
  return {
    IpProtocol: input.IpProtocol ?? "-1",
    FromPort: input.FromPort,
    ToPort: input.ToPort,
    IpRanges: input.CidrIp === undefined ? [] : [{ CidrIp: input.CidrIp }],
    UserIdGroupPairs: input.SourceSecurityGroupName === undefined ? [] : [{ GroupName: input.SourceSecurityGroupName }],
  };
}

function peerText(peer: RulePeer): string {
  switch (peer.kind) {
    case "group":
      return peer.groupId;
    case "prefix-list":
      return peer.id;
    default:
      return peer.cidr;
  }
}
