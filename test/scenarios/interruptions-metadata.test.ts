/** Metadata mode, whole, on virtual time: the handler of one machine. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { autoScalingOf } from "../../src/sandbox/cloud/autoscaling/state.ts";
import { endMaintenance, interruptSpot, recommendRebalance, scheduleMaintenance } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import { rules } from "../../src/sandbox/cloud/events/bus.ts";
import { interruptionWorld } from "../bed/interruption-world.ts";

async function machine() {
  const w = await interruptionWorld();
  const [instance] = await w.nodes(1);
  const name = instance!.privateDnsName;
  await w.pod({ name: "web", node: name, endsAfterMs: 2_000 });
  const { ec2 } = w.aws.account;
  return { w, name, instance: instance!, ec2, now: () => ec2.instances.get(instance!.id)! };
}

test("a spot notice is seen within two seconds, and the Node is drained", async () => {
  const { w, name, instance, ec2, now } = await machine();
  const handler = w.metadataHandler(instance);
  await w.world.advance(10_000);
  interruptSpot(ec2, now());
  await w.until("it is cordoned", () => w.isCordoned(name), 2_500);
  await w.until("it is drained", () => w.podNames(name).length === 0 && w.plan(name)?.phase === "ended", 10_000);
  assert.deepEqual(w.events(name), ["CordonAndDrain", "PostDrain", "PreDrain", "SpotInterruption"]);
  const writes = w.calls.length;
  await w.world.advance(60_000);
  assert.equal(w.calls.length, writes, "the notice is still there, and nothing more is done for it");
  assert.match(await handler.metrics(), /actions_total\{node_action="cordon-and-drain",node_status="success".*\} 1/);
  w.close();
});

test("a rebalance recommendation cordons, or drains where that is asked for", async () => {
  for (const [flag, left] of [
    ["--enable-rebalance-monitoring", 1],
    ["--enable-rebalance-draining", 0],
  ] as const) {
    const { w, name, instance, ec2, now } = await machine();
    w.metadataHandler(instance, [flag]);
    recommendRebalance(ec2, now());
    await w.until("it is cordoned", () => w.isCordoned(name), 5_000);
    await w.until("it has ended", () => w.plan(name)?.phase === "ended", 10_000);
    assert.equal(w.podNames(name).length, left, flag);
    w.close();
  }
});

test("maintenance that is called off: uncordoned and untainted once, and a later cordon by hand stays", async () => {
  const { w, name, instance, ec2, now } = await machine();
  w.metadataHandler(instance, ["--taint-node"]);
  const id = scheduleMaintenance(ec2, now(), { code: "system-reboot", description: "why", notBefore: w.now + 3_600_000 });
  await w.until("it is drained", () => w.plan(name)?.phase === "ended", 10_000);
  assert.equal(w.node(name)?.metadata?.labels?.["aws-node-termination-handler/action"], "UncordonAfterReboot");
  endMaintenance(ec2, now(), id, "Canceled");
  await w.until("it serves again", () => !w.isCordoned(name), 5_000);
  assert.deepEqual(
    w.node(name)?.spec?.taints?.filter(({ key }) => key.startsWith("aws-node")),
    [],
  );
  assert.equal(w.node(name)?.metadata?.labels?.["aws-node-termination-handler/action"], undefined);
  await w.say("PATCH", `/api/v1/nodes/${name}`, { spec: { unschedulable: true } });
  await w.world.advance(30_000);
  assert.equal(w.isCordoned(name), true);
  w.close();
});

test("after the restart that was announced the Node serves again, and the notice that is still there does not drain it", async () => {
  const { w, name, instance, ec2, now } = await machine();
  const before = w.metadataHandler(instance);
  scheduleMaintenance(ec2, now(), { code: "instance-reboot", description: "why", notBefore: w.now + 60_000 });
  await w.until("it is drained", () => w.plan(name)?.phase === "ended", 10_000);
  before.kill();
  await w.restart(name, "boot-2");
  w.metadataHandler(instance);
  await w.until("it serves again", () => !w.isCordoned(name), 5_000);
  await w.pod({ name: "after", node: name });
  await w.world.advance(30_000);
  assert.deepEqual([w.isCordoned(name), w.podNames(name)], [false, ["after"]]);
  w.close();
});

test("a Node that was drained by a handler that is no more: after the restart, one that reads a queue lets it serve again", async () => {
  const { w, name, instance, ec2, now } = await machine();
  rules(w.aws.account).delete("all");
  const before = w.metadataHandler(instance);
  scheduleMaintenance(ec2, now(), { code: "instance-reboot", description: "why", notBefore: w.now + 60_000 });
  await w.until("it is drained", () => w.plan(name)?.phase === "ended", 10_000);
  before.kill();
  w.queueHandler();
  await w.restart(name, "boot-2");
  await w.world.advance(240_000);
  assert.equal(w.isCordoned(name), true, "the handler of the machine may be about to come");
  await w.until("it serves again", () => !w.isCordoned(name), 120_000);
  w.close();
});

test("a restart of the handler alone changes nothing", async () => {
  const { w, name, instance, ec2, now } = await machine();
  const before = w.metadataHandler(instance);
  scheduleMaintenance(ec2, now(), { code: "instance-reboot", description: "why", notBefore: w.now + 60_000 });
  await w.until("it is drained", () => w.plan(name)?.phase === "ended", 10_000);
  before.kill();
  const writes = w.calls.length;
  w.metadataHandler(instance);
  await w.world.advance(30_000);
  assert.deepEqual([w.isCordoned(name), w.calls.length], [true, writes]);
  w.close();
});

test("Auto Scaling's target state drains once, however often it is told", async () => {
  const { w, name, instance } = await machine();
  w.metadataHandler(instance, ["--enable-asg-lifecycle-draining"]);
  const as = autoScalingOf(w.aws.account);
  const member = { instanceId: instance.id, group: "g", zone: instance.zone, type: instance.type, state: "Terminating:Wait" as const };
  as.members.put(instance.id, { ...member, healthy: true, protected: false, launched: 0 });
  await w.until("it is drained", () => w.plan(name)?.phase === "ended", 15_000);
  await w.world.advance(40_000);
  assert.equal(w.evictions().length, 1);
  w.close();
});

test("a metadata service that fails is said once, and polled on", async () => {
  const { w, name, instance, ec2, now } = await machine();
  ec2.instances.update(instance.id, { metadata: { ...now().metadata, endpoint: false } });
  const handler = w.metadataHandler(instance);
  await w.world.advance(60_000);
  const said = handler.lines.filter((line) => line.includes("There was a problem monitoring"));
  assert.ok(said.length >= 1 && said.length <= 4, `${said.length} lines`);
  ec2.instances.update(instance.id, { metadata: { ...now().metadata, endpoint: true } });
  interruptSpot(ec2, now());
  await w.until("it is cordoned", () => w.isCordoned(name), 10_000);
  w.close();
});

test("an hour without notices: nothing is written", async () => {
  const { w, instance } = await machine();
  w.metadataHandler(instance);
  await w.world.advance(3_600_000);
  assert.deepEqual(w.calls, []);
  w.close();
});

/** What aws-node-termination-handler leaves on a Node that it has drained for a restart, a minute ago. */
async function drainedByReference({ w, name, ec2, now }: Awaited<ReturnType<typeof machine>>) {
  const id = scheduleMaintenance(ec2, now(), { code: "system-reboot", description: "why", notBefore: w.now + 3_600_000 });
  const labels = {
    "aws-node-termination-handler/event-id": id,
    "aws-node-termination-handler/action": "UncordonAfterReboot",
    "aws-node-termination-handler/action-time": String(Math.floor(w.now / 1000) - 60),
  };
  const taints = [{ key: "aws-node-termination-handler/scheduled-maintenance", value: id, effect: "NoSchedule" }];
  await w.say("PATCH", `/api/v1/nodes/${name}`, { metadata: { labels }, spec: { unschedulable: true, taints } });
}

