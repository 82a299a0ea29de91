import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyText, type HttpRequest, type HttpResponse } from "../runtime/http.ts";
import { CallLog } from "./calls.ts";
import { virtualWorld } from "./virtual-clock.ts";

test("calls are counted by action and by who made them, with throttles and failures apart", async () => {
  const answers = ["<ok/>", "<Response><Errors><Error><Code>RequestLimitExceeded</Code></Error></Errors></Response>"];
  const log = new CallLog(virtualWorld(1).clock);
  const send = log.over(async () =>
    answer(answers.length > 1 ? 200 : 503, answers.shift() ?? "<Error><Code>InvalidParameterValue</Code></Error>"),
  );
  for (let count = 0; count < 3; count++) await send(request("DescribeInstances", "AKIAONE"));
  await send(request("CreateRoute", "AKIATWO"));
  assert.deepEqual(log.tallies("AKIAONE"), [{ action: "DescribeInstances", calls: 3, throttled: 1, failed: 1 }]);
  assert.deepEqual(log.tallies("AKIATWO"), [{ action: "CreateRoute", calls: 1, throttled: 0, failed: 1 }]);
  assert.deepEqual(
    log.recent().map(({ action, result }) => `${action} ${result}`),
    [
      "DescribeInstances ok",
      "DescribeInstances RequestLimitExceeded",
      "DescribeInstances InvalidParameterValue",
      "CreateRoute InvalidParameterValue",
    ],
  );
});

test("an error still reaches who asked, whole", async () => {
  const body = '{"__type":"com.amazonaws.ecr#ThrottlingException","message":"slower"}';
  const log = new CallLog(virtualWorld(1).clock);
  const send = log.over(async () => answer(400, body));
  assert.equal(await bodyText(await send(request("GetAuthorizationToken", "AKIAONE"))), body);
  assert.deepEqual(log.tallies("AKIAONE"), [{ action: "GetAuthorizationToken", calls: 1, throttled: 1, failed: 0 }]);
});

test("a connection that is cut counts as a failed call", async () => {
  const log = new CallLog(virtualWorld(1).clock);
  const send = log.over(() => Promise.reject(new Error("reset")));
  await assert.rejects(send(request("DescribeInstances", "AKIAONE")), /reset/);
  assert.deepEqual(log.tallies("AKIAONE"), [{ action: "DescribeInstances", calls: 1, throttled: 0, failed: 1 }]);
});

function request(action: string, key: string): HttpRequest {
  return {
    method: "POST",
    url: new URL("http://aws.sandbox/"),
    headers: { authorization: `AWS4-HMAC-SHA256 Credential=${key}/20260101/us-east-1/ec2/aws4_request` },
    body: `Action=${action}&Version=2016-11-15`,
  };
}

function answer(status: number, body: string): HttpResponse {
  return {
    status,
    headers: {},
    body: (async function* () {
      yield Buffer.from(body);
    })(),
  };
}
