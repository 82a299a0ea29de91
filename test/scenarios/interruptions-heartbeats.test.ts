/** Heartbeats to a lifecycle hook, counted. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Effect } from "../../src/sandbox/cloud/controls/faults.ts";
import { workerGroup } from "../bed/interruption-group.ts";
import { interruptionWorld } from "../bed/interruption-world.ts";

const beat = "autoscaling:RecordLifecycleActionHeartbeat";

/** A scale-in whose one pod takes so long to end, with a heartbeat every half a minute. */
async function scaleIn(podMs: number, flags: readonly string[] = [], hookSeconds = 600, effect?: Effect) {
  const w = await interruptionWorld();
  const group = await workerGroup(w, 1, hookSeconds);
  const [instance] = group.instances;
  await w.pod({ name: "slow", node: instance!.privateDnsName, graceSeconds: 3_600, endsAfterMs: podMs });
  if (effect) w.aws.controls.faults.add({ action: beat, effect });
  const handler = w.queueHandler(["--heartbeat-interval=30", ...flags]);
  await w.until("the handler polls", () => w.aws.account.sqs.arrivals.size >= 1);
  group.end(instance!.id);
  const done = () => w.until("the hook is completed", () => group.state(instance!.id) === "Terminating:Proceed", 600_000);
  return { w, handler, done, beats: () => w.aws.controls.journal.calls(beat) };
}

test("one comes every interval, the first after one, and none after the hook is completed", async () => {
  const { w, done, beats } = await scaleIn(105_000);
  await done();
  assert.equal(beats(), 3);
  await w.world.advance(300_000);
  assert.equal(beats(), 3);
  w.close();
});

test("they end when their limit is over, though the drain goes on", async () => {
  const { w, done, beats } = await scaleIn(400_000, ["--heartbeat-until=150"]);
  await done();
  assert.equal(beats(), 5);
  w.close();
});

test("one that is throttled or fails is missed, and the next one comes", async () => {
  const { w, done, beats, handler } = await scaleIn(100_000, [], 600, { kind: "fail", code: "InternalFailure", status: 500 });
  await done();
  assert.ok(beats() >= 3, `${beats()} heartbeats`);
  assert.ok(handler.lines.filter((line) => line.includes("Failed to send lifecycle heartbeat")).length >= 3);
  w.close();
});

test("a hook that Auto Scaling knows nothing of gets no second one", async () => {
  const { w, beats, handler } = await scaleIn(200_000, [], 600, { kind: "fail", code: "ValidationError", status: 400 });
  await w.world.advance(250_000);
  assert.equal(beats(), 1);
  assert.ok(handler.lines.some((line) => line.includes("invalid heartbeat target, stopping heartbeat")));
  w.close();
});

test("they stop when the drain is given up", async () => {
  const { w, beats, done } = await scaleIn(3_000_000, ["--heartbeat-until=60"], 90);
  await done();
  const sent = beats();
  assert.ok(sent >= 1 && sent <= 2, `${sent} heartbeats`);
  await w.world.advance(300_000);
  assert.equal(beats(), sent);
  assert.ok(w.eventMessages("PostDrainError").length > 0);
  w.close();
});

test("an interval that is no shorter than the hook's own timeout is warned of", async () => {
  const { w, handler } = await scaleIn(10_000, [], 30);
  await w.world.advance(10_000);
  const [warning = ""] = handler.lines.filter((line) => line.includes("Heartbeat interval is not shorter"));
  assert.match(warning, /"heartbeatInterval":30,"heartbeatTimeout":30/);
  w.close();
});
