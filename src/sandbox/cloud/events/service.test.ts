import assert from "node:assert/strict";
import { test } from "node:test";
import type { Action } from "../../../aws/actions.ts";
import { Clouds } from "../../../aws/cloud.ts";
import * as actions from "../../../aws/events-actions.ts";
import { openGate } from "../../../runtime/gate.ts";
import { silentLog } from "../../../runtime/log.ts";
import { newRegistry } from "../../../runtime/metrics.ts";
import { virtualWorld } from "../../virtual-clock.ts";
import { createCloud } from "../cloud.ts";
import { recommendRebalance } from "../ec2/interruptions.ts";
import { launchNodes, standardNetwork } from "../network.ts";
import { receiveNow } from "../sqs/messages.ts";
import { createQueue, setQueueAttributes } from "../sqs/queues.ts";

const queueArn = "arn:aws:sqs:us-east-1:123456789012:notices";
const ruleArn = (name: string) => `arn:aws:events:us-east-1:123456789012:rule/${name}`;
const rebalance = JSON.stringify({ source: ["aws.ec2"], "detail-type": ["EC2 Instance Rebalance Recommendation"] });

function bed() {
  const world = virtualWorld(1, { environment: { AWS_ACCESS_KEY_ID: "AKIASANDBOXSANDBOX00", AWS_SECRET_ACCESS_KEY: "sandbox" } });
  const simulated = createCloud({ world, seed: 1 });
  const { account } = simulated;
  const { QueueUrl } = createQueue(account.sqs, { QueueName: "notices" });
  const [node] = launchNodes(simulated, standardNetwork(simulated, { clusterId: "test" }), 1);
  account.ec2.instances.update(node!.id, { state: "running", spot: true });
  const clouds = new Clouds({
    host: { world, log: silentLog, metrics: newRegistry() },
    transport: simulated.handle,
    gate: openGate(),
    settings: { region: account.region, serviceOverrides: [] },
    version: "0",
  });
  const cloud = clouds.in(account.region);
  const { signal } = new AbortController();
  return {
    account,
    call: ((action, input) => cloud.call(action, input, { cause: "test", signal })) as Call,
    recommend: () => recommendRebalance(account.ec2, account.ec2.instances.get(node!.id)!),
    allow: (statement: object) =>
      setQueueAttributes(account.sqs, {
        QueueUrl,
        Attributes: { Policy: JSON.stringify({ Version: "2012-10-17", Statement: [statement] }) },
      }),
    received: () => receiveNow(account.sqs, { QueueUrl, MaxNumberOfMessages: 10 }).Messages.map(({ Body }) => JSON.parse(Body).source),
  };
}

type Call = <Input extends object, Output>(action: Action<Input, Output>, input: Input) => Promise<Output>;

const allowed = {
  Effect: "Allow",
  Principal: { Service: "events.amazonaws.com" },
  Action: "sqs:SendMessage",
  Resource: queueArn,
  Condition: { ArnLike: { "aws:SourceArn": "arn:aws:events:us-east-1:123456789012:rule/cluster-*" } },
};

test("EventBridge on the wire: a rule is made, found by its target and described; making it again keeps its targets and tags", async () => {
  const { account, call } = bed();
  const made = await call(actions.putRule, { Name: "r", EventPattern: rebalance, Tags: [{ Key: "team", Value: "a" }] });
  assert.equal(made.RuleArn, ruleArn("r"));
  assert.equal((await call(actions.putTargets, { Rule: "r", Targets: [{ Id: "q", Arn: queueArn }] })).FailedEntryCount, 0);
  await call(actions.putRule, { Name: "r", EventPattern: rebalance, State: "DISABLED", Tags: [{ Key: "team", Value: "b" }] });
  const { EventPattern, State, Arn } = await call(actions.describeRule, { Name: "r" });
  assert.deepEqual([EventPattern, State, Arn], [rebalance, "DISABLED", ruleArn("r")]);
  assert.deepEqual((await call(actions.listTargetsByRule, { Rule: "r" })).Targets, [{ Id: "q", Arn: queueArn }]);
  assert.deepEqual((await call(actions.listRuleNamesByTarget, { TargetArn: queueArn })).RuleNames, ["r"]);
  assert.deepEqual((await call(actions.listRuleNamesByTarget, { TargetArn: `${queueArn}x` })).RuleNames, []);
  assert.deepEqual(account.store.table<{ tags: object }>("events/bus-rules").get("r")?.tags, { team: "a" });
});

test("EventBridge refuses what AWS does: unknown rules, patterns that are none, more than five targets", async () => {
  const { call } = bed();
  await assert.rejects(call(actions.describeRule, { Name: "none" }), {
    code: "ResourceNotFoundException",
    detail: /Rule none does not exist/,
  });
  await assert.rejects(call(actions.putTargets, { Rule: "none", Targets: [] }), { code: "ResourceNotFoundException" });
  await assert.rejects(call(actions.putRule, { Name: "a b", EventPattern: rebalance }), { code: "ValidationException" });
  await assert.rejects(call(actions.putRule, { Name: "r" }), { code: "ValidationException", detail: /EventPattern or ScheduleExpression/ });
  await assert.rejects(call(actions.putRule, { Name: "r", EventPattern: '{"source":"aws.ec2"}' }), {
    code: "InvalidEventPatternException",
  });
  await call(actions.putRule, { Name: "r", EventPattern: rebalance });
  const six = Array.from({ length: 6 }, (_, at) => ({ Id: String(at), Arn: queueArn }));
  await assert.rejects(call(actions.putTargets, { Rule: "r", Targets: six }), { code: "LimitExceededException" });
});

test("a rule delivers to a queue whose policy lets it send, and to no other; a rule that is disabled delivers nothing", async () => {
  const { call, recommend, allow, received } = bed();
  await call(actions.putRule, { Name: "cluster-r", EventPattern: rebalance });
  await call(actions.putTargets, { Rule: "cluster-r", Targets: [{ Id: "q", Arn: queueArn }] });
  recommend();
  assert.deepEqual(received(), [], "without a policy nothing arrives");
  allow({ ...allowed, Condition: { ArnLike: { "aws:SourceArn": ruleArn("other-*") } } });
  recommend();
  assert.deepEqual(received(), [], "the policy is for another rule");
  allow(allowed);
  recommend();
  assert.deepEqual(received(), ["aws.ec2"]);
  await call(actions.putRule, { Name: "cluster-r", EventPattern: rebalance, State: "DISABLED" });
  recommend();
  assert.deepEqual(received(), []);
});
