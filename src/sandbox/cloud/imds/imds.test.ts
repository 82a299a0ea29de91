import assert from "node:assert/strict";
import { test } from "node:test";
import { DescribeVpcsCommand, EC2Client, ModifyInstanceMetadataOptionsCommand, StopInstancesCommand } from "@aws-sdk/client-ec2";
import { bodyText, type Transport } from "../../../runtime/http.ts";
import { autoScalingOf, type LifecycleState } from "../autoscaling/state.ts";
import { ailments, notices } from "../ec2/instance-queries.ts";
import { endMaintenance, interruptSpot, recommendRebalance, scheduleMaintenance } from "../ec2/interruptions.ts";
import { runInstances } from "../ec2/run-instances.ts";
import { launchNodes } from "../network.ts";
import { sdkConfig } from "../sdk-handler.ts";
import { networkBed, refused } from "../testing.ts";

const TTL = "x-aws-ec2-metadata-token-ttl-seconds";

function bed() {
  const made = networkBed({ ipv6: true });
  const node = launchNodes(made.cloud, made.network, 1)[0]!;
  made.world.pass(60_000);
  return { ...made, node, imds: made.cloud.imds(node.id) };
}

async function ask(imds: Transport, method: string, path: string, headers: Record<string, string> = {}, signal?: AbortSignal) {
  const response = await imds({ method, url: new URL(`http://169.254.169.254${path}`), headers, ...(signal ? { signal } : {}) });
  return { status: response.status, text: await bodyText(response) };
}

async function reader(imds: Transport) {
  const { text: token } = await ask(imds, "PUT", "/latest/api/token", { [TTL]: "300" });
  return (path: string) => ask(imds, "GET", `/latest${path}`, { "x-aws-ec2-metadata-token": token });
}

test("Metadata: no token, a wrong one and an expired one are 401; a missing or bad TTL is 400", async () => {
  const { imds, world } = bed();
  assert.equal((await ask(imds, "GET", "/latest/meta-data/instance-id")).status, 401);
  assert.equal((await ask(imds, "GET", "/latest/meta-data/instance-id", { "x-aws-ec2-metadata-token": "forged" })).status, 401);
  const get = await reader(imds);
  assert.equal((await get("/meta-data/instance-id")).status, 200);
  world.pass(300_000);
  assert.equal((await get("/meta-data/instance-id")).status, 401);
  assert.equal((await ask(imds, "PUT", "/latest/api/token")).status, 400);
  assert.equal((await ask(imds, "PUT", "/latest/api/token", { [TTL]: "21601" })).status, 400);
  assert.equal((await ask(imds, "PUT", "/latest/api/token", { [TTL]: "60", "x-forwarded-for": "10.0.0.1" })).status, 403);
});

test("Metadata: a token does not cross more hops than the limit, and other instances do not know it", async () => {
  const { cloud, node, ec2, network } = bed();
  await ec2.send(new ModifyInstanceMetadataOptionsCommand({ InstanceId: node.id, HttpPutResponseHopLimit: 1 }));
  const gaveUp = new AbortController();
  const call = ask(cloud.imds(node.id, 2), "PUT", "/latest/api/token", { [TTL]: "60" }, gaveUp.signal);
  gaveUp.abort(new Error("gave up"));
  await assert.rejects(call, /gave up/);
  const { text: token } = await ask(cloud.imds(node.id, 1), "PUT", "/latest/api/token", { [TTL]: "60" });
  const [other] = launchNodes(cloud, network, 1);
  const foreign = await ask(cloud.imds(other!.id), "GET", "/latest/meta-data/", { "x-aws-ec2-metadata-token": token });
  assert.equal(foreign.status, 401);
});

