/** Security groups and their rules. */
import {
  AuthorizeSecurityGroupEgressCommand,
  AuthorizeSecurityGroupIngressCommand,
  CreateSecurityGroupCommand,
  DescribeSecurityGroupRulesCommand,
  DescribeSecurityGroupsCommand,
  ModifySecurityGroupRulesCommand,
  RevokeSecurityGroupEgressCommand,
  RevokeSecurityGroupIngressCommand,
} from "@aws-sdk/client-ec2";
import { asker, type Exchange } from "../script.ts";

const ask = asker("ec2");

const tcp = (FromPort: number, ToPort = FromPort) => ({ IpProtocol: "tcp", FromPort, ToPort });

export const securityGroupExchanges: readonly Exchange[] = [
  ask(
    "a security group is created",
    CreateSecurityGroupCommand,
    {
      GroupName: "nodes",
      Description: "Nodes of the cluster",
      VpcId: "$vpc",
      TagSpecifications: [{ ResourceType: "security-group", Tags: [{ Key: "kubernetes.io/cluster/test", Value: "owned" }] }],
    },
    { nodes: "GroupId" },
  ),
  ask(
    "a second security group is created",
    CreateSecurityGroupCommand,
    { GroupName: "balancer", Description: "Load balancer", VpcId: "$vpc" },
    { balancer: "GroupId" },
  ),
  ask("a name that exists in another VPC is free", CreateSecurityGroupCommand, {
    GroupName: "nodes",
    Description: "Same name, other VPC",
    VpcId: "$otherVpc",
  }),
  ask("a name that exists in the VPC is taken", CreateSecurityGroupCommand, {
    GroupName: "nodes",
    Description: "Again",
    VpcId: "$vpc",
  }),
  ask("a security group with a reserved name", CreateSecurityGroupCommand, {
    GroupName: "default",
    Description: "Not mine to make",
    VpcId: "$vpc",
  }),
  ask("a security group by id", DescribeSecurityGroupsCommand, { GroupIds: ["$nodes"] }),
  ask("security groups by name and VPC", DescribeSecurityGroupsCommand, {
    Filters: [
      { Name: "group-name", Values: ["nodes"] },
      { Name: "vpc-id", Values: ["$vpc"] },
    ],
  }),
  ask("security groups by a tag", DescribeSecurityGroupsCommand, {
    Filters: [{ Name: "tag:kubernetes.io/cluster/test", Values: ["owned", "shared"] }],
  }),
  ask("the default security group of a VPC", DescribeSecurityGroupsCommand, {
    Filters: [
      { Name: "group-name", Values: ["default"] },
      { Name: "vpc-id", Values: ["$vpc"] },
    ],
  }),
  ask("a security group that does not exist", DescribeSecurityGroupsCommand, { GroupIds: ["sg-0123456789abcdef0"] }),
  ask("a security group whose id is malformed", DescribeSecurityGroupsCommand, { GroupIds: ["group"] }),
];

