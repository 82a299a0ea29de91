/** Services with the load balancer controller's class, from their creation to their end. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { BindingWorldOptions } from "../bed/binding-world.ts";
import { type ClassWorld, classWorld } from "../bed/class-world.ts";

async function bed(t: TestContext, options?: BindingWorldOptions): Promise<ClassWorld> {
  const world = await classWorld(options);
  t.after(() => world.close());
  return world;
}

const ip = { "nlb-target-type": "ip" };

test("a Service gets a load balancer whose targets are its pods, costs nothing at rest, and leaves nothing behind", async (t) => {
  const world = await bed(t);
  const groupsBefore = world.all("ec2/security-groups").length;
  world.serve();
  world.resetCalls();
  await world.classService("web", ip, {}, 2);
  await world.settled("web");
  const total = Object.values(world.calls()).reduce((sum, count) => sum + count, 0);
  t.diagnostic(`${total} calls ${JSON.stringify(world.calls())}`);
  assert.ok(total < 31, `${total} calls: ${JSON.stringify(world.calls())}`);
  assert.equal(world.all("elbv2/load-balancers").length, 1);
  assert.match(
    await world.metrics.metrics(),
    /aws_target_group_info\{namespace="default",service="web",target_group="targetgroup\/k8s-default-web-\w+\/\w+"\} 1/,
  );
  const [group] = world.all<{ arn: string; protocol: string }>("elbv2/target-groups");
  assert.deepEqual(world.targets(group!.arn), world.addresses("web"), world.lines.slice(-10).join("\n"));
  assert.deepEqual(world.get("web")?.metadata.finalizers, ["service.k8s.aws/resources"]);
  assert.deepEqual([...new Set(world.events("web"))], ["Normal SuccessfullyReconciled: Successfully reconciled"]);
  assert.deepEqual(world.get("web")?.status?.loadBalancer?.ingress?.[0]?.ports, [{ port: 80, protocol: "TCP" }]);

  await world.world.advance(10 * 60_000);
  world.resetCalls();
  await world.world.advance(10 * 60_000);
  assert.deepEqual([world.mutations(), world.writes], [{}, []]);

  await world.drop("web");
  await world.until("the Service is gone", () => world.get("web") === undefined, 30 * 60_000);
  const kinds = ["elbv2/load-balancers", "elbv2/target-groups", "elbv2/listeners"];
  assert.deepEqual([...kinds.map((kind) => world.all(kind).length), world.bindings().length], [0, 0, 0, 0]);
  await world.until("the security groups are gone", () => world.all("ec2/security-groups").length === groupsBefore, 600_000);
});

test("a crash after any call that changes something leaves nothing behind and nothing undone", async (t) => {
  let deaths = 0;
  for (let after = 1; ; after++) {
    const world = await bed(t);
    const before = world.all("ec2/security-groups").length;
    let end = world.serve();
    let left = after;
    const off = world.onAwsMutation(() => {
      if (--left !== 0) return;
      end();
      deaths++;
    });
    const ports = [
      { name: "http", port: 80, targetPort: 8080 },
      { name: "tls", port: 443, targetPort: 8080 },
    ];
    await world.classService("web", { ...ip, attributes: "load_balancing.cross_zone.enabled=true", "proxy-protocol": "*" }, { ports });
    await world.world.advance(60_000);
    off();
    if (left > 0) break;
    end = world.serve();
    await world.settled("web");
    const counts = ["load-balancers", "listeners", "target-groups"].map((kind) => world.all(`elbv2/${kind}`).length);
    assert.deepEqual(counts, [1, 2, 2], `after call ${after}: ${world.lines.slice(-5).join("\n")}`);
    assert.equal(world.bindings().length, 2);
    await world.drop("web");
    let dying = after;
    const offAgain = world.onAwsMutation(() => {
      if (--dying === 0) end();
    });
    await world.world.advance(60_000);
    offAgain();
    end();
    world.serve();
    await world.until("it is gone", () => world.get("web") === undefined, 30 * 60_000);
    assert.deepEqual(
      [world.all("elbv2/load-balancers").length, world.all("elbv2/target-groups").length, world.bindings().length],
      [0, 0, 0],
    );
    await world.until("the security groups are gone", () => world.all("ec2/security-groups").length === before, 600_000);
  }
  assert.ok(deaths >= 8, `it died ${deaths} times`);
});

test("with three calls in ten failing, and answers that are lost, everything comes to stand and in the end to go", async (t) => {
  const world = await bed(t);
  const before = world.all("ec2/security-groups").length;
  const effects = [{ kind: "fail", code: "InternalFailure", status: 500 }, { kind: "lose-answer" }] as const;
  for (const effect of effects) {
    for (const action of ["elasticloadbalancing:*", "ec2:*"]) world.aws.controls.faults.add({ action, effect, probability: 0.15 });
  }
  world.serve();
  const names = ["a", "b", "c"];
  const ports = [
    { name: "http", port: 80, targetPort: 8080 },
    { name: "more", port: 81, targetPort: 8081 },
  ];
  for (const name of names) await world.classService(name, { ...ip, "proxy-protocol": "*" }, { ports });
  await world.until("all have an address", () => names.every((name) => world.hostname(name) !== ""), 2 * 3_600_000);
  await world.until("all listeners stand", () => world.all("elbv2/listeners").length === 6, 2 * 3_600_000);
  assert.ok(
    world.lines.some((line) => line.includes("InternalFailure")),
    "calls did fail",
  );
  await world.drop("b");
  await world.until("b is gone", () => world.get("b") === undefined, 2 * 3_600_000);
  world.aws.controls.faults.remove(undefined);
  await world.world.advance(30 * 60_000);
  const counts = ["load-balancers", "listeners", "target-groups"].map((kind) => world.all(`elbv2/${kind}`).length);
  assert.deepEqual([...counts, world.bindings().length], [2, 4, 4, 4], world.lines.slice(-5).join("\n"));
  for (const name of ["a", "c"]) await world.drop(name);
  await world.until("all are gone", () => names.every((name) => world.get(name) === undefined), 2 * 3_600_000);
  assert.deepEqual([world.all("elbv2/load-balancers").length, world.all("elbv2/target-groups").length], [0, 0]);
  await world.until("the security groups are gone", () => world.all("ec2/security-groups").length === before, 3_600_000);
});
