import assert from "node:assert/strict";
import { test } from "node:test";
import { accountText, textDifferences } from "../bed/account-text.ts";
import { serviceWorld } from "../bed/service-world.ts";
import { classicWithAll, networkWithAll, type Scenario } from "../simulation/services-features.ts";

const faults = [
  { kind: "throttle" },
  { kind: "fail", code: "InternalFailure", status: 500 },
  { kind: "cut" },
  { kind: "lose-answer" },
] as const;

async function accountsOf(scenario: Scenario, seed: number, faulty: boolean): Promise<readonly (readonly string[])[]> {
  const world = await scenario.world(seed);
  const accounts: (readonly string[])[] = [];
  const phase = async (act: () => Promise<void>) => {
    if (faulty) for (const effect of faults) world.aws.controls.faults.add({ action: "*", effect, probability: 0.075 });
    await act();
    await world.world.advance(10 * 60_000);
    world.aws.controls.faults.remove();
    await world.world.advance(15 * 60_000);
    accounts.push(accountText(world.snapshot()));
  };
  try {
    world.start();
    await phase(() => world.create("web", scenario.wish(world)));
    await phase(() => scenario.edit(world));
    await phase(() => world.delete("web"));
    assert.equal(world.service("web"), undefined);
    return accounts;
  } finally {
    world.close();
  }
}

for (const scenario of [classicWithAll, networkWithAll]) {
  test(`a ${scenario.kind} load balancer ends the same with 30 % of the calls throttled, failing or lost`, async () => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const undisturbed = await accountsOf(scenario, seed, false);
      const disturbed = await accountsOf(scenario, seed, true);
      for (const [i, account] of disturbed.entries()) {
        assert.deepEqual(textDifferences(account, undisturbed[i] ?? []), [], `seed ${seed}, phase ${i}`);
      }
    }
  });
}

for (const { kind, annotations } of [
  { kind: "classic", annotations: {} },
  { kind: "network", annotations: { type: "nlb" } },
]) {
  test(`a ${kind} load balancer that AWS does not show yet is not taken for gone`, async (t) => {
    for (const afterMs of [0, 200, 500, 1_000, 2_000, 4_000, 8_000]) {
      const world = await serviceWorld({ settings: { latency: { minMs: 50, maxMs: 50 } } });
      t.after(() => world.close());
      const before = world.snapshot();
      const reads = [
        "ec2:DescribeSecurityGroups",
        "elasticloadbalancing:DescribeLoadBalancers",
        "elasticloadbalancing:DescribeTargetGroups",
      ];
      world.start();
      for (const action of reads) world.aws.controls.faults.add({ action, effect: { kind: "stale", ageMs: 5_000 } });
      await world.create("web", { annotations });
      await world.world.advance(afterMs);
      await world.delete("web");
      await world.world.advance(10 * 60_000);
      assert.equal(world.service("web"), undefined, `deleted after ${afterMs} ms`);
      assert.deepEqual(world.differences(before), [], `deleted after ${afterMs} ms`);
    }
  });
}

test("two hundred Services at once: one that is wrong and one that cannot go hold up nobody", async (t) => {
  const quotas = { classicLoadBalancers: 300, networkLoadBalancers: 300, rulesPerSecurityGroup: 2000 };
  const world = await serviceWorld({ settings: { quotas } });
  t.after(() => world.close());
  world.start();
  await world.create("stuck");
  await world.published("stuck");
  // Somebody uses its security group: it cannot be deleted.
  const { ec2 } = world.aws.account;
  const group = ec2.securityGroups.values().find(({ name }) => name === `k8s-elb-${world.loadBalancerOf("stuck")}`)!;
  const [instance] = [...world.instances.values()];
  const interfaceId = instance!.interfaceIds[0]!;
  ec2.interfaces.update(interfaceId, { groupIds: [world.network.nodeGroupId, group.id] });
  await world.delete("stuck");

  const names = Array.from({ length: 200 }, (_, i) => `s${i}`);
  for (const [i, name] of names.entries()) {
    const bad: Record<string, string> = i === 7 ? { "connection-idle-timeout": "soon" } : {};
    await world.create(name, { annotations: i % 2 === 0 ? { type: "nlb" } : bad });
  }
  const good = names.filter((name) => name !== "s7");
  const began = world.world.clock.monotonic();
  await world.until("all have their address", () => good.every((name) => world.hostname(name) !== undefined), 600_000);
  t.diagnostic(`${Math.round((world.world.clock.monotonic() - began) / 1000)} s of virtual time for 199 Services`);
  assert.equal(world.hostname("s7"), undefined);
  assert.ok(world.events("s7").some((text) => /SyncLoadBalancerFailed.*connection-idle-timeout=soon/.test(text)));
  assert.ok(world.service("stuck"), "its finalizer stays");
  await world.world.advance(300_000);
  assert.ok(
    world.events("stuck").some((text) => text.startsWith("Warning SyncLoadBalancerFailed")),
    world.events("stuck").join("\n"),
  );
  ec2.interfaces.update(interfaceId, { groupIds: [world.network.nodeGroupId] });
  await world.gone("stuck");

  for (const name of names) await world.delete(name);
  await world.until("all are gone", () => names.every((name) => world.service(name) === undefined), 1_200_000);
  assert.equal(ec2.securityGroups.values().filter(({ name }) => name.startsWith("k8s-")).length, 0);
});
