import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CreateSecurityGroupCommand,
  CreateTagsCommand,
  CreateVpcCommand,
  DescribeSubnetsCommand,
  DescribeVpcsCommand,
  EC2Client,
  RunInstancesCommand,
} from "@aws-sdk/client-ec2";
import { ECRClient, GetAuthorizationTokenCommand } from "@aws-sdk/client-ecr";
import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import { bodyText } from "../../runtime/http.ts";
import { compareSnapshots } from "./controls/compare.ts";
import { sdkConfig } from "./sdk-handler.ts";
import { cloudBed, networkBed, refused } from "./testing.ts";

const SIGNATURE = `Signature=${"0".repeat(64)}`;

function signed(service: string, region = "us-east-1", key = "AKIATEST"): Record<string, string> {
  return {
    authorization: `AWS4-HMAC-SHA256 Credential=${key}/20260101/${region}/${service}/aws4_request, SignedHeaders=host;x-amz-date, ${SIGNATURE}`,
  };
}

async function raw(headers: Record<string, string>, body: string) {
  const { cloud } = cloudBed();
  const response = await cloud.handle({ method: "POST", url: new URL("http://aws.sandbox/"), headers, body });
  return { status: response.status, text: await bodyText(response), headers: response.headers };
}

const EC2 = "Action=DescribeVpcs&Version=2016-11-15";
const STS = "Action=AssumeRole&Version=2011-06-15&RoleArn=arn:aws:iam::123456789012:role/r&RoleSessionName=abc";
const ECR = { "x-amz-target": "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken", "content-type": "application/x-amz-json-1.1" };

test("An unsigned request is refused in the form of its protocol", async () => {
  const ec2 = await raw({}, EC2);
  assert.equal(ec2.status, 403);
  assert.match(
    ec2.text,
    /<Response><Errors><Error><Code>MissingAuthenticationToken<\/Code>.*<RequestID>[0-9a-f-]{36}<\/RequestID><\/Response>$/,
  );
  const sts = await raw({}, STS);
  assert.equal(sts.status, 403);
  assert.match(
    sts.text,
    /<ErrorResponse xmlns="https:\/\/sts\.amazonaws\.com\/doc\/2011-06-15\/"><Error><Type>Sender<\/Type><Code>MissingAuthenticationToken/,
  );
  const ecr = await raw(ECR, "{}");
  assert.equal(ecr.status, 400);
  assert.equal(JSON.parse(ecr.text).__type, "MissingAuthenticationTokenException");
  assert.ok(ecr.headers["x-amzn-requestid"]);
});

test("A signature for another region or service is refused: AuthFailure in EC2, SignatureDoesNotMatch in query services", async () => {
  assert.match((await raw(signed("ec2", "eu-west-1"), EC2)).text, /AuthFailure/);
  assert.equal((await raw(signed("ec2", "eu-west-1"), EC2)).status, 401);
  assert.match((await raw(signed("ec2"), STS)).text, /SignatureDoesNotMatch.*correct service: 'sts', not 'ec2'/);
  assert.match((await raw({ ...ECR, ...signed("ec2") }, "{}")).text, /InvalidSignatureException/);
});

test("A parameter EC2 does not know is UnknownParameter; a missing one is MissingParameter", async () => {
  const unknown = await raw(signed("ec2"), `${EC2}&Colour=red`);
  assert.match(unknown.text, /<Code>UnknownParameter<\/Code><Message>The parameter Colour is not recognized/);
  const missing = await raw(signed("ec2"), "Action=CreateRoute&Version=2016-11-15&DestinationCidrBlock=10.0.0.0/8");
  assert.match(missing.text, /<Code>MissingParameter<\/Code><Message>The request must contain the parameter RouteTableId/);
  const malformed = await raw(signed("ec2"), `${EC2}&MaxResults=many`);
  assert.match(malformed.text, /InvalidParameterValue/);
});

test("A service nobody modelled is InvalidAction and counted", async () => {
  const answer = await raw(signed("sqs"), "Action=ListQueues&Version=2012-11-05");
  assert.equal(answer.status, 400);
  assert.match(answer.text, /InvalidAction/);
});

