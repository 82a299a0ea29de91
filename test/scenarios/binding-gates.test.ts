/** Readiness gates: a pod becomes ready when its target is healthy, and a rollout never has fewer than it may. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type BindingWorld, type BindingWorldOptions, bindingWorld } from "../bed/binding-world.ts";

const gate = "target-health.elbv2.k8s.aws/web";

async function bed(t: TestContext, options?: BindingWorldOptions): Promise<BindingWorld> {
  const world = await bindingWorld(options);
  t.after(() => world.close());
  return world;
}

test("a gated pod is told that it is being registered, and that it is healthy as soon as it is", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop", { protocol: "HTTP", used: true });
  await world.service("web");
  world.start();
  await world.bind("web", { targetGroupARN: arn });
  await world.world.advance(5_000);
  const [pod = ""] = await world.pods("web", 1, { gates: [gate], ready: false });
  await world.world.advance(1_000);
  const { status, reason, message } = world.gate(pod, gate) ?? {};
  assert.deepEqual([status, reason, message], ["False", "Elb.RegistrationInProgress", "Target registration is in progress"]);
  await world.until("healthy", () => world.gate(pod, gate)?.status === "True", 300_000);
  assert.match(await world.metrics.metrics(), /awslbc_readiness_gate_ready_seconds_count\{.*namespace="default".*\} 1/);
  assert.equal(world.condition("web")?.status, "True");
  await world.world.advance(60_000);
  world.resetCalls();
  await world.world.advance(30 * 60_000);
  assert.deepEqual([world.calls(), world.writes], [{}, []], "nobody waits any more");
});

test("a pod that never becomes healthy is told why, and asked about less and less often", async (t) => {
  const world = await bed(t, { probe: () => ({ kind: "answered", status: 500 }) });
  const arn = await world.group("shop", { protocol: "HTTP", used: true });
  await world.service("web");
  await world.pods("web", 3, { gates: [gate], ready: false });
  world.start();
  await world.bind("web", { targetGroupARN: arn });
  await world.world.advance(10 * 60_000);
  assert.equal(world.gate("web-1", gate)?.status, "False");
  assert.match(world.gate("web-1", gate)?.reason ?? "", /Target\.(ResponseCodeMismatch|FailedHealthChecks)/);
  world.resetCalls();
  await world.world.advance(10 * 60_000);
  assert.deepEqual(world.calls(), { DescribeTargetHealth: 20 }, "all of them in one call, every 30 s");
});

test("a binding that goes lets its pods go on", async (t) => {
  const world = await bed(t, { probe: () => ({ kind: "answered", status: 500 }) });
  const arn = await world.group("shop", { protocol: "HTTP", used: true });
  await world.service("web");
  const [pod = ""] = await world.pods("web", 1, { gates: [gate], ready: false });
  world.start();
  await world.bind("web", { targetGroupARN: arn });
  await world.world.advance(10_000);
  assert.equal(world.gate(pod, gate)?.status, "False");
  await world.unbind("web");
  await world.world.advance(10_000);
  assert.equal(world.binding("web"), undefined);
  assert.deepEqual([world.gate(pod, gate)?.status, world.gate(pod, gate)?.message], ["True", "Target Group Binding is deleted"]);
});

test("what still serves is deregistered only when those in its place are healthy; what ends goes at once", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop", { protocol: "HTTP", used: true });
  await world.service("web");
  await world.service("green");
  await world.pods("web", 2);
  world.start();
  await world.bind("web", { targetGroupARN: arn });
  await world.until("healthy", () => world.binding("web")?.status?.targets?.healthy === 2, 600_000);
  const blue = world.addresses("web");
  const [ending = ""] = await world.pods("green", 3);
  const green = world.addresses("green");
  await world.edit("web", { spec: { serviceRef: { name: "green" } } });
  await world.world.advance(2_000);
  assert.deepEqual(world.targets(arn), [...blue, ...green].toSorted(), "both, until green is healthy");
  await world.remove("green", ending);
  await world.world.advance(2_000);
  assert.deepEqual(world.targets(arn), [...blue, ...world.addresses("green")].toSorted(), "one that ends waits for nobody");
  await world.until("switched", () => world.targets(arn).length === 2, 300_000);
  assert.deepEqual(world.targets(arn), world.addresses("green"));
  assert.equal(world.binding("web")?.status?.targets?.healthy, 2);
});

test("a rollout with gates never has fewer healthy targets than the Deployment allows", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop", { protocol: "HTTP", used: true });
  await world.service("web");
  let old = [...(await world.pods("web", 6, { gates: [gate], ready: false }))];
  world.start();
  await world.bind("web", { targetGroupARN: arn });
  const isReady = (pod: string) => world.gate(pod, gate)?.status === "True";
  await world.until("the first six", () => old.every(isReady), 600_000);
  let fewest = 6;
  const healthy = () => {
    const targets = Object.values(world.aws.controls.snapshot()["elbv2/targets"] ?? {}) as {
      verdict: { kind: string };
      drainingSince?: number;
    }[];
    fewest = Math.min(
      fewest,
      targets.filter(({ verdict, drainingSince }) => verdict.kind === "healthy" && drainingSince === undefined).length,
    );
  };
  // As a Deployment with maxSurge 2 and maxUnavailable 0 does it.
  while (old.length > 0) {
    const surge = await world.pods("web", Math.min(2, old.length), { gates: [gate], ready: false });
    await world.until(
      "the new ones",
      () => {
        healthy();
        return surge.every(isReady);
      },
      600_000,
    );
    for (const pod of old.slice(0, surge.length)) await world.remove("web", pod);
    old = old.slice(surge.length);
    await world.world.advance(1_000);
    healthy();
  }
  assert.equal(fewest, 6);
  assert.deepEqual(world.targets(arn), world.addresses("web"));
});

test("targets of QUIC are registered with the server ids of their pods; a gated pod without one is told so", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop", { protocol: "QUIC" });
  await world.service("web");
  world.start();
  await world.bind("web", { targetGroupARN: arn });
  const [with1 = ""] = await world.pods("web", 1, { gates: [gate], ready: false, quicId: "LB5Cpy4ISRE=" });
  const [without = ""] = await world.pods("web", 1, { gates: [gate], ready: false });
  await world.world.advance(20_000);
  assert.deepEqual(world.targets(arn), [world.addressesOf("web", [with1])[0]]);
  const [target] = Object.values(world.aws.controls.snapshot()["elbv2/targets"] ?? {}) as { quicServerId?: string }[];
  assert.equal(target?.quicServerId, "0x2c1e42a72e084911");
  assert.deepEqual([world.gate(without, gate)?.status, world.gate(without, gate)?.reason], ["False", "QuicServerIdMissing"]);
  assert.match(world.events("web").join("\n"), /TargetsLeftOut: web-2: no container has a QUIC server id/);
  assert.match(await world.metrics.metrics(), /awslbc_quic_target_missing_server_id\{/);
});

test("each target waits for its own successors, also after others have waited for long", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop", { protocol: "HTTP", used: true });
  for (const service of ["web", "green"]) {
    await world.service(service);
    await world.pods(service, 2);
  }
  world.start();
  await world.bind("web", { targetGroupARN: arn });
  await world.until("healthy", () => world.binding("web")?.status?.targets?.healthy === 2, 600_000);
  const both = [...world.addresses("web"), ...world.addresses("green")].toSorted();
  for (let i = 0; i < 20; i++) {
    const name = i % 2 === 0 ? "green" : "web";
    for (const pod of await world.pods(name, 1)) await world.remove(name, pod);
    await world.pods(name, 1);
    await world.edit("web", { spec: { serviceRef: { name } } });
    await world.world.advance(20_000);
    assert.ok(
      both.every((address) => world.targets(arn).includes(address)),
      `after ${(i + 1) * 20} s`,
    );
  }
});

test("pods that end before their target group has drained are told of, once", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop");
  await world.service("web");
  const names = await world.pods("web", 3);
  world.start();
  await world.bind("web", { targetGroupARN: arn });
  await world.until("registered", () => world.targets(arn).length === 3);
  world.resetCalls();
  await world.end("web", names[0]!, 30);
  await world.until("deregistered", () => world.targets(arn).length === 2);
  await world.end("web", names[1]!, 30);
  await world.until("deregistered", () => world.targets(arn).length === 1);
  const told = world.events("web").filter((text) => text.includes("DeregistrationDelayTooLong"));
  assert.deepEqual([told.length, world.calls().DescribeTargetGroupAttributes], [1, 1]);
  assert.match(told[0] ?? "", /for 300 seconds .* after at most 30 /);
});