export const ruleExchanges: readonly Exchange[] = [
  ask(
    "a rule from a block",
    AuthorizeSecurityGroupIngressCommand,
    { GroupId: "$nodes", IpPermissions: [{ ...tcp(443), IpRanges: [{ CidrIp: "203.0.113.0/24", Description: "office" }] }] },
    { officeRule: "SecurityGroupRules.0.SecurityGroupRuleId" },
  ),
  ask("the same rule again", AuthorizeSecurityGroupIngressCommand, {
    GroupId: "$nodes",
    IpPermissions: [{ ...tcp(443), IpRanges: [{ CidrIp: "203.0.113.0/24", Description: "office" }] }],
  }),
  ask("the same rule under another description", AuthorizeSecurityGroupIngressCommand, {
    GroupId: "$nodes",
    IpPermissions: [{ ...tcp(443), IpRanges: [{ CidrIp: "203.0.113.0/24", Description: "home" }] }],
  }),
  ask("a new rule beside one that exists", AuthorizeSecurityGroupIngressCommand, {
    GroupId: "$nodes",
    IpPermissions: [{ ...tcp(443), IpRanges: [{ CidrIp: "203.0.113.0/24" }, { CidrIp: "198.51.100.0/24" }] }],
  }),
  ask("two blocks in one rule", AuthorizeSecurityGroupIngressCommand, {
    GroupId: "$nodes",
    IpPermissions: [{ ...tcp(80), IpRanges: [{ CidrIp: "203.0.113.0/24" }, { CidrIp: "198.51.100.0/24" }] }],
  }),
  ask("a rule from an IPv6 block", AuthorizeSecurityGroupIngressCommand, {
    GroupId: "$nodes",
    IpPermissions: [{ ...tcp(443), Ipv6Ranges: [{ CidrIpv6: "2001:db8::/32", Description: "six" }] }],
  }),
  ask("a rule from another group", AuthorizeSecurityGroupIngressCommand, {
    GroupId: "$nodes",
    IpPermissions: [{ ...tcp(30000, 32767), UserIdGroupPairs: [{ GroupId: "$balancer" }] }],
  }),
  ask("a rule from the group itself for every protocol", AuthorizeSecurityGroupIngressCommand, {
    GroupId: "$nodes",
    IpPermissions: [{ IpProtocol: "-1", UserIdGroupPairs: [{ GroupId: "$nodes" }] }],
  }),
  ask("an ICMP rule for path MTU discovery", AuthorizeSecurityGroupIngressCommand, {
    GroupId: "$nodes",
    IpPermissions: [{ IpProtocol: "icmp", FromPort: 3, ToPort: 4, IpRanges: [{ CidrIp: "0.0.0.0/0" }] }],
  }),
  ask("a UDP rule by the number of its protocol", AuthorizeSecurityGroupIngressCommand, {
    GroupId: "$balancer",
    IpPermissions: [{ IpProtocol: "17", FromPort: 53, ToPort: 53, IpRanges: [{ CidrIp: "10.0.0.0/16" }] }],
  }),
  ask("a rule in the older form of the call", AuthorizeSecurityGroupIngressCommand, {
    GroupId: "$balancer",
    IpProtocol: "tcp",
    FromPort: 22,
    ToPort: 22,
    CidrIp: "10.0.0.0/16",
  }),
  ask(
    "a rule with tags of its own",
    AuthorizeSecurityGroupIngressCommand,
    {
      GroupId: "$balancer",
      IpPermissions: [{ ...tcp(8443), IpRanges: [{ CidrIp: "10.0.0.0/16" }] }],
      TagSpecifications: [{ ResourceType: "security-group-rule", Tags: [{ Key: "owner", Value: "me" }] }],
    },
    { taggedRule: "SecurityGroupRules.0.SecurityGroupRuleId" },
  ),
  ask("a rule from a block that is none", AuthorizeSecurityGroupIngressCommand, {
    GroupId: "$nodes",
    IpPermissions: [{ ...tcp(1), IpRanges: [{ CidrIp: "everywhere" }] }],
  }),
  ask("a rule from a group that does not exist", AuthorizeSecurityGroupIngressCommand, {
    GroupId: "$nodes",
    IpPermissions: [{ ...tcp(1), UserIdGroupPairs: [{ GroupId: "sg-0123456789abcdef0" }] }],
  }),
  ask("a rule in a group that does not exist", AuthorizeSecurityGroupIngressCommand, {
    GroupId: "sg-0123456789abcdef0",
    IpPermissions: [{ ...tcp(1), IpRanges: [{ CidrIp: "10.0.0.0/16" }] }],
  }),
  ask("a rule whose ports run backwards", AuthorizeSecurityGroupIngressCommand, {
    GroupId: "$nodes",
    IpPermissions: [{ ...tcp(5, 1), IpRanges: [{ CidrIp: "10.0.0.0/16" }] }],
  }),
  ask("a rule whose block has host bits", AuthorizeSecurityGroupIngressCommand, {
    GroupId: "$balancer",
    IpPermissions: [{ ...tcp(9), IpRanges: [{ CidrIp: "10.0.5.7/24" }] }],
  }),
  ask("a rule for what leaves", AuthorizeSecurityGroupEgressCommand, {
    GroupId: "$balancer",
    IpPermissions: [{ ...tcp(30000, 32767), IpRanges: [{ CidrIp: "10.0.0.0/16", Description: "node ports" }] }],
  }),
  ask("the rule for what leaves, again", AuthorizeSecurityGroupEgressCommand, {
    GroupId: "$balancer",
    IpPermissions: [{ ...tcp(30000, 32767), IpRanges: [{ CidrIp: "10.0.0.0/16" }] }],
  }),
  ask("everything may leave a new group, and the rule for it can be revoked", RevokeSecurityGroupEgressCommand, {
    GroupId: "$balancer",
    IpPermissions: [{ IpProtocol: "-1", IpRanges: [{ CidrIp: "0.0.0.0/0" }] }],
  }),
  ask("a group with rules of every kind", DescribeSecurityGroupsCommand, { GroupIds: ["$nodes"] }),
  ask("a group with rules in both directions", DescribeSecurityGroupsCommand, { GroupIds: ["$balancer"] }),
  ask("security groups by a group their rules refer to", DescribeSecurityGroupsCommand, {
    Filters: [{ Name: "ip-permission.group-id", Values: ["$balancer"] }],
  }),
  ask("the rules of a group", DescribeSecurityGroupRulesCommand, { Filters: [{ Name: "group-id", Values: ["$nodes"] }] }),
  ask("a rule by id", DescribeSecurityGroupRulesCommand, { SecurityGroupRuleIds: ["$officeRule"] }),
  ask("rules by a tag", DescribeSecurityGroupRulesCommand, { Filters: [{ Name: "tag:owner", Values: ["me"] }] }),
  ask("a rule that does not exist", DescribeSecurityGroupRulesCommand, { SecurityGroupRuleIds: ["sgr-0123456789abcdef0"] }),
  ask("a rule is modified", ModifySecurityGroupRulesCommand, {
    GroupId: "$nodes",
    SecurityGroupRules: [
      {
        SecurityGroupRuleId: "$officeRule",
        SecurityGroupRule: { ...tcp(443), CidrIpv4: "203.0.113.0/24", Description: "the office, renamed" },
      },
    ],
  }),
  ask("a rule after it was modified", DescribeSecurityGroupRulesCommand, { SecurityGroupRuleIds: ["$officeRule"] }),
  ask("a rule is revoked by what it permits", RevokeSecurityGroupIngressCommand, {
    GroupId: "$nodes",
    IpPermissions: [{ ...tcp(80), IpRanges: [{ CidrIp: "198.51.100.0/24" }] }],
  }),
  ask("a rule is revoked twice", RevokeSecurityGroupIngressCommand, {
    GroupId: "$nodes",
    IpPermissions: [{ ...tcp(80), IpRanges: [{ CidrIp: "198.51.100.0/24" }] }],
  }),
  ask("a rule is revoked by its id", RevokeSecurityGroupIngressCommand, {
    GroupId: "$nodes",
    SecurityGroupRuleIds: ["$officeRule"],
  }),
  ask("a rule is revoked by an id that does not exist", RevokeSecurityGroupIngressCommand, {
    GroupId: "$nodes",
    SecurityGroupRuleIds: ["sgr-0123456789abcdef0"],
  }),
  ask("a rule from a group is revoked", RevokeSecurityGroupIngressCommand, {
    GroupId: "$nodes",
    IpPermissions: [{ ...tcp(30000, 32767), UserIdGroupPairs: [{ GroupId: "$balancer" }] }],
  }),
  ask("a group after revocations", DescribeSecurityGroupsCommand, { GroupIds: ["$nodes"] }),
];