test("a Node that the reference cordoned for a restart serves again when the machine was restarted, and is not drained again", async () => {
  const story = await machine();
  const { w, name, instance } = story;
  await drainedByReference(story);
  await w.world.files.write("/proc/uptime", "20.47 38.90\n", 0o444);
  w.metadataHandler(instance);
  await w.until("it serves again", () => !w.isCordoned(name), 5_000);
  assert.deepEqual(w.events(name), ["Uncordon"]);
  const { labels = {} } = w.node(name)?.metadata ?? {};
  assert.deepEqual(
    [...Object.keys(labels), ...(w.node(name)?.spec?.taints ?? []).map(({ key }) => key)].filter((key) => key.startsWith("aws-node-")),
    [],
  );
  await w.world.advance(30_000);
  assert.deepEqual([w.isCordoned(name), w.podNames(name)], [false, ["web"]], "the notice that is still there is an old one");
  w.close();
});

test("a Node that the reference cordoned for a restart stays so until the machine was restarted", async () => {
  const story = await machine();
  const { w, name, instance } = story;
  await drainedByReference(story);
  await w.world.files.write("/uptime", "350735.47 234388.90\n", 0o444);
  const before = w.metadataHandler(instance, ["--uptime-from-file=/uptime"]);
  await w.world.advance(60_000);
  assert.deepEqual([w.isCordoned(name), w.podNames(name)], [true, ["web"]], "it is not drained a second time either");
  before.kill();
  await w.restart(name, "boot-2");
  await w.world.files.write("/uptime", "5.00 5.00\n", 0o444);
  w.metadataHandler(instance, ["--uptime-from-file=/uptime"]);
  await w.until("it serves again", () => !w.isCordoned(name), 5_000);
  w.close();
});

test("a metadata service that answers 500 at times is asked again at once, and its notice is not missed", async () => {
  const { w, name, instance, ec2, now } = await machine();
  const answer = w.aws.imds(instance.id);
  let asked = 0;
  // Every other request, of the token too.
  const handler = w.metadataHandler(instance, [], async (request) =>
    ++asked % 2 === 0 ? answer(request) : { status: 500, headers: {}, body: nothing() },
  );
  interruptSpot(ec2, now());
  await w.until("it is cordoned", () => w.isCordoned(name), 6_000);
  assert.deepEqual(
    handler.lines.filter((line) => line.includes("There was a problem monitoring")),
    [],
  );
  w.close();
});

async function* nothing(): AsyncGenerator<Uint8Array> {}
