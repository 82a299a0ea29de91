import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AuthorizeSecurityGroupIngressCommand,
  CreateNetworkInterfaceCommand,
  CreateSecurityGroupCommand,
  DeleteNetworkInterfaceCommand,
  DeleteSecurityGroupCommand,
  DescribeSecurityGroupRulesCommand,
  DescribeSecurityGroupsCommand,
  type EC2Client,
  type IpPermission,
  ModifySecurityGroupRulesCommand,
  RevokeSecurityGroupIngressCommand,
  UpdateSecurityGroupRuleDescriptionsIngressCommand,
} from "@aws-sdk/client-ec2";
import { networkBed, refused } from "../testing.ts";
import { createServiceInterface, removeInterface } from "./interfaces.ts";

async function bed() {
  const made = networkBed();
  const create = async (GroupName: string) =>
    (await made.ec2.send(new CreateSecurityGroupCommand({ GroupName, Description: GroupName, VpcId: made.network.vpcId }))).GroupId!;
  return { ...made, create, web: await create("web") };
}

const allow = (ec2: EC2Client, GroupId: string, ...IpPermissions: IpPermission[]) =>
  ec2.send(new AuthorizeSecurityGroupIngressCommand({ GroupId, IpPermissions }));

const tcp = (port: number, rest: Partial<IpPermission>): IpPermission => ({ IpProtocol: "tcp", FromPort: port, ToPort: port, ...rest });

async function rules(ec2: EC2Client, groupId: string) {
  const { SecurityGroupRules } = await ec2.send(
    new DescribeSecurityGroupRulesCommand({ Filters: [{ Name: "group-id", Values: [groupId] }] }),
  );
  return SecurityGroupRules!.filter((rule) => !rule.IsEgress);
}

test("Create: an unknown VPC, a name starting sg-, and a duplicate are refused", async () => {
  const { ec2, network } = await bed();
  const create = (GroupName: string, VpcId: string) => ec2.send(new CreateSecurityGroupCommand({ GroupName, Description: "d", VpcId }));
  await refused(create("x", "vpc-0000000000000000a"), "InvalidVpcID.NotFound", 400);
  await refused(create("sg-x", network.vpcId), "InvalidParameterValue", 400);
  await refused(create("web", network.vpcId), "InvalidGroup.Duplicate", 400);
});

test("Delete: DependencyViolation for a group used by an ENI, by another group's rule, by a service's interface; the default group cannot go", async () => {
  const { ec2, network, create, web, cloud } = await bed();
  const remove = (GroupId: string) => ec2.send(new DeleteSecurityGroupCommand({ GroupId }));
  const { NetworkInterface } = await ec2.send(new CreateNetworkInterfaceCommand({ SubnetId: network.privateSubnetIds[0], Groups: [web] }));
  await refused(remove(web), "DependencyViolation", 400);
  await ec2.send(new DeleteNetworkInterfaceCommand({ NetworkInterfaceId: NetworkInterface?.NetworkInterfaceId }));

  const other = await create("other");
  await allow(ec2, other, tcp(80, { UserIdGroupPairs: [{ GroupId: web }] }));
  await refused(remove(web), "DependencyViolation");
  await remove(other);

  const service = { requesterId: "amazon-elb", ownerId: "amazon-elb", publicIp: true };
  const held = createServiceInterface(cloud.account.ec2, service, { subnetId: network.publicSubnetIds[0]!, groupIds: [web] });
  await refused(remove(web), "DependencyViolation");
  removeInterface(cloud.account.ec2, held.id);
  await remove(web);
  await refused(remove(web), "InvalidGroup.NotFound");

  const { SecurityGroups } = await ec2.send(new DescribeSecurityGroupsCommand({ Filters: [{ Name: "group-name", Values: ["default"] }] }));
  await refused(remove(SecurityGroups![0]!.GroupId!), "CannotDelete");
});

test("A group may refer to itself and still be deleted", async () => {
  const { ec2, web } = await bed();
  await allow(ec2, web, tcp(80, { UserIdGroupPairs: [{ GroupId: web }] }));
  await ec2.send(new DeleteSecurityGroupCommand({ GroupId: web }));
  await refused(ec2.send(new DescribeSecurityGroupsCommand({ GroupIds: [web] })), "InvalidGroup.NotFound");
});

test("Authorize: a group source with a different description is a duplicate, and nothing of the call is added", async () => {
  const { ec2, web, create } = await bed();
  const source = await create("source");
  await allow(ec2, web, tcp(80, { UserIdGroupPairs: [{ GroupId: source, Description: "one" }] }));
  const again = allow(
    ec2,
    web,
    tcp(443, { IpRanges: [{ CidrIp: "10.0.0.0/8" }] }),
    tcp(80, { UserIdGroupPairs: [{ GroupId: source, Description: "two" }] }),
  );
  await refused(again, "InvalidPermission.Duplicate", 400);
  assert.equal((await rules(ec2, web)).length, 1);
});

