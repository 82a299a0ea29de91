/** What else `fairlead interruptions setup` makes: a dead-letter queue and a role; and accounts in which much is there already. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createAutoScalingGroup } from "../../src/sandbox/cloud/autoscaling/groups.ts";
import { interruptSpot } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import { busRules, putRule, putTargets } from "../../src/sandbox/cloud/events/bus-rules.ts";
import { createRole, roles } from "../../src/sandbox/cloud/iam/roles.ts";
import { sendMessage } from "../../src/sandbox/cloud/sqs/messages.ts";
import { createQueue, getQueueAttributes, setQueueAttributes } from "../../src/sandbox/cloud/sqs/queues.ts";
import { doctorWorld } from "../bed/doctor-world.ts";
import { setupBed as bed, runSetup as run } from "../bed/interruption-setup.ts";
import type { InterruptionWorld } from "../bed/interruption-world.ts";

const name = "fairlead-interruptions-test";
const queue = (w: InterruptionWorld, of = name) => w.aws.account.sqs.queues.get(of);
const url = (w: InterruptionWorld, of = name) => w.queueUrl.replace(/[^/]+$/, of);
const waiting = (w: InterruptionWorld, of: string) =>
  getQueueAttributes(w.aws.account.sqs, { QueueUrl: url(w, of), AttributeNames: ["All"] }).Attributes.ApproximateNumberOfMessages;
const nothingToDo = async (w: InterruptionWorld, ...flags: readonly string[]) =>
  assert.deepEqual([(await run(w, ...flags)).status, (await run(w, ...flags)).out.split("\n").at(-2)], [0, "nothing to do"]);

test("a notice that EventBridge cannot deliver lies in the dead-letter queue", async () => {
  const { w, as } = await bed();
  await run(w, "--yes");
  const arn = (of: string) => `arn:aws:sqs:${w.aws.account.region}:${w.aws.account.id}:${of}`;
  assert.deepEqual(queue(w)?.settings.redrive, { targetArn: arn(`${name}-dead`), maxReceives: 20 });
  assert.equal(queue(w, `${name}-dead`)?.settings.retention, 14 * 24 * 3_600);
  await nothingToDo(w);
  setQueueAttributes(w.aws.account.sqs, { QueueUrl: url(w), Attributes: { Policy: "" } });
  const [{ instanceId } = { instanceId: "" }] = as.members.values();
  w.aws.account.ec2.instances.update(instanceId, { spot: true });
  interruptSpot(w.aws.account.ec2, w.aws.account.ec2.instances.get(instanceId)!);
  assert.deepEqual([waiting(w, name), waiting(w, `${name}-dead`)], ["0", "1"]);
  w.close();
});

test("a notice of another cluster is no dead letter: its time is over before it has come twenty times", async () => {
  const { w, as } = await bed();
  await run(w, "--yes");
  const [{ instanceId } = { instanceId: "" }] = as.members.values();
  w.aws.account.ec2.instances.update(instanceId, { spot: true });
  w.queueHandler([`--queue-url=${url(w)}`]);
  await w.until("it polls", () => w.aws.account.sqs.arrivals.size === 1);
  w.aws.account.ec2.instances.update(instanceId, { tags: { "aws-node-termination-handler/managed": "" } });
  interruptSpot(w.aws.account.ec2, w.aws.account.ec2.instances.get(instanceId)!, "stop");
  await w.world.advance(330_000);
  w.aws.account.time.settle();
  assert.deepEqual([waiting(w, name), waiting(w, `${name}-dead`)], ["0", "0"]);
  w.close();
});

test("a queue that is there gets a dead-letter queue only if that is asked for, and keeps the one it has", async () => {
  const { w } = await bed();
  const { sqs } = w.aws.account;
  createQueue(sqs, { QueueName: name });
  const { out } = await run(w, "--yes");
  assert.match(out, /= the queue has no dead-letter queue; --dead-letter-queue=always makes one/);
  assert.deepEqual([queue(w)?.settings.redrive, queue(w, `${name}-dead`)], [undefined, undefined]);
  const asked = await run(w, "--dead-letter-queue=always", "--yes");
  assert.match(asked.out, /hand over what queue \S+ delivers 20 times to queue \S+-dead/);
  await nothingToDo(w, "--dead-letter-queue=always");
  await nothingToDo(w);

  createQueue(sqs, { QueueName: "graveyard" });
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: queue(w, "graveyard")!.arn, maxReceiveCount: 5 });
  createQueue(sqs, { QueueName: "theirs", Attributes: { RedrivePolicy } });
  const theirs = await run(w, "--name=theirs", "--dead-letter-queue=always", "--yes");
  assert.match(theirs.out, /= the queue hands over to graveyard/);
  assert.deepEqual([queue(w, "theirs")?.settings.redrive?.maxReceives, queue(w, "theirs-dead")], [5, undefined]);
  w.close();

  const never = await bed();
  await run(never.w, "--dead-letter-queue=never", "--yes");
  assert.deepEqual([queue(never.w)?.settings.redrive, queue(never.w, `${name}-dead`)], [undefined, undefined]);
  never.w.close();
});

test("a run that ended between the two queues is carried on", async () => {
  const { w } = await bed();
  createQueue(w.aws.account.sqs, { QueueName: `${name}-dead` });
  const { status, err } = await run(w, "--yes");
  assert.equal(status, 0, err);
  assert.equal(queue(w)?.settings.redrive?.maxReceives, 20);
  await nothingToDo(w);
  w.close();
});

interface Document {
  readonly Statement: readonly { readonly Action: readonly string[]; readonly Resource: readonly string[]; readonly Principal?: object }[];
}

test("the role: its plan shows both documents, what is made is enough for the handler, and once more there is nothing to do", async () => {
  const { w, as } = await bed();
  const plan = await run(w, "--role=handler");
  assert.equal(plan.status, 2);
  assert.match(plan.out, /\+ create role handler .*\n {2}~ put policy fairlead-interruptions-test-us-east-1 into role handler/);
  assert.match(plan.out, /role handler trusts\n\{[\s\S]*pods\.eks\.amazonaws\.com[\s\S]*and allows\n\{[\s\S]*sqs:ReceiveMessage/);
  assert.deepEqual(roles(w.aws.account).values(), []);
  const made = await run(w, "--role=handler", "--yes");
  assert.equal(made.status, 0, made.err);
  assert.match(made.out, /aws eks create-pod-identity-association --cluster-name test --namespace kube-system /);
  await nothingToDo(w, "--role=handler");

  const document = JSON.parse(roles(w.aws.account).get("handler")!.policies["fairlead-interruptions-test-us-east-1"]!) as Document;
  const onQueue = document.Statement.filter(({ Action }) => Action.some((action) => action.startsWith("sqs:")));
  assert.deepEqual([...new Set(onQueue.flatMap(({ Resource }) => Resource))], [queue(w)?.arn]);
  w.aws.controls.change({
    policy: document.Statement.map(({ Action, Resource, ...more }) => ({
      effect: "allow",
      actions: Action,
      resources: Resource,
      ...("Condition" in more && { condition: more.Condition as never }),
    })),
  });
  const [{ instanceId } = { instanceId: "" }] = as.members.values();
  const instance = w.aws.account.ec2.instances.update(instanceId, { spot: true });
  await w.join(instance);
  await w.pod({ name: "web", node: instance.privateDnsName, endsAfterMs: 1_000 });
  w.queueHandler([`--queue-url=${url(w)}`]);
  await w.until("it polls", () => w.aws.account.sqs.arrivals.size === 1);
  interruptSpot(w.aws.account.ec2, w.aws.account.ec2.instances.get(instanceId)!);
  await w.until("it has ended", () => w.plan(instance.privateDnsName)?.phase === "ended" && w.messages === 0, 60_000);
  w.close();
});

test("a role for the cluster's OIDC provider trusts one service account", async () => {
  const { w } = await bed();
  const provider = "oidc.eks.us-east-1.amazonaws.com/id/ABC";
  const made = await run(w, "--role=handler", `--oidc-provider=${provider}`, "--service-account=ops/nth", "--yes");
  assert.equal(made.status, 0, made.err);
  assert.match(made.out, /annotate service account ops\/nth with eks\.amazonaws\.com\/role-arn=arn:aws:iam::\d+:role\/handler/);
  const [trust] = (JSON.parse(roles(w.aws.account).get("handler")!.trust) as Document).Statement;
  assert.deepEqual(trust, {
    Sid: "ServiceAccount",
    Effect: "Allow",
    Principal: { Federated: `arn:aws:iam::${w.aws.account.id}:oidc-provider/${provider}` },
    Action: ["sts:AssumeRoleWithWebIdentity"],
    Condition: { StringEquals: { [`${provider}:sub`]: "system:serviceaccount:ops:nth", [`${provider}:aud`]: "sts.amazonaws.com" } },
  });
  w.close();
});

test("a role that is there keeps its trust and others' policies; ours in it is corrected", async () => {
  const { w } = await bed();
  const { account } = w.aws;
  createRole(account, { RoleName: "node", AssumeRolePolicyDocument: '{"Statement":[{"Principal":{"Service":"ec2.amazonaws.com"}}]}' });
  roles(account).update("node", { policies: { own: '{"Statement":[]}', "fairlead-interruptions-test-us-east-1": '{"Statement":[]}' } });
  const { out } = await run(w, "--role=node", "--yes");
  assert.match(out, /put policy fairlead-interruptions-test-us-east-1 into role node {2}\(it says something else\)/);
  assert.match(out, /= role node trusts others than it would if it were made/);
  const { trust, policies } = roles(account).get("node")!;
  assert.match(trust, /ec2\.amazonaws\.com/);
  assert.deepEqual([policies.own, Object.keys(policies).length], ['{"Statement":[]}', 2]);
  await nothingToDo(w, "--role=node");
  w.close();
});

test("clusters that share a role each have a policy of their own in it: what is set up for one takes nothing from another", async () => {
  const { w } = await bed();
  const names = ["first", "second"];
  for (const own of names) await run(w, `--name=${own}`, "--role=shared", "--yes");
  const policies = Object.values(roles(w.aws.account).get("shared")!.policies);
  const queues = policies.map((policy) => (JSON.parse(policy) as Document).Statement[0]?.Resource);
  assert.deepEqual(
    queues,
    names.map((own) => [queue(w, own)?.arn]),
  );
  for (const own of names) await nothingToDo(w, `--name=${own}`, "--role=shared");
  w.close();
});

test("what cannot be a role, a provider or a service account is refused with what is allowed", async () => {
  const { w } = await bed();
  for (const [flag, said] of [
    ["--role=my role", /--role: "my role" cannot be the name of a role: letters, digits/],
    ["--oidc-provider=https://oidc.example.org/id", /--oidc-provider: .* without https/],
    ["--service-account=nth", /--service-account: "nth" is not NAMESPACE\/NAME/],
    ["--dead-letter-queue=maybe", /dead-letter-queue/],
  ] as const) {
    const { status, err } = await run(w, flag);
    assert.equal(status, 64, err);
    assert.match(err, said);
  }
  w.close();
});

test("a hundred and twenty groups are described fifty at a time", async () => {
  const { w, as } = await bed();
  const names = Array.from({ length: 120 }, (_, at) => `group-${at}`);
  for (const AutoScalingGroupName of names) {
    const sizes = { MinSize: 0, MaxSize: 1, DesiredCapacity: 0 };
    const VPCZoneIdentifier = w.network.privateSubnetIds[0]!;
    createAutoScalingGroup(as, {
      AutoScalingGroupName,
      VPCZoneIdentifier,
      ...sizes,
      launch: { ImageId: "ami-0123456789abcdef0" } as never,
    });
  }
  w.aws.controls.journal.resetCounts();
  const { status, out, err } = await run(w, `--groups=${names.join()}`, "--kinds=termination");
  assert.equal(status, 2, err);
  assert.equal(out.match(/create hook fairlead-drain of group /g)?.length, 121);
  // Three by name, one by tag.
  assert.equal(w.aws.controls.journal.calls("autoscaling:DescribeAutoScalingGroups"), 4);
  w.close();
});

test("rules of others that pass on a part of a kind's notices are not enough, alone; together they may be", async () => {
  const { w } = await bed();
  const { account } = w.aws;
  createQueue(account.sqs, { QueueName: name });
  const others = (rule: string, state: readonly string[]) => {
    const EventPattern = { source: ["aws.ec2"], "detail-type": ["EC2 Instance State-change Notification"], detail: { state } };
    putRule(account, { Name: rule, EventPattern: JSON.stringify(EventPattern) });
    putTargets(account, { Rule: rule, Targets: [{ Id: "1", Arn: queue(w)!.arn }] });
  };
  others("stops", ["stopping", "stopped"]);
  assert.match(
    (await run(w, "--kinds=state-change")).out,
    /create rule \S+-state-change {2}\(not everything passes on instances that stop/,
  );
  others("ends", ["shutting-down", "terminated"]);
  assert.match((await run(w, "--kinds=state-change")).out, /= rules ends, stops pass on state-change already/);
  assert.equal(busRules(account).values().length, 2);
  w.close();
});

test("the doctor recognises the dead-letter queue, what lies in it, and one that is not there", async () => {
  const { cloud, findings } = await doctorWorld();
  const { sqs } = cloud.account;
  const arn = (of: string) => `arn:aws:sqs:${cloud.account.region}:${cloud.account.id}:${of}`;
  const Policy = JSON.stringify({
    Statement: [{ Effect: "Allow", Principal: { Service: "events.amazonaws.com" }, Action: "sqs:SendMessage", Resource: "*" }],
  });
  createQueue(sqs, { QueueName: "notices-dead" });
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arn("notices-dead"), maxReceiveCount: 20 });
  const Attributes = { Policy, RedrivePolicy, MessageRetentionPeriod: "300" };
  const { QueueUrl } = createQueue(sqs, { QueueName: "notices", Attributes });
  const told = async () =>
    (await findings({ flags: ["--features=interruptions", `--queue-url=${QueueUrl}`] }))
      .filter(({ check }) => check === "queue")
      .map(({ level, what }) => `${level}: ${what}`);
  assert.deepEqual(await told(), [`ok: ${QueueUrl} hears EventBridge, and is empty; what cannot be handled goes to notices-dead`]);
  sendMessage(sqs, { QueueUrl: QueueUrl.replace(/[^/]+$/, "notices-dead"), MessageBody: "x" });
  assert.deepEqual(await told(), ["warning: 1 notices in notices-dead could not be delivered or handled"]);
  sqs.queues.delete("notices-dead");
  assert.match((await told())[0] ?? "", /^warning: its dead-letter queue notices-dead cannot be looked at: .*does not exist/);
});
