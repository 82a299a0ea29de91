import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CreateSecurityGroupCommand,
  CreateTagsCommand,
  DeleteTagsCommand,
  DescribeInstanceStatusCommand,
  DescribeInstancesCommand,
  DescribeInstanceTypesCommand,
  DescribeNetworkInterfacesCommand,
  DescribeRouteTablesCommand,
  DescribeSecurityGroupRulesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeTagsCommand,
  DescribeVpcsCommand,
  type EC2Client,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import { launchNodes } from "../network.ts";
import { cloudBed, networkBed, refused } from "../testing.ts";

async function pagesOf(
  ask: (token: string | undefined) => Promise<{ readonly NextToken?: string | undefined; readonly ids: readonly string[] }>,
) {
  const sizes: number[] = [];
  const ids: string[] = [];
  let token: string | undefined;
  do {
    const answer = await ask(token);
    sizes.push(answer.ids.length);
    ids.push(...answer.ids);
    token = answer.NextToken;
  } while (token !== undefined && token !== "");
  return { sizes, ids };
}

test("DescribeInstances pages count instances, hold no more than asked, and give every instance once", async () => {
  const { ec2, network, cloud } = networkBed();
  const nodes = launchNodes(cloud, network, 12);
  const { sizes, ids } = await pagesOf(async (NextToken) => {
    const answer = await ec2.send(new DescribeInstancesCommand({ MaxResults: 5, NextToken }));
    return {
      NextToken: answer.NextToken,
      ids: answer.Reservations!.flatMap((one) => one.Instances!.map((instance) => instance.InstanceId!)),
    };
  });
  assert.deepEqual(sizes, [5, 5, 2]);
  assert.deepEqual(ids.sort(), nodes.map((node) => node.id).sort());
});

test("A page token stays good while instances come and go between pages", async () => {
  const { ec2, network, cloud } = networkBed();
  const nodes = launchNodes(cloud, network, 12);
  const seen = await pagesOf(async (NextToken) => {
    const answer = await ec2.send(new DescribeInstancesCommand({ MaxResults: 5, NextToken }));
    const ids = answer.Reservations!.flatMap((one) => one.Instances!.map((instance) => instance.InstanceId!));
    if (NextToken === undefined) for (const id of ids) cloud.account.ec2.instances.delete(id);
    return { NextToken: answer.NextToken, ids };
  });
  assert.deepEqual(seen.ids.sort(), nodes.map((node) => node.id).sort());
});

test("A bad token is InvalidNextToken, MaxResults below 5 or above 1000 is refused, and so is MaxResults with ids", async () => {
  const { ec2, network, cloud } = networkBed();
  const [node] = launchNodes(cloud, network, 1);
  const ask = (input: DescribeInstancesCommand["input"]) => ec2.send(new DescribeInstancesCommand(input));
  await refused(ask({ NextToken: "nonsense" }), "InvalidNextToken", 400);
  await refused(ask({ MaxResults: 4 }), "InvalidParameterValue", 400);
  await refused(ask({ MaxResults: 1001 }), "InvalidParameterValue", 400);
  await refused(ask({ MaxResults: 5, InstanceIds: [node!.id] }), "InvalidParameterCombination", 400);
});

/** Every paged call, with the ids of its answer; each has at least six records in the bed below. */
const PAGED: Readonly<
  Record<
    string,
    (
      ec2: EC2Client,
      page: { MaxResults?: number; NextToken?: string | undefined },
    ) => Promise<{ NextToken?: string | undefined; ids: string[] }>
  >
> = {
  subnets: async (ec2, page) => {
    const answer = await ec2.send(new DescribeSubnetsCommand(page));
    return { NextToken: answer.NextToken, ids: answer.Subnets!.map((one) => one.SubnetId!) };
  },
  "network interfaces": async (ec2, page) => {
    const answer = await ec2.send(new DescribeNetworkInterfacesCommand(page));
    return { NextToken: answer.NextToken, ids: answer.NetworkInterfaces!.map((one) => one.NetworkInterfaceId!) };
  },
  "security groups": async (ec2, page) => {
    const answer = await ec2.send(new DescribeSecurityGroupsCommand(page));
    return { NextToken: answer.NextToken, ids: answer.SecurityGroups!.map((one) => one.GroupId!) };
  },
  "security group rules": async (ec2, page) => {
    const answer = await ec2.send(new DescribeSecurityGroupRulesCommand(page));
    return { NextToken: answer.NextToken, ids: answer.SecurityGroupRules!.map((one) => one.SecurityGroupRuleId!) };
  },
  tags: async (ec2, page) => {
    const answer = await ec2.send(new DescribeTagsCommand(page));
    return { NextToken: answer.NextToken, ids: answer.Tags!.map((one) => `${one.ResourceId} ${one.Key}`) };
  },
  "instance types": async (ec2, page) => {
    const answer = await ec2.send(new DescribeInstanceTypesCommand(page));
    return { NextToken: answer.NextToken, ids: answer.InstanceTypes!.map((one) => one.InstanceType!) };
  },
  "instance status": async (ec2, page) => {
    const answer = await ec2.send(new DescribeInstanceStatusCommand({ ...page, IncludeAllInstances: true }));
    return { NextToken: answer.NextToken, ids: answer.InstanceStatuses!.map((one) => one.InstanceId!) };
  },
};