test("Metadata is tied to EC2 state: identity, placement, addresses, and silence when the instance is stopped", async () => {
  const { imds, node, cloud, ec2, world } = bed();
  const get = await reader(imds);
  const networkInterface = cloud.account.ec2.interfaces.get(node.interfaceIds[0]!)!;
  const document = JSON.parse((await get("/dynamic/instance-identity/document")).text);
  assert.deepEqual(
    [document.instanceId, document.region, document.availabilityZone, document.accountId, document.privateIp],
    [node.id, "us-east-1", node.zone, "123456789012", networkInterface.privateAddresses[0]],
  );
  const mac = networkInterface.mac;
  for (const [path, expected] of [
    ["/meta-data/instance-id", node.id],
    ["/meta-data/hostname", node.privateDnsName],
    ["/meta-data/mac", mac],
    ["/meta-data/placement/availability-zone-id", node.zoneId],
    ["/meta-data/placement/region", "us-east-1"],
    ["/meta-data/network/interfaces/macs/", `${mac}/`],
    [`/meta-data/network/interfaces/macs/${mac}/vpc-id`, node.vpcId],
    [`/meta-data/network/interfaces/macs/${mac}/subnet-ipv4-cidr-block`, "10.0.32.0/19"],
    [`/meta-data/network/interfaces/macs/${mac}/ipv6s`, networkInterface.ipv6Addresses[0]],
    ["/meta-data/services/domain", "amazonaws.com"],
  ] as const) {
    assert.deepEqual(await get(path), { status: 200, text: expected }, path);
  }
  await ec2.send(new StopInstancesCommand({ InstanceIds: [node.id] }));
  world.pass(60_000);
  await assert.rejects(get("/meta-data/instance-id"), { code: "ECONNRESET" });
});

test("Metadata that is absent is 404: spot, events, tags when disabled, user data, nonsense", async () => {
  const { imds, node, cloud, ec2 } = bed();
  const get = await reader(imds);
  const absent = [
    "/meta-data/spot/instance-action",
    "/meta-data/events/recommendations/rebalance",
    "/meta-data/tags/instance/Name",
    "/user-data",
    "/meta-data/nonsense",
    "/meta-data/public-ipv4",
  ];
  for (const path of absent) assert.equal((await get(path)).status, 404, path);
  await ec2.send(new ModifyInstanceMetadataOptionsCommand({ InstanceId: node.id, InstanceMetadataTags: "enabled" }));
  assert.equal((await get("/meta-data/tags/instance/Name")).text, "test-node");
  notices(cloud.account.ec2).put(node.id, {
    interruption: { action: "terminate", time: Date.UTC(2026, 0, 1, 1) },
    rebalance: Date.UTC(2026, 0, 1),
  });
  assert.deepEqual(JSON.parse((await get("/meta-data/spot/instance-action")).text), { action: "terminate", time: "2026-01-01T01:00:00Z" });
  assert.deepEqual(JSON.parse((await get("/meta-data/events/recommendations/rebalance")).text), { noticeTime: "2026-01-01T00:00:00Z" });
  assert.equal((await get("/meta-data/events/maintenance/scheduled")).text, "[]");
  const event = { Code: "system-reboot", InstanceEventId: "instance-event-1", Description: "reboot", NotBefore: new Date(0) } as const;
  ailments(cloud.account.ec2).put(node.id, { instanceCheck: "ok", systemCheck: "ok", events: [event] });
  assert.equal(JSON.parse((await get("/meta-data/events/maintenance/scheduled")).text)[0].Code, "system-reboot");
});

test("Metadata: the role's credentials work as the instance's session, last, and are renewed before they expire", async () => {
  const { imds, node, cloud, world } = bed();
  const keys = async () => {
    const get = await reader(imds);
    const role = (await get("/meta-data/iam/security-credentials/")).text;
    return JSON.parse((await get(`/meta-data/iam/security-credentials/${role}`)).text);
  };
  const first = await keys();
  assert.equal(first.Code, "Success");
  assert.equal((await keys()).AccessKeyId, first.AccessKeyId);
  const credentials = { accessKeyId: first.AccessKeyId, secretAccessKey: first.SecretAccessKey, sessionToken: first.Token };
  cloud.controls.deny("ec2:DescribeVpcs");
  const message = await refused(
    new EC2Client({ ...sdkConfig(cloud), credentials }).send(new DescribeVpcsCommand({})),
    "UnauthorizedOperation",
  );
  assert.match(message, new RegExp(`assumed-role/test-node/${node.id} `));
  world.pass(6 * 3_600_000 - 60_000);
  assert.notEqual((await keys()).AccessKeyId, first.AccessKeyId);
});

test("Metadata: with tokens optional version 1 answers; a disabled endpoint is 403", async () => {
  const { imds, node, ec2 } = bed();
  await ec2.send(new ModifyInstanceMetadataOptionsCommand({ InstanceId: node.id, HttpTokens: "optional" }));
  assert.equal((await ask(imds, "GET", "/latest/meta-data/instance-id")).text, node.id);
  await ec2.send(new ModifyInstanceMetadataOptionsCommand({ InstanceId: node.id, HttpEndpoint: "disabled" }));
  assert.equal((await ask(imds, "PUT", "/latest/api/token", { [TTL]: "60" })).status, 403);
});