test("Authorize: host bits are cleared, a reversed port range and an unknown protocol are refused", async () => {
  const { ec2, web } = await bed();
  await allow(ec2, web, tcp(80, { IpRanges: [{ CidrIp: "10.1.2.3/8" }], Ipv6Ranges: [{ CidrIpv6: "2001:db8::1/32" }] }));
  assert.deepEqual((await rules(ec2, web)).map((rule) => rule.CidrIpv4 ?? rule.CidrIpv6).sort(), ["10.0.0.0/8", "2001:db8::/32"]);
  await refused(allow(ec2, web, tcp(80, { IpRanges: [{ CidrIp: "10.0.0.0/8" }] })), "InvalidPermission.Duplicate");
  await refused(
    allow(ec2, web, { IpProtocol: "tcp", FromPort: 5, ToPort: 1, IpRanges: [{ CidrIp: "10.0.0.0/8" }] }),
    "InvalidParameterValue",
  );
  await refused(
    allow(ec2, web, { IpProtocol: "tls", FromPort: 1, ToPort: 1, IpRanges: [{ CidrIp: "10.0.0.0/8" }] }),
    "InvalidParameterValue",
  );
  await refused(allow(ec2, web, tcp(81, { IpRanges: [{ CidrIp: "10.0.0/8" }] })), "InvalidParameterValue");
  await refused(allow(ec2, web, tcp(81, { UserIdGroupPairs: [{ GroupId: "sg-0000000000000000a" }] })), "InvalidGroup.NotFound");
});

test("Authorize: protocol numbers become names and the quota of 60 rules is counted for each family", async () => {
  const { ec2, web } = await bed();
  const v4 = Array.from({ length: 60 }, (_, index) => ({ CidrIp: `10.${index}.0.0/16` }));
  await allow(ec2, web, { IpProtocol: "6", FromPort: 80, ToPort: 80, IpRanges: v4 });
  assert.equal((await rules(ec2, web))[0]?.IpProtocol, "tcp");
  await allow(ec2, web, tcp(80, { Ipv6Ranges: [{ CidrIpv6: "2001:db8::/32" }] }));
  await refused(allow(ec2, web, tcp(81, { IpRanges: [{ CidrIp: "10.0.0.0/8" }] })), "RulesPerSecurityGroupLimitExceeded");
});

test("Revoke: by permission or by rule id; a rule that is not there is NotFound and nothing is removed", async () => {
  const { ec2, web } = await bed();
  const { SecurityGroupRules } = await allow(
    ec2,
    web,
    tcp(80, { IpRanges: [{ CidrIp: "10.0.0.0/8" }, { CidrIp: "11.0.0.0/8", Description: "b" }] }),
  );
  const revoke = (input: Partial<RevokeSecurityGroupIngressCommand["input"]>) =>
    ec2.send(new RevokeSecurityGroupIngressCommand({ GroupId: web, ...input }));
  const both = [tcp(80, { IpRanges: [{ CidrIp: "11.0.0.0/8" }, { CidrIp: "12.0.0.0/8" }] })];
  await refused(revoke({ IpPermissions: both }), "InvalidPermission.NotFound", 400);
  assert.equal((await rules(ec2, web)).length, 2);
  await revoke({ IpPermissions: [tcp(80, { IpRanges: [{ CidrIp: "11.0.0.0/8" }] })] });
  await revoke({ SecurityGroupRuleIds: [SecurityGroupRules![0]!.SecurityGroupRuleId!] });
  assert.deepEqual(await rules(ec2, web), []);
});

test("Descriptions are kept for CIDRs, groups and prefix lists, in both describes, and can be changed", async () => {
  const { ec2, web, create } = await bed();
  const source = await create("source");
  await allow(
    ec2,
    web,
    tcp(80, {
      IpRanges: [{ CidrIp: "10.0.0.0/8", Description: "cidr" }],
      UserIdGroupPairs: [{ GroupId: source, Description: "group" }],
      PrefixListIds: [{ PrefixListId: "pl-3b927c52", Description: "list" }],
    }),
  );
  assert.deepEqual((await rules(ec2, web)).map((rule) => rule.Description).sort(), ["cidr", "group", "list"]);
  const { SecurityGroups } = await ec2.send(new DescribeSecurityGroupsCommand({ GroupIds: [web] }));
  const [permission] = SecurityGroups![0]!.IpPermissions!;
  assert.deepEqual(
    [permission?.IpRanges?.[0]?.Description, permission?.UserIdGroupPairs?.[0]?.Description, permission?.PrefixListIds?.[0]?.Description],
    ["cidr", "group", "list"],
  );
  const IpPermissions = [tcp(80, { UserIdGroupPairs: [{ GroupId: source, Description: "renamed" }] })];
  await ec2.send(new UpdateSecurityGroupRuleDescriptionsIngressCommand({ GroupId: web, IpPermissions }));
  const renamed = (await rules(ec2, web)).find((rule) => rule.ReferencedGroupInfo?.GroupId === source)!;
  assert.equal(renamed.Description, "renamed");
  await ec2.send(
    new ModifySecurityGroupRulesCommand({
      GroupId: web,
      SecurityGroupRules: [
        {
          SecurityGroupRuleId: renamed.SecurityGroupRuleId,
          SecurityGroupRule: { IpProtocol: "tcp", FromPort: 8080, ToPort: 8080, ReferencedGroupId: source, Description: "moved" },
        },
      ],
    }),
  );
  const moved = (await rules(ec2, web)).find((rule) => rule.SecurityGroupRuleId === renamed.SecurityGroupRuleId);
  assert.deepEqual([moved?.FromPort, moved?.Description], [8080, "moved"]);
});

test("DescribeSecurityGroups finds groups by the source of their rules", async () => {
  const { ec2, web, create } = await bed();
  const source = await create("source");
  await allow(ec2, web, tcp(80, { UserIdGroupPairs: [{ GroupId: source }] }));
  const { SecurityGroups } = await ec2.send(
    new DescribeSecurityGroupsCommand({ Filters: [{ Name: "ip-permission.group-id", Values: [source] }] }),
  );
  assert.deepEqual(
    SecurityGroups?.map((group) => group.GroupId),
    [web],
  );
});