for (const [noun, ask] of Object.entries(PAGED)) {
  test(`Pages of ${noun} are honoured`, async () => {
    const { ec2, network, cloud } = networkBed();
    launchNodes(cloud, network, 7);
    for (let index = 0; index < 5; index++) {
      await ec2.send(new CreateSecurityGroupCommand({ GroupName: `g${index}`, Description: "d", VpcId: network.vpcId }));
    }
    const whole = await ask(ec2, {});
    const { sizes, ids } = await pagesOf((NextToken) => ask(ec2, { MaxResults: 5, NextToken }));
    assert.ok(sizes.length > 1);
    assert.ok(sizes.every((size) => size <= 5));
    assert.deepEqual(ids, whole.ids);
  });
}

test("The page size of the settings holds for calls that ask for none, such as route tables and VPCs", async () => {
  const { ec2, cloud } = networkBed();
  cloud.controls.change({ pageSize: 1 });
  const { sizes } = await pagesOf(async (NextToken) => {
    const answer = await ec2.send(new DescribeRouteTablesCommand({ NextToken }));
    return { NextToken: answer.NextToken, ids: answer.RouteTables!.map((table) => table.RouteTableId!) };
  });
  assert.deepEqual(sizes, [1, 1, 1]);
  assert.equal((await ec2.send(new DescribeVpcsCommand({}))).Vpcs?.length, 1);
});

test("tag-key with several values means any of them", async () => {
  const { ec2, network, cloud } = networkBed();
  const [a, b] = launchNodes(cloud, network, 3);
  await ec2.send(new CreateTagsCommand({ Resources: [a!.id], Tags: [{ Key: "a", Value: "1" }] }));
  await ec2.send(new CreateTagsCommand({ Resources: [b!.id], Tags: [{ Key: "b", Value: "1" }] }));
  const { Reservations } = await ec2.send(new DescribeInstancesCommand({ Filters: [{ Name: "tag-key", Values: ["a", "b"] }] }));
  assert.deepEqual(Reservations!.flatMap((one) => one.Instances!.map((instance) => instance.InstanceId!)).sort(), [a!.id, b!.id].sort());
});

test("CreateTags: an unknown well-formed id is its kind's NotFound, a foreign prefix InvalidID, aws: and the 51st tag are refused, and nothing is tagged", async () => {
  const { ec2, network, cloud } = networkBed();
  const [node] = launchNodes(cloud, network, 1);
  const tag = (Resources: string[], ...keys: string[]) =>
    ec2.send(new CreateTagsCommand({ Resources, Tags: keys.map((Key) => ({ Key, Value: "v" })) }));
  await refused(tag([node!.id, "i-0000000000000000a"], "k"), "InvalidInstanceID.NotFound", 400);
  await refused(tag(["subnet-0000000000000000a"], "k"), "InvalidSubnetID.NotFound");
  await refused(tag(["what-1"], "k"), "InvalidID");
  await refused(tag([node!.id], "aws:k"), "InvalidParameterValue");
  await refused(tag([node!.id], ...Array.from({ length: 49 }, (_, index) => `k${index}`)), "TagLimitExceeded");
  await refused(tag([node!.id], "k".repeat(129)), "InvalidParameterValue");
  assert.equal(Object.keys(cloud.account.ec2.instances.get(node!.id)!.tags).length, 2);
  await tag([node!.id], ...Array.from({ length: 48 }, (_, index) => `k${index}`));
});

test("DeleteTags removes by key, or by key and value; a forgotten instance is NotFound", async () => {
  const { ec2, network, cloud, world } = networkBed();
  const [node] = launchNodes(cloud, network, 1);
  await ec2.send(
    new CreateTagsCommand({
      Resources: [node!.id],
      Tags: [
        { Key: "a", Value: "1" },
        { Key: "b", Value: "1" },
      ],
    }),
  );
  await ec2.send(new DeleteTagsCommand({ Resources: [node!.id], Tags: [{ Key: "a" }, { Key: "b", Value: "other" }] }));
  const { Tags } = await ec2.send(
    new DescribeTagsCommand({
      Filters: [
        { Name: "resource-id", Values: [node!.id] },
        { Name: "key", Values: ["?"] },
      ],
    }),
  );
  assert.deepEqual(
    Tags?.map((tag) => tag.Key),
    ["b"],
  );
  await ec2.send(new TerminateInstancesCommand({ InstanceIds: [node!.id] }));
  world.pass(62 * 60_000);
  // The first hour after termination begins when the instance has terminated.
  await ec2.send(new DescribeInstancesCommand({}));
  world.pass(60_000);
  await refused(ec2.send(new DeleteTagsCommand({ Resources: [node!.id], Tags: [{ Key: "b" }] })), "InvalidInstanceID.NotFound");
});

test("DryRun answers DryRunOperation with 412, or UnauthorizedOperation where the call would be denied", async () => {
  const { ec2, cloud } = cloudBed();
  const dry = () => ec2.send(new DescribeInstancesCommand({ DryRun: true }));
  await refused(dry(), "DryRunOperation", 412);
  cloud.controls.deny("ec2:DescribeInstances");
  await refused(dry(), "UnauthorizedOperation", 403);
});
