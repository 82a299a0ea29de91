import assert from "node:assert/strict";
import { test } from "node:test";
import { handlerRole } from "./role.ts";

test("words of the table of permissions are filled in; those in the name of a queue are its own", () => {
  const place = { partition: "aws", region: "eu-west-1", account: "123456789012", name: "MY_REGION" };
  const { policy } = handlerRole("handler", place, { namespace: "kube-system", name: "nth" }, "");
  const text = JSON.stringify(policy);
  assert.match(text, /"arn:aws:sqs:eu-west-1:123456789012:MY_REGION"/);
  assert.match(text, /"aws:RequestedRegion":"eu-west-1"/);
});