test("IAM: denied by service, with the principal and the action in the message, and what is not allowed is denied", async () => {
  const { ec2, cloud } = cloudBed();
  const lift = cloud.controls.deny("ec2:Describe*", "sts:AssumeRole", "ecr:*");
  const message = await refused(ec2.send(new DescribeVpcsCommand({})), "UnauthorizedOperation", 403);
  assert.match(message, /arn:aws:iam::123456789012:user\/owner is not authorized to perform: ec2:DescribeVpcs .* explicit deny/);
  const sts = new STSClient(sdkConfig(cloud));
  const assume = new AssumeRoleCommand({ RoleArn: "arn:aws:iam::123456789012:role/r", RoleSessionName: "abc" });
  await refused(sts.send(assume), "AccessDenied", 403);
  await refused(new ECRClient(sdkConfig(cloud)).send(new GetAuthorizationTokenCommand({})), "AccessDeniedException", 400);
  lift();
  await ec2.send(new DescribeVpcsCommand({}));
  cloud.controls.change({ policy: [{ effect: "allow", actions: ["ec2:CreateVpc"] }] });
  assert.match(await refused(ec2.send(new DescribeVpcsCommand({})), "UnauthorizedOperation"), /no identity-based policy allows/);
});

test("IAM: TagSpecifications also need ec2:CreateTags", async () => {
  const { ec2, cloud } = cloudBed();
  cloud.controls.deny("ec2:CreateTags");
  await ec2.send(new CreateVpcCommand({ CidrBlock: "10.0.0.0/16" }));
  const tagged = new CreateVpcCommand({
    CidrBlock: "10.1.0.0/16",
    TagSpecifications: [{ ResourceType: "vpc", Tags: [{ Key: "a", Value: "b" }] }],
  });
  assert.match(await refused(ec2.send(tagged), "UnauthorizedOperation"), /ec2:CreateTags/);
  assert.equal(cloud.account.ec2.vpcs.size, 1);
});

test("IAM: a statement can speak of one role only", async () => {
  const { ec2, cloud } = cloudBed();
  const { credentials } = cloud.account.principals.open("arn:aws:iam::123456789012:role/node", "abc", 900);
  cloud.controls.change({
    policy: [
      { effect: "allow", actions: ["*"] },
      { effect: "deny", actions: ["ec2:*"], principals: ["arn:aws:sts::*:assumed-role/node/*"] },
    ],
  });
  await ec2.send(new DescribeVpcsCommand({}));
  const node = new EC2Client({ ...sdkConfig(cloud), credentials });
  await refused(node.send(new DescribeVpcsCommand({})), "UnauthorizedOperation");
});

test("Buckets: an empty one answers RequestLimitExceeded with 503 in EC2 and refills with time; JSON services say ThrottlingException", async () => {
  const { ec2, cloud, world } = cloudBed();
  cloud.controls.change({
    buckets: { "ec2:Describe*": { capacity: 2, refillPerSecond: 1 }, "ecr:*": { capacity: 1, refillPerSecond: 0 } },
  });
  await ec2.send(new DescribeVpcsCommand({}));
  await ec2.send(new DescribeSubnetsCommand({}));
  await refused(ec2.send(new DescribeVpcsCommand({})), "RequestLimitExceeded", 503);
  await ec2.send(new CreateVpcCommand({ CidrBlock: "10.0.0.0/16" }));
  world.pass(1000);
  await ec2.send(new DescribeVpcsCommand({}));
  const ecr = new ECRClient(sdkConfig(cloud));
  await ecr.send(new GetAuthorizationTokenCommand({}));
  await refused(ecr.send(new GetAuthorizationTokenCommand({})), "ThrottlingException", 400);
});

test("Faults: fail with a code, after so many calls, so many times, and only calls that mention something", async () => {
  const { ec2, cloud } = cloudBed();
  cloud.controls.faults.add({
    action: "ec2:CreateVpc",
    effect: { kind: "fail", code: "InternalError", status: 500 },
    skip: 1,
    times: 1,
    containing: "10.",
  });
  const create = (CidrBlock: string) => ec2.send(new CreateVpcCommand({ CidrBlock }));
  await create("10.0.0.0/16");
  await create("172.16.0.0/16");
  await refused(create("10.1.0.0/16"), "InternalError", 500);
  await create("10.1.0.0/16");
  assert.equal(cloud.account.ec2.vpcs.size, 3);
});

