/** `fairlead interruptions setup`: what it shows is what it makes, and what it makes is what the handler hears by. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { patternOf } from "../../src/aws/interruption-rules.ts";
import { createOrUpdateTags } from "../../src/sandbox/cloud/autoscaling/groups.ts";
import { putLifecycleHook } from "../../src/sandbox/cloud/autoscaling/hooks.ts";
import { terminateInstanceInAutoScalingGroup } from "../../src/sandbox/cloud/autoscaling/instances.ts";
import { interruptSpot } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import { busRules, putRule, putTargets } from "../../src/sandbox/cloud/events/bus-rules.ts";
import { createRole } from "../../src/sandbox/cloud/iam/roles.ts";
import { createQueue } from "../../src/sandbox/cloud/sqs/queues.ts";
import { doctorWorld } from "../bed/doctor-world.ts";
import { setupBed as bed, runSetup as run } from "../bed/interruption-setup.ts";
import type { InterruptionWorld } from "../bed/interruption-world.ts";
import { actionsIn, strictPolicy } from "../bed/policies.ts";

const mutations = (w: InterruptionWorld) => w.aws.controls.journal.entries().length;

test("the plan names the queue, every rule, the hook and the tags, and changes nothing", async () => {
  const { w } = await bed();
  const before = mutations(w);
  const { status, out } = await run(w, "--plan");
  assert.equal(status, 2);
  assert.match(out, /^ {2}\+ create queue fairlead-interruptions-test-dead, which keeps messages for 14 days/);
  assert.match(out, /\n {2}\+ create queue fairlead-interruptions-test, which keeps messages for 300 s/);
  for (const kind of ["spot", "reservation", "capacity-block", "rebalance", "maintenance", "state-change", "termination"]) {
    assert.match(out, new RegExp(`create rule fairlead-interruptions-test-${kind} `));
  }
  assert.doesNotMatch(out, /-launch/);
  assert.match(out, /create hook fairlead-drain of group workers, which waits 300 s, then CONTINUE/);
  assert.match(out, /tag group workers with aws-node-termination-handler\/managed/);
  assert.match(out, /tag 2 instances of group workers/);
  assert.match(out, /19 steps; give --yes to carry them out\n$/);
  assert.deepEqual([(await run(w)).status, mutations(w)], [2, before], "without --yes it is the same");
  w.close();
});

test("what it makes is enough: a spot interruption and a termination drain their Nodes, and once more there is nothing to do", async () => {
  const { w, as } = await bed();
  const made = await run(w, "--yes");
  assert.equal(made.status, 0, made.err);
  const url = /The handler reads (\S+)/.exec(made.out)?.[1] ?? "";
  assert.match(url, /\/fairlead-interruptions-test$/);
  const before = mutations(w);
  const again = await run(w);
  assert.deepEqual([again.status, again.out, mutations(w)], [0, "nothing to do\n", before]);

  const [spot, ended] = as.members.values().map(({ instanceId }) => w.aws.account.ec2.instances.get(instanceId)!);
  for (const instance of [spot!, ended!]) {
    w.aws.account.ec2.instances.update(instance.id, { spot: true });
    await w.join(instance);
    await w.pod({ name: `on-${instance.id}`, node: instance.privateDnsName, endsAfterMs: 1_000 });
  }
  w.queueHandler([`--queue-url=${url}`]);
  await w.until("it polls", () => w.aws.account.sqs.arrivals.size === 1);
  interruptSpot(w.aws.account.ec2, w.aws.account.ec2.instances.get(spot!.id)!);
  terminateInstanceInAutoScalingGroup(as, { InstanceId: ended!.id, ShouldDecrementDesiredCapacity: true });
  for (const { privateDnsName: name } of [spot!, ended!]) {
    await w.until("it is drained", () => w.plan(name)?.phase === "ended" && w.podNames(name).length === 0, 60_000);
  }
  assert.equal(as.actions.values().length, 0, "the hook that was made is completed");
  w.close();
});

test("rules and hooks of others stay as they are, and no notice is passed on twice", async () => {
  const { w, as } = await bed();
  const { account } = w.aws;
  createQueue(account.sqs, { QueueName: "mine", Attributes: { MessageRetentionPeriod: "345600" } });
  const EventPattern = JSON.stringify({ source: ["aws.ec2"], "detail-type": ["EC2 Spot Instance Interruption Warning"] });
  putRule(account, { Name: "k8s-spot", EventPattern });
  putTargets(account, { Rule: "k8s-spot", Targets: [{ Id: "1", Arn: `arn:aws:sqs:${account.region}:${account.id}:mine` }] });
  putLifecycleHook(as, {
    AutoScalingGroupName: "workers",
    LifecycleHookName: "own",
    LifecycleTransition: "autoscaling:EC2_INSTANCE_TERMINATING",
  });
  const { out } = await run(w, "--name=mine", "--kinds=spot,termination", "--yes");
  assert.match(out, /= the queue keeps messages for 96 hours/);
  assert.match(out, /= rule k8s-spot passes on spot already/);
  assert.match(out, /= group workers has hook own/);
  assert.deepEqual([...busRules(account).values()].map(({ name }) => name).sort(), ["k8s-spot", "mine-termination"]);
  assert.equal(account.sqs.queues.get("mine")?.settings.retention, 345_600);
  assert.equal(as.hooks.values().length, 1);
  w.close();
});

test("a rule of ours that was changed is corrected, and a policy of others is kept beside our statement", async () => {
  const { w } = await bed();
  const { account } = w.aws;
  const Policy = JSON.stringify({ Version: "2012-10-17", Statement: [{ Sid: "Own", Effect: "Allow", Principal: "*", Action: "sqs:*" }] });
  createQueue(account.sqs, { QueueName: "fairlead-interruptions-test", Attributes: { Policy } });
  await run(w, "--yes");
  busRules(account).update("fairlead-interruptions-test-spot", { state: "DISABLED" });
  const { out } = await run(w, "--yes");
  assert.match(out, /correct rule fairlead-interruptions-test-spot {2}\(it is disabled\)/);
  assert.equal(busRules(account).get("fairlead-interruptions-test-spot")?.state, "ENABLED");
  const { policy = "" } = account.sqs.queues.get("fairlead-interruptions-test")!.settings;
  assert.deepEqual(
    (JSON.parse(policy) as { Statement: { Sid: string }[] }).Statement.map(({ Sid }) => Sid),
    ["Own", "FairleadInterruptions"],
  );
  w.close();
});

test("a queue that is made again lets the rules of others send to it too", async () => {
  const { w } = await bed();
  const { account } = w.aws;
  const arn = `arn:aws:sqs:${account.region}:${account.id}:mine`;
  putRule(account, { Name: "k8s-spot", EventPattern: JSON.stringify(patternOf("spot")) });
  putTargets(account, { Rule: "k8s-spot", Targets: [{ Id: "1", Arn: arn }] });
  const { out, status, err } = await run(w, "--name=mine", "--kinds=spot,maintenance", "--yes");
  assert.equal(status, 0, err);
  assert.match(out, /= rule k8s-spot passes on spot already/);
  const { policy = "" } = account.sqs.queues.get("mine")!.settings;
  const allowed = (JSON.parse(policy) as { Statement: { Condition: { ArnLike: { "aws:SourceArn": string | string[] } } }[] }).Statement;
  assert.deepEqual(
    allowed.flatMap(({ Condition }) => Condition.ArnLike["aws:SourceArn"]),
    [`arn:aws:events:${account.region}:${account.id}:rule/mine-*`, `arn:aws:events:${account.region}:${account.id}:rule/k8s-spot`],
  );
  const again = await run(w, "--name=mine", "--kinds=spot,maintenance");
  assert.equal(again.status, 0, again.out);
  w.close();
});

test("a statement of ours that somebody has widened stays, and so does the value of a tag; the order of a policy's fields says nothing", async () => {
  const { w, as } = await bed();
  const { account } = w.aws;
  const Key = "aws-node-termination-handler/managed";
  createOrUpdateTags(as, {
    Tags: [{ ResourceId: "workers", ResourceType: "auto-scaling-group", Key, Value: "yes", PropagateAtLaunch: false }],
  });
  await run(w, "--yes");
  assert.equal(as.groups.get("workers")?.tags.find(({ key }) => key === Key)?.value, "yes");
  const { settings } = account.sqs.queues.get("fairlead-interruptions-test")!;
  const { Statement, Version } = JSON.parse(settings.policy!) as { Version: string; Statement: Record<string, unknown>[] };
  const sources = ["rule/more", "rule/fairlead-interruptions-test-*"].map(
    (rule) => `arn:aws:events:${account.region}:${account.id}:${rule}`,
  );
  const widened = Statement.map((statement) => ({ ...statement, Condition: { ArnLike: { "aws:SourceArn": sources } } }));
  const turned = widened.map((statement) => Object.fromEntries(Object.entries(statement).reverse()));
  account.sqs.queues.update("fairlead-interruptions-test", {
    settings: { ...settings, policy: JSON.stringify({ Statement: turned, Version }) },
  });
  assert.equal((await run(w)).out, "nothing to do\n");
  w.close();
});

test("a group that is not there is named", async () => {
  const { w } = await bed();
  const { status, err } = await run(w, "--groups=workers,wrokers");
  assert.equal(status, 1);
  assert.match(err, /there is no Auto Scaling group wrokers in us-east-1/);
  w.close();
});

test("the doctor sees which notices the rules of a queue pass on, under its own policy, and says what it may not see", async () => {
  const { cloud, network, findings } = await doctorWorld();
  const { account } = cloud;
  const { QueueUrl } = createQueue(account.sqs, { QueueName: "notices" });
  const told = async () =>
    (await findings({ flags: ["--features=interruptions", `--queue-url=${QueueUrl}`] }))
      .filter(({ check }) => check === "event rules")
      .map(({ level, what }) => `${level}: ${what}`);
  assert.deepEqual(await told(), ["problem: no rule of EventBridge passes anything on to the queue"]);
  for (const kind of ["spot", "maintenance"] as const) {
    putRule(account, { Name: kind, EventPattern: JSON.stringify(patternOf(kind)) });
    putTargets(account, { Rule: kind, Targets: [{ Id: "1", Arn: `arn:aws:sqs:${account.region}:${account.id}:notices` }] });
  }
  cloud.controls.change({ policy: strictPolicy(cloud, network, "shop", "interruptions", "doctor") });
  assert.match((await told())[0] ?? "", /^ok: EventBridge passes on spot, maintenance; not /);
  cloud.controls.deny("events:DescribeRule");
  assert.match((await told())[0] ?? "", /^warning: the rules of EventBridge cannot be looked at: .*events:DescribeRule/);
});

const shipped = actionsIn("interruptions-setup");
const role = "--role=fairlead-interruptions-handler";

test("its policy is enough, every action of it is used, and so is the strict one", async () => {
  const { w } = await bed();
  w.aws.controls.change({ policy: [{ effect: "allow", actions: shipped }] });
  w.aws.controls.journal.resetCounts();
  const { status, err } = await run(w, "--yes", role);
  assert.equal(status, 0, err);
  createQueue(w.aws.account.sqs, { QueueName: "fairlead-interruptions-two" });
  assert.equal((await run(w, "--name=fairlead-interruptions-two", "--yes")).status, 0, "sets the policy of a queue that is there");
  const tagging = ["events:TagResource", "iam:TagRole", "sqs:TagQueue"];
  const used = Object.keys(w.aws.controls.journal.counts()).filter((action) => action !== "sts:GetCallerIdentity");
  assert.deepEqual([...used, ...tagging].sort(), [...shipped].sort());
  w.close();

  const strict = await bed();
  strict.w.aws.controls.change({ policy: strictPolicy(strict.w.aws, strict.w.network, "test", "interruptions-setup") });
  const made = await run(strict.w, "--yes", role);
  assert.equal(made.status, 0, made.err);
  strict.w.close();
});

for (const missing of shipped) {
  test(`without ${missing} it ends with status 1 and names exactly that action`, async () => {
    const { w } = await bed();
    if (missing === "sqs:SetQueueAttributes" || missing === "sqs:GetQueueAttributes") {
      createQueue(w.aws.account.sqs, { QueueName: "fairlead-interruptions-test" });
    }
    w.aws.controls.change({ policy: [{ effect: "allow", actions: shipped.filter((action) => action !== missing) }] });
    if (missing === "iam:GetRolePolicy")
      createRole(w.aws.account, { RoleName: role.slice(7), AssumeRolePolicyDocument: '{"Statement":[]}' });
    const { status, err } = await run(w, "--yes", role);
    assert.equal(status, 1);
    assert.equal(/allow ([\w-]+:\w+)/.exec(err)?.[1], missing, err);
    assert.match(err, /deploy\/iam\/interruptions-setup\.json/);
    w.close();
  });
}
