import assert from "node:assert/strict";
import { test } from "node:test";
import { patternOf } from "../aws/interruption-rules.ts";
import { checkHooks, checkManagedTag, checkQueue, checkRules } from "./check-interruptions.ts";
import { type QueueFacts, sendersIn } from "./interruption-questions.ts";
import type { Known, Picture } from "./picture.ts";

const known = <T>(value: T): Known<T> => ({ known: true, value });
const url = "https://sqs.us-east-1.amazonaws.com/111122223333/interruptions";
const arn = "arn:aws:sqs:us-east-1:111122223333:interruptions";
const queue: QueueFacts = { url, arn, retentionSeconds: 300, waiting: 0, senders: ["events.amazonaws.com"] };
const instance = (id: string, tags: Readonly<Record<string, string>>) =>
  [id, { kind: "found", instance: { id, state: "running", tags } }] as const;

/** As much of a picture as these checks look at. */
function picture(more: object): Picture {
  const instances = new Map([instance("i-1", { "aws-node-termination-handler/managed": "" })]);
  const whole = { features: ["interruptions"], queueUrl: url, queue: known(queue), scalingGroups: known([]), instances: known(instances) };
  return { ...whole, ...more } as unknown as Picture;
}

const told = (findings: readonly { level: string; what: string }[]) => findings.map(({ level, what }) => `${level}: ${what}`);

test("a queue that hears EventBridge and is empty is right; without a queue, or for other features, nothing is said", () => {
  assert.deepEqual(told(checkQueue(picture({}))), [`ok: ${url} hears EventBridge, and is empty`]);
  for (const check of [checkQueue, checkHooks, checkManagedTag, checkRules]) {
    const none = { queueUrl: "", queue: { known: false, why: "no queue is given", kind: "missing" } };
    assert.deepEqual(check(picture(none)), []);
    assert.deepEqual(check(picture({ features: ["nodes"] })), []);
  }
});

test("a queue that is not there, that nobody may send to, that keeps too much, or that nobody reads", () => {
  const missing = { known: false, why: "the queue does not exist", kind: "failed" };
  assert.deepEqual(told(checkQueue(picture({ queue: missing }))), [`problem: ${url}: the queue does not exist`]);
  const spoiled = (more: Partial<QueueFacts>) => told(checkQueue(picture({ queue: known({ ...queue, ...more }) })));
  assert.match(spoiled({ senders: ["sns.amazonaws.com"] })[0] ?? "", /^problem: its policy does not let events\.amazonaws\.com send/);
  assert.match(spoiled({ retentionSeconds: 345_600 })[0] ?? "", /^warning: keeps messages for 96 hours/);
  assert.match(spoiled({ waiting: 7 })[0] ?? "", /^warning: 7 messages are waiting that nothing has received/);
});

test("what to do about a queue is a command that exists", () => {
  const missing = { known: false, why: "the queue does not exist", kind: "failed" };
  const silent = known({ ...queue, senders: [] });
  for (const each of [missing, silent]) {
    const [finding] = checkQueue(picture({ queue: each }));
    assert.ok(
      finding?.remedy?.startsWith(`aws sqs get-queue-attributes --queue-url ${url} --attribute-names `),
      finding?.remedy ?? "no remedy",
    );
  }
});

test("groups without a termination hook are named, with the command that makes one", () => {
  const groups = [
    { group: "a", terminationHooks: ["drain"], hookTargets: [] },
    { group: "b", terminationHooks: [], hookTargets: [] },
  ];
  const [finding] = checkHooks(picture({ scalingGroups: known(groups) }));
  assert.match(finding?.what ?? "", /ends instances of b without waiting/);
  assert.match(finding?.remedy ?? "", /^aws autoscaling put-lifecycle-hook --auto-scaling-group-name b /);
  assert.deepEqual(told(checkHooks(picture({ scalingGroups: known(groups.slice(0, 1)) }))), [
    "ok: every group holds instances that are to end: a",
  ]);
});

test("instances without the tag are named", () => {
  const instances = new Map([instance("i-1", {}), instance("i-2", { "aws-node-termination-handler/managed": "" })]);
  assert.match(told(checkManagedTag(picture({ instances: known(instances) })))[0] ?? "", /^warning: i-1 do not carry/);
});

test("who may send is read from a policy in each of the forms that AWS allows; one that cannot be read allows nobody", () => {
  const policy = (Statement: unknown) => JSON.stringify({ Version: "2012-10-17", Statement });
  const allow = { Effect: "Allow", Action: "sqs:SendMessage", Resource: "*" };
  assert.deepEqual(sendersIn(policy([{ ...allow, Principal: { Service: ["events.amazonaws.com", "sqs.amazonaws.com"] } }])), [
    "events.amazonaws.com",
    "sqs.amazonaws.com",
  ]);
  assert.deepEqual(sendersIn(policy({ ...allow, Action: ["SQS:*"], Principal: "*" })), ["*"]);
  assert.deepEqual(sendersIn(policy([{ ...allow, Effect: "Deny", Principal: "*" }])), []);
  assert.deepEqual(sendersIn(policy([{ ...allow, Action: "sqs:ReceiveMessage", Principal: "*" }])), []);
  for (const text of [undefined, "", "nonsense"]) assert.deepEqual(sendersIn(text), []);
});

test("rules are right when they pass on what nobody does without; what is missing is named, with the command that makes it", () => {
  const ofKinds = (...kinds: readonly Parameters<typeof patternOf>[0][]) =>
    kinds.map((kind) => ({ name: `r-${kind}`, pattern: patternOf(kind), enabled: true }));
  const rule = (...kinds: Parameters<typeof patternOf>[0][]) => known(ofKinds(...kinds));
  const said = (rules: unknown, more: object = {}) => told(checkRules(picture({ rules, ...more })));
  assert.deepEqual(said(rule("spot", "maintenance", "termination", "rebalance")), [
    "ok: EventBridge passes on spot, rebalance, maintenance, termination; not reservation, capacity-block, state-change, launch",
  ]);
  assert.deepEqual(said(rule("spot", "termination")), ["warning: nothing passes on maintenance to the queue"]);
  const hooked = { scalingGroups: known([{ group: "a", terminationHooks: ["drain"], hookTargets: [] }]) };
  assert.deepEqual(said(rule("spot", "maintenance"), hooked), ["warning: nothing passes on termination to the queue"]);
  const spelling = { source: ["aws.ec2"], "detail-type": ["Capacity Block Expiration Warning"] };
  const half = known([...ofKinds("spot", "maintenance", "termination"), { name: "half", pattern: spelling, enabled: true }]);
  assert.deepEqual(said(half), ["warning: only some notices of capacity-block are passed on to the queue"]);
  assert.deepEqual(said(known([])), ["problem: no rule of EventBridge passes anything on to the queue"]);
  const disabled = known([{ name: "r-spot", pattern: patternOf("spot"), enabled: false }]);
  assert.match(said(disabled)[0] ?? "", /\(disabled: r-spot\)$/);
  const direct = known([{ group: "a", terminationHooks: ["drain"], hookTargets: [arn] }]);
  assert.match(said(rule("spot", "maintenance"), { scalingGroups: direct })[0] ?? "", /^ok: /);
  const denied = { known: false, why: "events:DescribeRule is not allowed", kind: "denied" };
  assert.match(said(denied)[0] ?? "", /^warning: the rules of EventBridge cannot be looked at: events:DescribeRule/);
  const [finding] = checkRules(picture({ rules: known([]) }));
  assert.equal(finding?.remedy, "fairlead interruptions setup --plan --name=interruptions");
});
