import assert from "node:assert/strict";
import { test } from "node:test";
import { AwsError } from "../aws/errors.ts";
import { CallMetrics, type CallRecord, Ledger } from "../aws/ledger.ts";
import { newRegistry } from "../runtime/metrics.ts";
import { exportApiMetrics } from "./api-metrics.ts";

const made: CallRecord = {
  at: 0,
  service: "elbv2",
  action: "DescribeRules",
  region: "us-east-1",
  outcome: "ok",
  attempts: 1,
  durationMs: 20,
  waitedMs: 0,
  cause: "a test",
};

function bed() {
  const registry = newRegistry();
  const ledger = new Ledger(new CallMetrics(newRegistry()));
  const countCalls = exportApiMetrics(registry);
  countCalls(ledger);
  countCalls(ledger);
  const told = async (start: string) => (await registry.metrics()).split("\n").filter((line) => line.startsWith(start));
  return { ledger, told };
}

const labels = (status: number, code: string) =>
  `{service="Elastic Load Balancing v2",operation="DescribeRules",status_code="${status}",error_code="${code}"}`;

test("a call is counted once, with its retries, and each of its requests by itself", async () => {
  const { ledger, told } = bed();
  const failure = new AwsError({
    class: "throttled",
    code: "Throttling",
    service: "elbv2",
    action: "DescribeRules",
    status: 400,
    region: "us-east-1",
    message: "",
  });
  ledger.attempted({ service: "elbv2", action: "DescribeRules", durationMs: 10, failure });
  ledger.attempted({ service: "elbv2", action: "DescribeRules", durationMs: 10, failure: undefined });
  ledger.record({ ...made, attempts: 2 });
  assert.deepEqual(await told("aws_api_calls_total{"), [`aws_api_calls_total${labels(200, "")} 1`]);
  assert.deepEqual(await told("aws_api_requests_total{"), [
    `aws_api_requests_total${labels(400, "Throttling")} 1`,
    `aws_api_requests_total${labels(200, "")} 1`,
  ]);
  assert.deepEqual(await told("aws_api_call_retries_sum"), [
    'aws_api_call_retries_sum{service="Elastic Load Balancing v2",operation="DescribeRules"} 1',
  ]);
  assert.deepEqual(await told("aws_api_call_throttled_errors_total{"), []);
});

const counted: Readonly<Record<string, Partial<CallRecord>>> = {
  aws_api_call_permission_errors_total: { outcome: "denied", status: 403, code: "AccessDenied" },
  aws_api_call_service_limit_exceeded_errors_total: { outcome: "throttled", status: 503, code: "RequestLimitExceeded" },
  aws_api_call_throttled_errors_total: { outcome: "throttled", status: 400, code: "Throttling" },
  aws_api_call_validation_errors_total: { outcome: "invalid", status: 400, code: "ValidationError" },
};

for (const [name, call] of Object.entries(counted)) {
  test(`${call.code} counts as ${name}, and as nothing else`, async () => {
    const { ledger, told } = bed();
    ledger.record({ ...made, ...call });
    const errors = (await told("aws_api_call_")).filter((line) => /_errors_total\{/.test(line));
    assert.deepEqual(errors, [`${name}${labels(call.status!, call.code!)} 1`]);
  });
}

test("what AWS never answered is not counted", async () => {
  const { ledger, told } = bed();
  ledger.record({ ...made, outcome: "transient" });
  ledger.record({ ...made, outcome: "cancelled" });
  assert.deepEqual(await told("aws_api_calls_total{"), []);
});
