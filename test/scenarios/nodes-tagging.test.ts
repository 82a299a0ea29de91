import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { taggedLabel, tagsChecksum } from "../../src/nodes/tagging.ts";
import { type NodeWorld, nodeWorld } from "../bed/node-world.ts";

async function bed(t: TestContext): Promise<NodeWorld> {
  const world = await nodeWorld();
  t.after(() => world.close());
  return world;
}

const minute = 60_000;
const flags = ["--controllers=tagging", "--tags=c=d,a=b", "--resources=instance"];
const checksum = "e30e3a205763e9bbed1be52623d6bb19";
const tagsOf = (world: NodeWorld, id: string) => {
  const { a, c } = world.instance(id).tags;
  return { a, c };
};
const labelOf = (world: NodeWorld, name: string) => world.node(name)?.metadata?.labels?.[taggedLabel];

test("the checksum is that of the sorted pairs", () => {
  assert.equal(tagsChecksum({ c: "d", a: "b" }), checksum);
});

test("nodes get their tags with few calls, the label and a measure of the delay; a label with the checksum is trusted", async (t) => {
  const world = await bed(t);
  const instances = world.launch(250);
  const names: string[] = [];
  for (const instance of instances) names.push(await world.join(instance, { taints: [] }));
  const [trusted] = world.launch(1);
  await world.join(trusted!, { taints: [], labels: { [taggedLabel]: checksum } });
  const { metrics } = world.start(...flags);
  await world.until("all are labelled", () => names.every((name) => labelOf(world, name) === checksum));
  for (const { id } of instances) assert.deepEqual(tagsOf(world, id), { a: "b", c: "d" });
  assert.deepEqual(tagsOf(world, trusted!.id), { a: undefined, c: undefined });
  assert.ok(world.calls("CreateTags") <= 5, `${world.calls("CreateTags")} calls`);
  assert.match(await metrics(), /tagging_controller_inital_node_tagging_delay_seconds_count 250/);
});

test("a node with another checksum is tagged again and not counted as new", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!, { taints: [], labels: { [taggedLabel]: "of-other-tags" } });
  const { metrics } = world.start(...flags);
  await world.until("labelled", () => labelOf(world, name) === checksum);
  assert.deepEqual(tagsOf(world, instance!.id), { a: "b", c: "d" });
  assert.match(await metrics(), /tagging_controller_inital_node_tagging_delay_seconds_count 0/);
});

test("an instance that has the tags already is not written to", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  world.aws.account.ec2.instances.update(instance!.id, { tags: { ...instance!.tags, a: "b", c: "d" } });
  const name = await world.join(instance!, { taints: [] });
  world.start(...flags);
  await world.until("labelled", () => labelOf(world, name) === checksum);
  assert.equal(world.calls("CreateTags"), 0);
});

test("a Node that took the name of another while that one was tagged gets its own tags", async (t) => {
  const world = await bed(t);
  const [former, latter] = world.launch(2);
  world.aws.controls.faults.add({ action: "ec2:CreateTags", effect: { kind: "delay", ms: 5_000 }, times: 1 });
  const name = await world.join(former!, { name: "worker", taints: [] });
  world.start(...flags);
  await world.world.advance(2_000);
  assert.equal(labelOf(world, name), undefined, "its tags are on their way");
  // What happens meanwhile is heard of only after the tags were written, and then by a new list.
  world.cluster.stallWatches(true);
  await world.say("DELETE", `/api/v1/nodes/${name}`);
  await world.join(latter!, { name, taints: [] });
  await world.world.advance(10_000);
  world.cluster.compact();
  world.cluster.cutWatches();
  world.cluster.stallWatches(false);
  await world.until("it is labelled", () => labelOf(world, name) === checksum, 5 * minute);
  assert.deepEqual(tagsOf(world, latter!.id), { a: "b", c: "d" });
});

test("one unknown instance does not keep the others from their tags", async (t) => {
  const world = await bed(t);
  const instances = world.launch(20);
  const names: string[] = [];
  for (const instance of instances) names.push(await world.join(instance, { taints: [] }));
  const lost = await world.join(instances[0]!, { name: "lost", taints: [], providerID: "aws:///us-east-1a/i-0123456789abcdef0" });
  world.start(...flags);
  await world.until("the others are labelled", () => names.every((name) => labelOf(world, name) === checksum));
  assert.equal(labelOf(world, lost), undefined);
});

