/** A Service is looked at by two queues, for its load balancer and for its targets: neither undoes what the other has found out. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { networkOf, nodeRules, rulesOf } from "../bed/balancers.ts";
import { type ServiceWorld, serviceWorld } from "../bed/service-world.ts";

const nlb = { type: "nlb" };
const ranges = (range: string) => ({ ports: [{ port: 80, nodePort: 31080 }], loadBalancerSourceRanges: [range] });

/** A Service behind which there are two nodes, and a security group for others that has not been listed yet. */
async function bed(t: TestContext): Promise<{ readonly world: ServiceWorld; readonly fresh: string }> {
  const world = await serviceWorld();
  t.after(() => world.close());
  world.start();
  await world.create("web", { annotations: nlb, spec: ranges("192.168.0.0/16") });
  await world.published("web");
  const { securityGroups } = world.aws.account.ec2;
  const fresh = { ...securityGroups.get(world.network.nodeGroupId)!, id: "sg-0aaaaaaaaaaaaaaaa", name: "fresh" };
  securityGroups.put(fresh.id, fresh);
  return { world, fresh: fresh.id };
}

/** A node joins whose group is not known: it is a target at once, and the list that its group is in takes this long. */
async function joinSlowly(world: ServiceWorld, nodeGroupId: string, ms: number): Promise<void> {
  await world.world.advance(60_000);
  world.aws.controls.faults.add({ action: "ec2:DescribeSecurityGroups", effect: { kind: "delay", ms }, calls: [1] });
  await world.join(1, {}, { ...world.network, nodeGroupId });
  await world.until("registered", () => networkOf(world, "web")?.groups[0]?.targets.length === 3);
  await world.world.advance(4_500);
}

test("nothing is let in for a Service that has gone while one of its nodes joined", async (t) => {
  const { world, fresh } = await bed(t);
  await joinSlowly(world, fresh, 28_000);
  await world.delete("web");
  await world.gone("web", 22_000);
  await world.world.advance(10 * 60_000);
  assert.deepEqual([rulesOf(world, fresh), nodeRules(world)], [[], []]);
});

test("a node that joins while its Service is edited does not bring back what was asked for before", async (t) => {
  const { world, fresh } = await bed(t);
  await world.create("other", { annotations: nlb });
  await world.published("other");
  await joinSlowly(world, fresh, 28_000);
  // Whose removal has the groups listed again, so that the edit need not wait for the slow list.
  await world.delete("other");
  await world.world.advance(2_000);
  world.cluster.faults.add({
    match: ({ method, url }) => method === "PATCH" && url.pathname.endsWith("/web/status"),
    effect: { kind: "delay", ms: 25_000 },
    times: 1,
  });
  await world.edit("web", { "no-such-thing": "1" }, ranges("172.16.0.0/12"));
  await world.world.advance(10 * 60_000);
  assert.ok(!nodeRules(world).some((text) => text.includes("192.168.")), nodeRules(world).join("\n"));
  assert.deepEqual(rulesOf(world, fresh), nodeRules(world));
});

test("a node of another group that joins while a listener is made lets clients in when it is made", async (t) => {
  const { world, fresh } = await bed(t);
  world.aws.controls.faults.add({ action: "elasticloadbalancing:CreateListener", effect: { kind: "delay", ms: 25_000 }, times: 1 });
  const [first] = ranges("").ports;
  await world.edit(
    "web",
    {},
    {
      ports: [
        { ...first, name: "a" },
        { port: 81, nodePort: 31081, name: "b" },
      ],
    },
  );
  await world.world.advance(5_000);
  await world.join(1, {}, { ...world.network, nodeGroupId: fresh });
  await world.world.advance(60_000);
  assert.equal(networkOf(world, "web")?.groups[1]?.targets.length, 3);
  assert.deepEqual(rulesOf(world, fresh), nodeRules(world));
});