test("Faults: a lost answer performs the call and cuts the connection; a cut performs nothing; the journal tells", async () => {
  const { ec2, cloud } = cloudBed();
  const create = (CidrBlock: string) => ec2.send(new CreateVpcCommand({ CidrBlock }));
  const lost = cloud.controls.faults.add({ action: "ec2:CreateVpc", effect: { kind: "lose-answer" } });
  await assert.rejects(create("10.0.0.0/16"), { code: "ECONNRESET" });
  assert.equal(cloud.account.ec2.vpcs.size, 1);
  cloud.controls.faults.remove(lost);
  cloud.controls.faults.add({ action: "ec2:*", effect: { kind: "cut" } });
  await assert.rejects(create("10.1.0.0/16"), { code: "ECONNRESET" });
  assert.equal(cloud.account.ec2.vpcs.size, 1);
  const [entry, ...more] = cloud.controls.journal.entries();
  assert.deepEqual(more, []);
  assert.deepEqual([entry?.action, entry?.result, entry?.answered], ["ec2:CreateVpc", "ok", false]);
  assert.equal(entry?.principal, "arn:aws:iam::123456789012:user/owner");
  assert.equal(entry?.input.CidrBlock, "10.0.0.0/16");
});

test("Faults: a script strikes the calls it names, and a call can be done and answered with an error", async () => {
  const { ec2, cloud } = cloudBed();
  cloud.controls.faults.add({
    action: "ec2:CreateVpc",
    effect: { kind: "fail-afterwards", code: "InternalError", status: 500 },
    calls: [2, 3],
  });
  const outcomes: string[] = [];
  for (let call = 0; call < 4; call++) {
    const create = ec2.send(new CreateVpcCommand({ CidrBlock: `10.${call}.0.0/16` }));
    outcomes.push(
      await create.then(
        () => "ok",
        (error: Error) => error.name,
      ),
    );
  }
  assert.deepEqual(outcomes, ["ok", "InternalError", "InternalError", "ok"]);
  assert.equal(cloud.account.ec2.vpcs.size, 4);
});

test("Faults: probability follows from the seed", async () => {
  const story = async (seed: number) => {
    const { ec2, cloud } = cloudBed({ seed });
    cloud.controls.faults.add({ action: "ec2:DescribeVpcs", effect: { kind: "throttle" }, probability: 0.5 });
    const outcomes: string[] = [];
    for (let call = 0; call < 20; call++) {
      outcomes.push(
        await ec2.send(new DescribeVpcsCommand({})).then(
          () => "ok",
          (error: Error) => error.name,
        ),
      );
    }
    return outcomes;
  };
  assert.deepEqual(await story(5), await story(5));
  assert.notDeepEqual(await story(5), await story(6));
});

test("Eventual consistency: a stale read shows the account as it was, and a mutating call sees it as it is", async () => {
  const { ec2, cloud, world, network } = networkBed();
  cloud.controls.faults.add({ action: "ec2:DescribeSecurityGroups", effect: { kind: "stale", ageMs: 5000 } });
  const count = async () => (await ec2.send(new DescribeVpcsCommand({}))).Vpcs!.length;
  const stale = cloud.controls.faults.add({ action: "ec2:DescribeVpcs", effect: { kind: "stale", ageMs: 5000 } });
  world.pass(60_000);
  await ec2.send(new CreateVpcCommand({ CidrBlock: "10.9.0.0/16" }));
  assert.equal(await count(), 1);
  const group = new CreateSecurityGroupCommand({ GroupName: "g", Description: "g", VpcId: network.vpcId });
  await ec2.send(group);
  await refused(ec2.send(group), "InvalidGroup.Duplicate");
  world.pass(5001);
  assert.equal(await count(), 2);
  await ec2.send(new CreateTagsCommand({ Resources: [network.vpcId], Tags: [{ Key: "new", Value: "1" }] }));
  const { Vpcs } = await ec2.send(new DescribeVpcsCommand({ Filters: [{ Name: "tag-key", Values: ["new"] }] }));
  assert.deepEqual(Vpcs, []);
  cloud.controls.faults.remove(stale);
  assert.equal((await ec2.send(new DescribeVpcsCommand({ Filters: [{ Name: "tag-key", Values: ["new"] }] }))).Vpcs?.length, 1);
});