test("Metadata: a spot instance has two minutes from its notice to its end", async () => {
  const { cloud, network, world } = bed();
  const { ec2: state } = cloud.account;
  const [spot] = runInstances(state, {
    ImageId: "ami-0123456789abcdef0",
    InstanceType: "m5.large",
    MinCount: 1,
    MaxCount: 1,
    SubnetId: network.privateSubnetIds[0],
    InstanceMarketOptions: { MarketType: "spot" },
  });
  world.pass(60_000);
  const get = await reader(cloud.imds(spot!.id));
  assert.equal((await get("/meta-data/instance-life-cycle")).text, "spot");
  assert.equal((await get("/meta-data/spot/instance-action")).status, 404);
  recommendRebalance(state, spot!);
  interruptSpot(state, spot!);
  assert.deepEqual(JSON.parse((await get("/meta-data/events/recommendations/rebalance")).text), { noticeTime: "2026-01-01T00:02:00Z" });
  const notice = { action: "terminate", time: "2026-01-01T00:04:00Z" };
  assert.deepEqual(JSON.parse((await get("/meta-data/spot/instance-action")).text), notice);
  world.pass(119_000);
  assert.deepEqual(JSON.parse((await get("/meta-data/spot/instance-action")).text), notice);
  world.pass(1000);
  await assert.rejects(get("/meta-data/spot/instance-action"), { code: "ECONNRESET" });
  assert.equal(state.instances.get(spot!.id)?.stateReason?.code, "Server.SpotInstanceTermination");
});

test("Metadata: scheduled maintenance has its dates in its own form, and is told when it is over or called off", async () => {
  const { imds, node, cloud } = bed();
  const { ec2: state } = cloud.account;
  const get = await reader(imds);
  const read = async (path: string) => JSON.parse((await get(`/meta-data/events/maintenance/${path}`)).text);
  assert.deepEqual(await read("scheduled"), []);
  const id = scheduleMaintenance(state, node, {
    code: "system-reboot",
    description: "scheduled reboot",
    notBefore: Date.UTC(2026, 0, 21, 9, 0, 43),
    notAfter: Date.UTC(2026, 0, 21, 9, 17, 23),
  });
  assert.deepEqual(await read("scheduled"), [
    {
      NotBefore: "21 Jan 2026 09:00:43 GMT",
      NotAfter: "21 Jan 2026 09:17:23 GMT",
      Code: "system-reboot",
      Description: "scheduled reboot",
      EventId: id,
      State: "active",
    },
  ]);
  assert.deepEqual(await read("history"), []);
  endMaintenance(state, node, id, "Canceled");
  const [over] = await read("scheduled");
  assert.deepEqual([over.State, over.Description], ["canceled", "[Canceled] scheduled reboot"]);
  assert.deepEqual(await read("history"), [over]);
});

test("Metadata: a member of an Auto Scaling group knows the state it is on its way to; others have no such path", async () => {
  const { imds, node, cloud } = bed();
  const get = await reader(imds);
  const path = "/meta-data/autoscaling/target-lifecycle-state";
  assert.equal((await get(path)).status, 404);
  const { members } = autoScalingOf(cloud.account);
  const shown = async (state: LifecycleState) => {
    const { id: instanceId, zone, type } = node;
    members.put(instanceId, { instanceId, group: "g", zone, type, state, healthy: true, protected: false, launched: 0 });
    return (await get(path)).text;
  };
  assert.deepEqual([await shown("Pending:Wait"), await shown("InService")], ["InService", "InService"]);
  assert.deepEqual([await shown("Terminating:Wait"), await shown("Standby")], ["Terminated", "Standby"]);
});

test("Metadata: every answer tells how long its token lasts, and the launch's block devices are there", async () => {
  const { imds, world } = bed();
  const { text: token } = await ask(imds, "PUT", "/latest/api/token", { [TTL]: "300" });
  world.pass(100_000);
  const url = new URL("http://169.254.169.254/latest/meta-data/block-device-mapping/");
  const response = await imds({ method: "GET", url, headers: { "x-aws-ec2-metadata-token": token } });
  assert.deepEqual([response.headers[TTL], await bodyText(response)], ["200", "ami\nroot"]);
});
