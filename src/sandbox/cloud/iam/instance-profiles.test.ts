import assert from "node:assert/strict";
import { test } from "node:test";
import { EC2Client, RunInstancesCommand } from "@aws-sdk/client-ec2";
import {
  AddRoleToInstanceProfileCommand,
  CreateInstanceProfileCommand,
  CreateRoleCommand,
  DeleteInstanceProfileCommand,
  DeleteRoleCommand,
  DeleteRolePolicyCommand,
  GetInstanceProfileCommand,
  GetRoleCommand,
  IAMClient,
  ListAttachedRolePoliciesCommand,
  ListInstanceProfilesForRoleCommand,
  ListRolePoliciesCommand,
  ListRoleTagsCommand,
  PutRolePolicyCommand,
  RemoveRoleFromInstanceProfileCommand,
  TagRoleCommand,
  UntagRoleCommand,
  UpdateAssumeRolePolicyCommand,
} from "@aws-sdk/client-iam";
import { sdkConfig } from "../sdk-handler.ts";
import { networkBed, refused } from "../testing.ts";

const trust = JSON.stringify({ Statement: [{ Effect: "Allow", Principal: { Service: "ec2.amazonaws.com" }, Action: "sts:AssumeRole" }] });
const RoleName = "demo-node";
const InstanceProfileName = "demo-node";

function bed() {
  const { cloud, network } = networkBed({}, { settings: { checkInstanceProfiles: true } });
  return { iam: new IAMClient(sdkConfig(cloud)), ec2: new EC2Client(sdkConfig(cloud)), network };
}

test("an instance profile holds one role, and neither goes while it is in it", async () => {
  const { iam } = bed();
  await iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument: trust }));
  await iam.send(new CreateInstanceProfileCommand({ InstanceProfileName }));
  await refused(iam.send(new CreateInstanceProfileCommand({ InstanceProfileName })), "EntityAlreadyExistsException", 409);
  const both = { RoleName, InstanceProfileName };
  await refused(iam.send(new AddRoleToInstanceProfileCommand({ ...both, RoleName: "none" })), "NoSuchEntityException", 404);
  await iam.send(new AddRoleToInstanceProfileCommand(both));
  await refused(iam.send(new AddRoleToInstanceProfileCommand(both)), "LimitExceededException", 409);
  const { InstanceProfile } = await iam.send(new GetInstanceProfileCommand({ InstanceProfileName }));
  assert.match(InstanceProfile?.InstanceProfileId ?? "", /^AIPA[A-Z2-7]{17}$/);
  assert.deepEqual(
    [InstanceProfile?.Arn?.split(":").at(-1), InstanceProfile?.Roles?.[0]?.RoleName],
    ["instance-profile/demo-node", RoleName],
  );
  const { InstanceProfiles } = await iam.send(new ListInstanceProfilesForRoleCommand({ RoleName }));
  assert.equal(InstanceProfiles?.length, 1);

  await refused(iam.send(new DeleteInstanceProfileCommand({ InstanceProfileName })), "DeleteConflictException", 409);
  await refused(iam.send(new DeleteRoleCommand({ RoleName })), "DeleteConflictException", 409);
  await iam.send(new RemoveRoleFromInstanceProfileCommand(both));
  await refused(iam.send(new RemoveRoleFromInstanceProfileCommand(both)), "NoSuchEntityException", 404);
  await iam.send(new DeleteInstanceProfileCommand({ InstanceProfileName }));
  await iam.send(new DeleteRoleCommand({ RoleName }));
  await refused(iam.send(new GetRoleCommand({ RoleName })), "NoSuchEntityException", 404);
});

test("a role's tags, trust and policies are changed, and it goes once its policies are gone", async () => {
  const { iam } = bed();
  await iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument: trust, Tags: [{ Key: "a", Value: "1" }] }));
  await iam.send(new TagRoleCommand({ RoleName, Tags: [{ Key: "b", Value: "2" }] }));
  await iam.send(new UntagRoleCommand({ RoleName, TagKeys: ["a"] }));
  assert.deepEqual((await iam.send(new ListRoleTagsCommand({ RoleName }))).Tags, [{ Key: "b", Value: "2" }]);
  const changed = trust.replace("ec2", "eks");
  await iam.send(new UpdateAssumeRolePolicyCommand({ RoleName, PolicyDocument: changed }));
  const { Role } = await iam.send(new GetRoleCommand({ RoleName }));
  assert.deepEqual([decodeURIComponent(Role?.AssumeRolePolicyDocument ?? ""), Role?.Tags], [changed, [{ Key: "b", Value: "2" }]]);

  await iam.send(new PutRolePolicyCommand({ RoleName, PolicyName: "p", PolicyDocument: trust }));
  assert.deepEqual((await iam.send(new ListRolePoliciesCommand({ RoleName }))).PolicyNames, ["p"]);
  assert.deepEqual((await iam.send(new ListAttachedRolePoliciesCommand({ RoleName }))).AttachedPolicies, []);
  await refused(iam.send(new DeleteRoleCommand({ RoleName })), "DeleteConflictException", 409);
  await iam.send(new DeleteRolePolicyCommand({ RoleName, PolicyName: "p" }));
  await refused(iam.send(new DeleteRolePolicyCommand({ RoleName, PolicyName: "p" })), "NoSuchEntityException", 404);
  await iam.send(new DeleteRoleCommand({ RoleName }));
});

test("where the account checks it, a launch needs an instance profile that has its role", async () => {
  const { iam, ec2, network } = bed();
  const launch = new RunInstancesCommand({
    ImageId: "ami-0123456789abcdef0",
    MinCount: 1,
    MaxCount: 1,
    IamInstanceProfile: { Name: InstanceProfileName },
    SubnetId: network.publicSubnetIds[0]!,
  });
  assert.match(await refused(ec2.send(launch), "InvalidParameterValue"), /Invalid IAM Instance Profile name$/);
  await iam.send(new CreateInstanceProfileCommand({ InstanceProfileName }));
  assert.match(await refused(ec2.send(launch), "InvalidParameterValue"), /has no associated IAM Roles$/);
  await iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument: trust }));
  await iam.send(new AddRoleToInstanceProfileCommand({ RoleName, InstanceProfileName }));
  const { Instances } = await ec2.send(launch);
  assert.match(Instances?.[0]?.IamInstanceProfile?.Arn ?? "", /:instance-profile\/demo-node$/);
});
