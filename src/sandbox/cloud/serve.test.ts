import assert from "node:assert/strict";
import { test } from "node:test";
import { CreateVpcCommand, DescribeInstancesCommand, DescribeVpcsCommand, EC2Client, paginateDescribeInstances } from "@aws-sdk/client-ec2";
import { serveTransport } from "../serve.ts";
import { launchNodes } from "./network.ts";
import { sdkConfig } from "./sdk-handler.ts";
import { serve } from "./serve.ts";
import { networkBed, refused } from "./testing.ts";

async function served(t: { after(undo: () => Promise<void>): void }) {
  const bed = networkBed();
  const { url, close } = await serve(bed.cloud);
  t.after(close);
  const ec2 = new EC2Client({ ...sdkConfig(bed.cloud), endpoint: url, requestHandler: undefined });
  t.after(async () => ec2.destroy());
  const control = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${url}/_fairlead/${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    return { status: response.status, value: (await response.json()) as unknown };
  };
  return { ...bed, url, ec2, control };
}

test("Over the socket an SDK client pages through all instances", async (t) => {
  const { ec2, cloud, network } = await served(t);
  launchNodes(cloud, network, 23);
  const ids = new Set<string>();
  for await (const page of paginateDescribeInstances({ client: ec2, pageSize: 10 }, {})) {
    for (const reservation of page.Reservations ?? []) for (const instance of reservation.Instances ?? []) ids.add(instance.InstanceId!);
  }
  assert.equal(ids.size, 23);
});

test("Over the socket a lost answer is a reset connection, and the work is done", async (t) => {
  const { ec2, cloud, control } = await served(t);
  const { value } = await control("POST", "faults", { action: "ec2:CreateVpc", effect: { kind: "lose-answer" }, times: 1 });
  await assert.rejects(ec2.send(new CreateVpcCommand({ CidrBlock: "10.9.0.0/16" })), { code: "ECONNRESET" });
  assert.equal(cloud.account.ec2.vpcs.size, 2);
  assert.equal((await control("DELETE", `faults/${(value as { id: string }).id}`)).status, 200);
  assert.deepEqual((await control("GET", "faults")).value, []);
});

test("Over the socket the controls change settings, count calls, keep the journal and compare snapshots", async (t) => {
  const { ec2, cloud, control } = await served(t);
  const before = (await control("GET", "snapshot")).value;
  assert.equal((await control("PATCH", "settings", { speed: 60, quotas: { vpcsPerRegion: 2 } })).status, 200);
  assert.equal(cloud.account.time.speed, 60);
  await ec2.send(new CreateVpcCommand({ CidrBlock: "10.9.0.0/16" }));
  await refused(ec2.send(new CreateVpcCommand({ CidrBlock: "10.8.0.0/16" })), "VpcLimitExceeded");
  await control("PATCH", "settings", { policy: [{ effect: "allow", actions: ["ec2:CreateVpc"] }] });
  await refused(ec2.send(new DescribeVpcsCommand({})), "UnauthorizedOperation", 403);
  assert.deepEqual((await control("GET", "calls")).value, {
    "ec2:CreateVpc": { ok: 1, VpcLimitExceeded: 1 },
    "ec2:DescribeVpcs": { UnauthorizedOperation: 1 },
  });
  const journal = (await control("GET", "journal?since=1")).value as { action: string; result: string }[];
  assert.deepEqual(
    journal.map(({ action, result }) => [action, result]),
    [["ec2:CreateVpc", "VpcLimitExceeded"]],
  );
  const changes = (await control("POST", "compare", before)).value as { table: string; change: string }[];
  assert.deepEqual([...new Set(changes.map(({ change }) => change))], ["added"]);
  assert.ok(changes.some(({ table }) => table === "ec2/vpcs"));
});

test("Over the socket a control that does not exist, or is given nonsense, says so", async (t) => {
  const { control } = await served(t);
  assert.equal((await control("GET", "levers")).status, 404);
  assert.equal((await control("PATCH", "settings", { sped: 1 })).status, 400);
  assert.equal((await control("POST", "faults", { action: "*", effect: { kind: "explode" } })).status, 400);
  assert.equal((await control("POST", "seed/x")).status, 400);
  assert.equal((await control("POST", "seed/7")).status, 200);
});

test("The metadata service of an instance is served over a socket of its own", async (t) => {
  const { cloud, network, ec2 } = await served(t);
  const [node] = launchNodes(cloud, network, 1);
  const { url, close } = await serveTransport(cloud.imds(node!.id));
  t.after(close);
  const token = await (
    await fetch(`${url}/latest/api/token`, { method: "PUT", headers: { "x-aws-ec2-metadata-token-ttl-seconds": "60" } })
  ).text();
  const id = await fetch(`${url}/latest/meta-data/instance-id`, { headers: { "x-aws-ec2-metadata-token": token } });
  assert.equal(await id.text(), node!.id);
  assert.equal((await ec2.send(new DescribeInstancesCommand({ InstanceIds: [node!.id] }))).Reservations?.length, 1);
});
