import assert from "node:assert/strict";
import { test } from "node:test";
import { classify } from "../../aws/classify.ts";
import { adviceFor } from "./advice.ts";

test("what AWS refuses to delete because it is protected is told with its remedy, in the words the failure is told in", () => {
  const refusal = Object.assign(new Error("Load balancer 'arn' cannot be deleted because deletion protection is enabled"), {
    name: "OperationNotPermitted",
    $metadata: { httpStatusCode: 400 },
  });
  const { message } = classify(refusal, { service: "elbv2", action: "DeleteLoadBalancer", region: "eu-west-1", writes: true, sent: true });
  assert.match(adviceFor([message]).join("\n"), /^Deletion protection is on for the load balancer/);
});