test("a young node's unknown instance is tried until the grace is over, and tagged when EC2 knows it", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const record = world.instance(instance!.id);
  const name = await world.join(instance!, { taints: [] });
  world.aws.account.ec2.instances.delete(instance!.id);
  world.start(...flags);
  await world.world.advance(3.5 * minute);
  world.aws.account.ec2.instances.put(record.id, record);
  await world.until("labelled", () => labelOf(world, name) === checksum, 5 * minute);
});

test("an old node's unknown instance is dropped without an error", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!, { taints: [] });
  world.aws.account.ec2.instances.delete(instance!.id);
  await world.world.advance(6 * minute);
  const { metrics } = world.start(...flags);
  await world.world.advance(10 * minute);
  assert.equal(labelOf(world, name), undefined);
  assert.equal(world.calls("CreateTags"), 1);
  assert.doesNotMatch(await metrics(), /work_item_errors_total\{/);
});

test("an error is tried nine times more, counted without naming instances, and then given up until the node changes", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!, { taints: [] });
  const allow = world.aws.controls.deny("ec2:CreateTags");
  const { metrics } = world.start(...flags);
  await world.world.advance(60 * minute);
  assert.equal(world.calls("CreateTags"), 10);
  const exposed = await metrics();
  assert.match(exposed, /work_item_errors_total\{error_type="total_errors"\} 9/);
  assert.match(exposed, /work_item_errors_total\{error_type="errors_after_retries_exhausted"\} 1/);
  assert.ok(!exposed.includes(instance!.id));

  allow();
  await world.say("PATCH", `/api/v1/nodes/${name}`, { metadata: { labels: { changed: "yes" } } });
  await world.until("labelled", () => labelOf(world, name) === checksum);
});

test("a deleted node's instance loses the tags whose values are still ours", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!, { taints: [] });
  world.start(...flags);
  await world.until("labelled", () => labelOf(world, name) === checksum);
  world.aws.account.ec2.instances.update(instance!.id, { tags: { ...world.instance(instance!.id).tags, c: "theirs" } });
  await world.say("DELETE", `/api/v1/nodes/${name}`);
  await world.until("untagged", () => world.instance(instance!.id).tags.a === undefined);
  assert.deepEqual(tagsOf(world, instance!.id), { a: undefined, c: "theirs" });
});

test("a node that comes back at once keeps the tags of its instance", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!, { taints: [] });
  world.start(...flags);
  await world.until("labelled", () => labelOf(world, name) === checksum);
  await world.say("DELETE", `/api/v1/nodes/${name}`);
  await world.join(instance!, { taints: [] });
  await world.until("labelled again", () => labelOf(world, name) === checksum);
  await world.world.advance(minute);
  assert.deepEqual(tagsOf(world, instance!.id), { a: "b", c: "d" });
});

test("an instance that is gone with its node needs no untagging", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!, { taints: [] });
  const { metrics } = world.start(...flags);
  await world.until("labelled", () => labelOf(world, name) === checksum);
  world.aws.account.ec2.instances.delete(instance!.id);
  await world.say("DELETE", `/api/v1/nodes/${name}`);
  await world.world.advance(5 * minute);
  assert.doesNotMatch(await metrics(), /work_item_errors_total\{/);
});

test("Fargate nodes and provider IDs that are none are skipped", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  for (const [name, providerID] of [
    ["f", "aws:///us-east-1a/u/fargate-10.0.32.4"],
    ["v", "aws:///us-east-1a/vol-1"],
    ["g", "gce://p/z/i-1"],
  ] as const) {
    await world.join(instance!, { name, providerID, taints: [] });
  }
  world.start(...flags);
  await world.world.advance(minute);
  assert.equal(world.calls("CreateTags"), 0);
});

test("a rate limit holds instances back to so many a second", async (t) => {
  const world = await bed(t);
  const names: string[] = [];
  for (const instance of world.launch(20)) names.push(await world.join(instance, { taints: [] }));
  world.start(...flags, "--tagging-controller-rate-limit=2", "--tagging-controller-burst-limit=4");
  const labelled = () => names.filter((name) => labelOf(world, name) === checksum).length;
  await world.world.advance(3_000);
  assert.ok(labelled() >= 4 && labelled() <= 11, `${labelled()} after three seconds`);
  await world.until("all in the end", () => labelled() === 20, 20_000);
});
