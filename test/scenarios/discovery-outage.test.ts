/** The discoverer while the API server or AWS does not answer, and its end. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { discoveryWorld } from "../bed/discovery-world.ts";

const hour = 3_600_000;

test("the API server is away for an hour: nothing is lost, the probe says so meanwhile and recovers by itself", async () => {
  const world = await discoveryWorld();
  await world.infrastructure({ zones: ["us-east-1a"], zoneToSubnetIdMap: { "us-east-1a": world.network.publicSubnetIds[0] } });
  const discoverer = world.start();
  await world.cycle(discoverer);
  assert.deepEqual(await discoverer.ask("/healthz"), { status: 200, body: "ok" });
  const [catalog, document] = [world.catalog, world.document];

  const lift = world.cluster.faults.add({ match: () => true, effect: { kind: "reset" } });
  world.offer(3);
  const denied = world.aws.controls.deny("ec2:DescribeAddressesAttribute");
  await world.world.advance(hour + 20 * 60_000);
  assert.deepEqual(await discoverer.ask("/healthz"), { status: 503, body: "false" });
  assert.deepEqual(await discoverer.ask("/healthz/live"), { status: 200, body: "ok" });
  assert.match(await discoverer.metrics(), /update_resource_error\{resource="instance_types"\} 1/);
  assert.deepEqual([world.catalog, world.document], [catalog, document]);
  lift();

  await world.world.advance(2 * hour);
  assert.deepEqual(await discoverer.ask("/healthz"), { status: 200, body: "ok" });
  assert.equal(world.catalog!.instanceTypes.length, catalog!.instanceTypes.length + 3);
  assert.ok("x2.large" in (world.document.instanceTypeZones as object));
  assert.match(world.conditions?.data?.conditions ?? "", /DescribeAddressesAttribute is not allowed/);
  assert.doesNotMatch(await discoverer.metrics(), /update_resource_error\{.*\} 1/);
  denied();
  discoverer.stop();
  await discoverer.ended;
});

test("a conflict is read again and written; pauses grow from 3 to 30 seconds over fifteen attempts", async () => {
  const world = await discoveryWorld();
  await world.once();
  world.offer(1);
  world.cluster.faults.add({ match: ({ method }) => method === "PATCH", effect: { kind: "refuse", status: 409 }, times: 1 });
  await world.once();
  assert.ok(world.catalog!.instanceTypes.some(({ name }) => name === "x0.large"));

  const match = ({ method, url }: { method: string; url: URL }) => method === "PATCH" && url.pathname.includes("catalog");
  world.cluster.faults.add({ match, effect: { kind: "refuse", status: 403 } });
  world.offer(2);
  const { lines } = await world.once();
  const pauses = lines.map((line) => JSON.parse(line) as { msg: string; afterMs: number }).filter(({ msg }) => msg === "trying again");
  assert.equal(pauses.length, 14);
  const bases = [3, 6, 12, 24, ...Array.from({ length: 10 }, () => 30)];
  for (const [index, { afterMs }] of pauses.entries()) {
    assert.ok(afterMs >= bases[index]! * 1000 && afterMs <= bases[index]! * 1500, `pause ${index + 1}: ${afterMs} ms`);
  }
  assert.ok(lines.some((line) => line.includes("exceeded retry limit")));
});

test("a platform without the definition of the catalogue gets everything else", async () => {
  const world = await discoveryWorld({ catalogs: false });
  const discoverer = await world.once();
  assert.ok(world.secret !== undefined);
  assert.match(await discoverer.metrics(), /update_resource_error\{resource="instance_types"\} 1/);
});

test("asked to stop in a pause, in an AWS call or between cycles, it ends at once and rightly", async () => {
  const world = await discoveryWorld();
  world.cluster.faults.add({ match: () => true, effect: { kind: "reset" } });
  const inPause = world.start();
  await world.world.runUntil(() => inPause.lines.some((line) => line.includes("trying again")), hour);
  const before = world.world.clock.monotonic();
  inPause.stop();
  await inPause.ended;
  assert.equal(world.world.clock.monotonic(), before);
  world.cluster.faults.clear();

  world.aws.controls.faults.add({ action: "ec2:DescribeInstanceTypes", effect: { kind: "delay", ms: 20_000 }, times: 1 });
  const inCall = world.start();
  await world.world.runUntil(() => inCall.lines.some((line) => line.includes("Start instance types")), hour);
  inCall.stop();
  await inCall.ended;

  const between = world.start();
  await world.cycle(between);
  between.stop();
  await between.ended;
});

test("cycles start a period apart; periods that pass during a cycle are one", async () => {
  const world = await discoveryWorld();
  const discoverer = world.start(["--discovery-period=10m"]);
  const starts = () =>
    discoverer.lines.filter((line) => line.includes('"Start discovery"')).map((line) => (JSON.parse(line) as { ts: number }).ts);
  await world.world.advance(25 * 60_000);
  const [first = 0, ...more] = starts();
  assert.deepEqual(
    more.map((at) => Math.round(at - first)),
    [600, 1200],
  );
  // Slower than two periods: what was due meanwhile is made up for once.
  world.aws.controls.faults.add({ action: "ec2:DescribeInstanceTypes", effect: { kind: "delay", ms: 25_000 } });
  world.cluster.faults.add({ match: ({ method }) => method === "GET", effect: { kind: "delay", ms: 9_000 } });
  await world.world.advance(60 * 60_000);
  const late = starts()
    .slice(3)
    .map((at) => at - first);
  assert.ok(
    late.every((at, index) => index === 0 || at - late[index - 1]! >= 1),
    late.join(" "),
  );
  discoverer.stop();
  await discoverer.ended;
});

test("every other path of the listener is a page that tells the period", async () => {
  const world = await discoveryWorld();
  const discoverer = world.start();
  await world.cycle(discoverer);
  assert.equal((await discoverer.ask("/metrics")).status, 200);
  for (const path of ["/", "/anything"]) assert.match((await discoverer.ask(path)).body, /every 1h0m0s/);
  discoverer.stop();
  await discoverer.ended;
});
