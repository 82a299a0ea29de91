import assert from "node:assert/strict";
import { test } from "node:test";
import { idsInError, idsNamedIn } from "./error-ids.ts";
import { AwsError } from "./errors.ts";

test("an error is about the ids it names as whole words", () => {
  const error = (code: string, message: string) =>
    new AwsError({ class: code.endsWith("NotFound") ? "not-found" : "invalid", code, service: "ec2", action: "X", region: "r", message });
  const ids = ["i-1", "i-11", "i-2"];
  assert.deepEqual(idsInError(error("InvalidInstanceID.NotFound", "The instance IDs 'i-11, i-2' do not exist"), ids), ["i-11", "i-2"]);
  assert.deepEqual(idsInError(error("InvalidInstanceID.Malformed", 'Invalid id: "i-1"'), ids), ["i-1"]);
  assert.deepEqual(idsInError(error("InvalidInstanceID.NotFound", "some do not exist"), ids), []);
  assert.equal(idsInError(error("InvalidParameterValue", "bad tag"), ids), undefined);
  assert.equal(idsInError(new Error("i-1"), ids), undefined);
});

test("a name is named only where it stands by itself, not where another begins or ends with it", () => {
  const arn = "arn:aws:elasticloadbalancing:us-east-1:1:targetgroup/web/0f";
  const names = ["web", "web-1", "old-web", arn, `${arn}1`];
  assert.deepEqual(idsNamedIn("There is no ACTIVE Load Balancer named 'web-1'", names), ["web-1"]);
  assert.deepEqual(idsNamedIn("There is no ACTIVE Load Balancer named 'web'", names), ["web"]);
  assert.deepEqual(idsNamedIn("no such load balancer: web.", names), ["web"]);
  assert.deepEqual(idsNamedIn("web, old-web: not found", names), ["web", "old-web"]);
  assert.deepEqual(idsNamedIn(`Target groups '${arn}1' not found`, names), [`${arn}1`]);
});
