import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpRequest, Transport } from "../runtime/http.ts";
import { realWorld } from "../runtime/world.ts";
import { NotReadOnly, readOnly } from "./read-only.ts";

const answering: Transport = async () => ({
  status: 200,
  headers: { date: new Date(60_000).toUTCString() },
  body: (async function* () {})(),
});

function call(body: string | undefined): HttpRequest {
  return { method: "POST", url: new URL("https://ec2.us-east-1.amazonaws.com/"), headers: {}, ...(body === undefined ? {} : { body }) };
}

test("reads and dry runs pass; a write does not leave, whatever asks for it", async () => {
  const { clock } = realWorld();
  const { transport } = readOnly(answering, clock);
  for (const body of ["Action=DescribeInstances&Version=x", "Action=CreateRoute&DryRun=true", "Action=GetCallerIdentity", undefined]) {
    assert.equal((await transport(call(body))).status, 200);
  }
  for (const body of ["Action=CreateRoute", "Action=CreateRoute&DryRun=false", "Action=TerminateInstances", "Action=RegisterTargets"]) {
    await assert.rejects(async () => transport(call(body)), NotReadOnly);
  }
});

test("calls of the JSON protocol are told by their target", async () => {
  const { transport } = readOnly(answering, realWorld().clock);
  const targeted = (target: string) => ({ ...call("{}"), headers: { "x-amz-target": `AmazonEC2ContainerRegistry_V20150921.${target}` } });
  assert.equal((await transport(targeted("BatchGetImage"))).status, 200);
  await assert.rejects(async () => transport(targeted("BatchDeleteImage")), NotReadOnly);
  await assert.rejects(async () => transport(targeted("CreateRepository")), NotReadOnly);
});

test("the distance to AWS's clock is told by its latest answer, and not by the metadata service's", async () => {
  const way = readOnly(answering, { ...realWorld().clock, now: () => 50_000 });
  assert.equal(way.skewMs(), undefined);
  await way.transport(call(undefined));
  assert.equal(way.skewMs(), undefined);
  await way.transport(call("Action=DescribeInstances"));
  assert.equal(way.skewMs(), 10_000);
});