test("Latency passes on the world's clock", async () => {
  const { ec2, cloud, world } = cloudBed();
  cloud.controls.change({ latency: { minMs: 100, maxMs: 200 } });
  let answered = false;
  const call = ec2.send(new DescribeVpcsCommand({})).then(() => {
    answered = true;
  });
  for (let turn = 0; turn < 10_000 && world.timers() === 0; turn++) await Promise.resolve();
  assert.equal(world.timers(), 1);
  assert.equal(answered, false);
  world.pass(100);
  for (let turn = 0; turn < 10_000 && world.timers() === 0; turn++) await Promise.resolve();
  world.pass(100);
  await call;
});

test("A caller who gives up does not stop what was sent", async () => {
  const { ec2, cloud, world } = cloudBed();
  cloud.controls.faults.add({ action: "ec2:CreateVpc", effect: { kind: "delay", ms: 1000 } });
  const impatience = new AbortController();
  const call = ec2.send(new CreateVpcCommand({ CidrBlock: "10.0.0.0/16" }), { abortSignal: impatience.signal });
  for (let turn = 0; turn < 10_000 && world.timers() === 0; turn++) await Promise.resolve();
  impatience.abort();
  await assert.rejects(call);
  assert.equal(cloud.account.ec2.vpcs.size, 0);
  world.pass(1000);
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  assert.equal(cloud.account.ec2.vpcs.size, 1);
});

test("Eventual consistency in the settings: reads may be up to so old, and never older", async () => {
  const { ec2, cloud, world } = cloudBed({ settings: { staleness: { maxAgeMs: 5000, probability: 1 } } });
  await ec2.send(new CreateVpcCommand({ CidrBlock: "10.0.0.0/16" }));
  const count = async () => (await ec2.send(new DescribeVpcsCommand({}))).Vpcs!.length;
  assert.equal(await count(), 0);
  world.pass(5000);
  assert.equal(await count(), 1);
  assert.equal(cloud.account.ec2.vpcs.size, 1);
});

test("Clock skew beyond the limit is refused when it is switched on", async () => {
  const { ec2, cloud } = cloudBed();
  cloud.controls.change({ maxSkewMs: 300_000 });
  // SDK clients sign with the machine's own date, far from this world's.
  await refused(ec2.send(new DescribeVpcsCommand({})), "RequestExpired");
});

test("Counters and snapshots: calls by action and result, and what changed between two moments", async () => {
  const { ec2, cloud, network } = networkBed();
  const before = cloud.controls.snapshot();
  assert.deepEqual(compareSnapshots(before, cloud.controls.snapshot()), []);
  await ec2.send(new CreateTagsCommand({ Resources: [network.vpcId], Tags: [{ Key: "a", Value: "b" }] }));
  await refused(
    ec2.send(new CreateTagsCommand({ Resources: ["vpc-0000000000000000a"], Tags: [{ Key: "a", Value: "b" }] })),
    "InvalidVpcID.NotFound",
  );
  assert.deepEqual(cloud.controls.journal.counts(), { "ec2:CreateTags": { ok: 1, "InvalidVpcID.NotFound": 1 } });
  const [difference, ...more] = compareSnapshots(before, cloud.controls.snapshot());
  assert.deepEqual(more, []);
  assert.deepEqual([difference?.table, difference?.id, difference?.change], ["ec2/vpcs", network.vpcId, "changed"]);
  assert.deepEqual(Object.keys(difference?.fields ?? {}), ["tags"]);
});

test("The same seed and calls give the same ids", async () => {
  const ids = async (seed: number) => {
    const { network } = networkBed({}, { seed });
    return network;
  };
  assert.deepEqual(await ids(3), await ids(3));
  assert.notDeepEqual(await ids(3), await ids(4));
});

test("A refused call changes nothing, not even the addresses it had taken on the way", async () => {
  const { ec2, cloud, network } = networkBed();
  const before = cloud.controls.snapshot();
  const free = () => cloud.account.ec2.pools.free(network.privateSubnetIds[0]!, "10.0.32.0/19");
  const left = free();
  const launch = new RunInstancesCommand({
    ImageId: "ami-0123456789abcdef0",
    InstanceType: "m5.large",
    MinCount: 1,
    MaxCount: 1,
    NetworkInterfaces: [
      { DeviceIndex: 0, SubnetId: network.privateSubnetIds[0] },
      { DeviceIndex: 1, SubnetId: "subnet-0000000000000000a" },
    ],
  });
  await refused(ec2.send(launch), "InvalidSubnetID.NotFound");
  assert.deepEqual(compareSnapshots(before, cloud.controls.snapshot()), []);
  assert.equal(free(), left);
});
