import assert from "node:assert/strict";
import { test } from "node:test";
import type { Ask } from "../../aws/ask.ts";
import type { Inventory } from "../inventory.ts";
import type { Seen } from "../kind.ts";
import { network } from "../network/kind.ts";
import type { SeenNetwork } from "../network/plan.ts";
import { TargetSets, type TargetWork } from "./target-set.ts";

const ask: Ask = { cause: "test", signal: new AbortController().signal, urgency: "user" };

const seenWith = (...ids: readonly string[]): Seen => {
  const healthCheck = { protocol: "TCP", port: "80", interval: 30, healthyThreshold: 3, unhealthyThreshold: 3 };
  const group = {
    arn: "arn",
    name: "tg",
    targetType: "instance",
    protocol: "TCP",
    port: 80,
    healthCheck,
    attributes: {},
    targets: ids.map((id) => ({ id, port: 80 })),
  };
  const seen: SeenNetwork = { kind: "network", targetGroups: [group] };
  return seen;
};

const targets = (...running: readonly string[]) => ({ running, notRunning: [], instances: [], elsewhere: [] });

/** One target group in an account that answers when it is told to. */
function bed(...registered: readonly string[]) {
  const there = new Set(registered);
  const calls: string[] = [];
  let gate: Promise<void> = Promise.resolve();
  const call = async ({ name }: { readonly name: string }, { Targets = [] }: { readonly Targets?: readonly { readonly Id: string }[] }) => {
    const ids = Targets.map(({ Id }) => Id);
    calls.push(`${name} ${ids.join()}`);
    await gate;
    for (const id of ids)
      if (name === "RegisterTargets") there.add(id);
      else there.delete(id);
    return {};
  };
  const targetHealth = async () => {
    calls.push("DescribeTargetHealth");
    return [...there].map((Id) => ({ Target: { Id, Port: 80 } }));
  };
  const inventory = { cloud: { call, loadBalancers: { targetHealth } }, targetGroups: { touch() {} } } as unknown as Inventory;
  const work = (...running: readonly string[]): TargetWork => ({
    owner: { key: "shop/web", noun: "Service" },
    inventory,
    ask,
    wanted: async () => targets(...running),
    onStep() {},
  });
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    return resolve;
  };
  const sets = new TargetSets();
  return { there, calls, work, hold, sets, set: sets.of(network, "web") };
}

test("those that come are registered, those that left deregistered, and nothing is read in between", async () => {
  const { set, sets, work, calls } = bed("i-1", "i-2");
  set.adopt({ seen: seenWith("i-1", "i-2"), began: sets.now() });
  await set.sync(work("i-2", "i-3"));
  await set.sync(work("i-2", "i-3"));
  assert.deepEqual(calls, ["RegisterTargets i-3", "DeregisterTargets i-1"]);
});

test("two changes of the same targets come one after the other, and the second knows of the first", async () => {
  const { set, sets, work, calls, hold, there } = bed("i-1");
  set.adopt({ seen: seenWith("i-1"), began: sets.now() });
  const release = hold();
  const both = Promise.all([set.sync(work("i-1", "i-2")), set.sync(work("i-2"))]);
  release();
  await both;
  assert.deepEqual(calls, ["RegisterTargets i-2", "DeregisterTargets i-1"]);
  assert.deepEqual([...there], ["i-2"]);
});

test("a look that began before a write does not count: the targets are read again", async () => {
  const { set, sets, work, calls } = bed("i-1");
  const began = sets.now();
  set.adopt({ seen: seenWith("i-1"), began });
  await set.sync(work("i-2"));
  // It has seen i-1, which is gone since, and not i-2.
  await set.sync({ ...work("i-2"), look: { seen: seenWith("i-1"), began } });
  assert.deepEqual(calls, ["RegisterTargets i-2", "DeregisterTargets i-1", "DescribeTargetHealth"]);
});

test("a look that ends while a write is under way does not count either", async () => {
  const { set, sets, work, calls, hold } = bed("i-1");
  set.adopt({ seen: seenWith("i-1"), began: sets.now() });
  const release = hold();
  const writing = set.sync(work("i-2"));
  await Promise.resolve();
  set.adopt({ seen: seenWith("i-1"), began: sets.now() });
  release();
  await writing;
  await set.sync(work("i-2"));
  assert.deepEqual(calls, ["RegisterTargets i-2", "DeregisterTargets i-1", "DescribeTargetHealth"]);
});

test("after a write that failed the targets are read before anything is planned", async () => {
  const { set, sets, work, calls, there } = bed("i-1");
  set.adopt({ seen: seenWith("i-1"), began: sets.now() });
  const failing = { ...work("i-2"), around: () => Promise.reject(new Error("lost")) };
  await assert.rejects(set.sync(failing), /lost/);
  there.add("i-2");
  await set.sync(work("i-2"));
  assert.deepEqual(calls, ["DescribeTargetHealth", "DeregisterTargets i-1"]);
});
