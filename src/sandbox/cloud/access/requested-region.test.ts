import { test } from "node:test";
import { DescribeVpcsCommand, RunInstancesCommand } from "@aws-sdk/client-ec2";
import {
  AddRoleToInstanceProfileCommand,
  CreateInstanceProfileCommand,
  CreateRoleCommand,
  GetRoleCommand,
  IAMClient,
} from "@aws-sdk/client-iam";
import { sdkConfig } from "../sdk-handler.ts";
import { cloudBed, refused } from "../testing.ts";
import type { Statement } from "./policy.ts";

const inRegion = (region: string, ...actions: readonly string[]): Statement => ({
  effect: "allow",
  actions,
  condition: { StringEquals: { "aws:RequestedRegion": region } },
});

test("a condition on the region sees the home of a service that its partition has once, and the caller's region for all others", async () => {
  for (const [region, home] of [
    ["eu-central-1", "us-east-1"],
    ["cn-northwest-1", "cn-north-1"],
    ["us-gov-east-1", "us-gov-west-1"],
  ] as const) {
    const { cloud, ec2 } = cloudBed({ region });
    const iam = new IAMClient(sdkConfig(cloud));
    cloud.controls.change({ policy: [inRegion(region, "*")] });
    await ec2.send(new DescribeVpcsCommand({}));
    await refused(iam.send(new GetRoleCommand({ RoleName: "node" })), "AccessDenied");
    cloud.controls.change({ policy: [inRegion(home, "*")] });
    await refused(ec2.send(new DescribeVpcsCommand({})), "UnauthorizedOperation");
    await refused(iam.send(new GetRoleCommand({ RoleName: "node" })), "NoSuchEntityException");
  }
});

test("a role is passed where the call is made that passes it", async () => {
  const { cloud, ec2 } = cloudBed({ region: "eu-central-1" });
  const iam = new IAMClient(sdkConfig(cloud));
  await iam.send(new CreateRoleCommand({ RoleName: "node", AssumeRolePolicyDocument: '{"Statement":[]}' }));
  await iam.send(new CreateInstanceProfileCommand({ InstanceProfileName: "node" }));
  const others: Statement = { effect: "allow", actions: ["ec2:*", "iam:A*"] };
  const join = () => iam.send(new AddRoleToInstanceProfileCommand({ InstanceProfileName: "node", RoleName: "node" }));
  cloud.controls.change({ policy: [others, inRegion("eu-central-1", "iam:PassRole")] });
  await refused(join(), "AccessDenied");
  cloud.controls.change({ policy: [others, inRegion("us-east-1", "iam:PassRole")] });
  await join();
  const launch = () =>
    ec2.send(new RunInstancesCommand({ ImageId: "ami-1", MinCount: 1, MaxCount: 1, IamInstanceProfile: { Name: "node" }, DryRun: true }));
  await refused(launch(), "UnauthorizedOperation");
  cloud.controls.change({ policy: [others, inRegion("eu-central-1", "iam:PassRole")] });
  await refused(launch(), "DryRunOperation");
});
