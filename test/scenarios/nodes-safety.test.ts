/** Rule 1 under every kind of trouble: no Node is deleted whose instance lives, and every one whose instance does not is, in the end. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type NodeWorld, nodeWorld } from "../bed/node-world.ts";

const minute = 60_000;

/** Makes trouble; returns the function that ends it. */
type Trouble = (world: NodeWorld) => () => void;

const fault =
  (effect: Parameters<NodeWorld["aws"]["controls"]["faults"]["add"]>[0]["effect"]): Trouble =>
  (world) => {
    const id = world.aws.controls.faults.add({ action: "ec2:DescribeInstances", effect });
    return () => world.aws.controls.faults.remove(id);
  };

/** Answers of another account: it knows none of ours, and has instances of its own. */
const emptyAccount: Trouble = (world) => {
  const { instances } = world.aws.account.ec2;
  const ours = instances.values();
  for (const { id } of ours) instances.delete(id);
  return () => {
    for (const instance of ours) instances.put(instance.id, instance);
  };
};

const troubles: Readonly<Record<string, Trouble>> = {
  throttling: fault({ kind: "throttle" }),
  "server errors": fault({ kind: "fail", code: "InternalError", status: 500 }),
  "access denied": (world) => world.aws.controls.deny("ec2:DescribeInstances"),
  "empty answers": (world) => world.answerEmpty(),
  "pages cut short": (world) => {
    world.aws.controls.change({ pageSize: 1 });
    return () => world.aws.controls.change({ pageSize: undefined });
  },
  "the wrong region or account": emptyAccount,
  "expired credentials": fault({ kind: "fail", code: "RequestExpired", status: 400 }),
  "connection resets": fault({ kind: "cut" }),
  "reads two minutes old": fault({ kind: "stale", ageMs: 2 * minute }),
};

for (const [name, trouble] of Object.entries(troubles)) {
  test(`twenty nodes that are not ready keep their Nodes through ${name}`, async (t) => {
    const world = await nodeWorld();
    t.after(() => world.close());
    for (const instance of world.launch(20)) await world.join(instance, { taints: [], ready: "Unknown" });
    world.start("--controllers=cloud-node-lifecycle,cloud-node", "--node-monitor-period=20s");
    await world.world.advance(minute);
    const end = trouble(world);
    for (let waited = 0; waited < 25; waited += 5) {
      const asked = world.requests("DescribeInstances");
      await world.world.advance(5 * minute);
      assert.ok(world.requests("DescribeInstances") > asked, "EC2 is asked about them all the while");
    }
    assert.equal(world.nodeNames().length, 20);
    end();
    await world.world.advance(6 * minute);
    assert.equal(world.nodeNames().length, 20);
    assert.ok(world.writes.every(({ method }) => method !== "DELETE"));
  });

  test(`twenty nodes whose instances are terminated are deleted once ${name} ends`, async (t) => {
    const world = await nodeWorld();
    t.after(() => world.close());
    const instances = world.launch(21);
    for (const instance of instances.slice(0, 20)) await world.join(instance, { taints: [], ready: "Unknown" });
    const end = trouble(world);
    world.start("--controllers=cloud-node-lifecycle", "--node-monitor-period=20s");
    await world.world.advance(minute);
    for (const { id } of instances.slice(0, 20)) if (world.instance(id)) world.setState(id, "terminated");
    await world.world.advance(10 * minute);
    end();
    for (const { id } of instances.slice(0, 20)) world.setState(id, "terminated");
    await world.until("all are deleted", () => world.nodeNames().length === 0, 5 * minute);
  });
}
