/** What the dashboard follows of a cluster and its account while a page is open, and what it asks for when none is. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { remedies } from "../../src/commands/dashboard.ts";
import { liveFlags, openLive } from "../../src/commands/live.ts";
import type { Graph, GraphChange } from "../../src/dashboard/graph.ts";
import { type Moment, Watching } from "../../src/dashboard/watching.ts";
import { clusterTagFilter } from "../../src/identity/ownership.ts";
import { parseFlags } from "../../src/runtime/flags.ts";
import { type ServiceWorld, serviceWorld } from "../bed/service-world.ts";

async function bed(t: TestContext): Promise<{ readonly world: ServiceWorld; readonly watching: Watching }> {
  const world = await serviceWorld();
  const stop = new AbortController();
  t.after(async () => {
    stop.abort(new Error("the test ends"));
    await world.close();
  });
  const { values } = parseFlags(liveFlags, ["--master=http://cluster", "--cloud-config=/etc/cloud"]);
  const network = { aws: world.aws.handle, kube: () => ({ send: world.cluster.send, close: async () => {} }) };
  let live: Awaited<ReturnType<typeof openLive>> | undefined;
  void openLive(values, world.world, "fairlead dashboard", stop.signal, network).then((opened) => {
    live = opened;
  });
  await world.world.runUntil(() => live !== undefined, 60_000, "the cluster is open");
  const { kube, cloud, self, ask } = live!;
  const scope = { vpc: self.vpc!, ofCluster: clusterTagFilter(self.cluster), isOurs: () => true };
  const leases = { namespace: "kube-system", names: [] };
  const watching = new Watching({ world: world.world, kube, cloud, scope, ask, endpoints: () => [], leases, remedies });
  void watching.run(stop.signal).catch(() => {});
  return { world, watching };
}

/** A page: what it was told, and a way to close it. */
function look(watching: Watching) {
  const things = new Map<string, string>();
  let moment: Moment | undefined;
  const closing = new AbortController();
  void (async () => {
    for await (const { event, value } of watching.stream(closing.signal)) {
      if (event === "moment") moment = value as Moment;
      else for (const { id, kind } of (value as Graph | GraphChange).things) things.set(id, kind);
    }
  })();
  const count = (kind: string) => [...things.values()].filter((each) => each === kind).length;
  return { count, moment: () => moment, close: () => closing.abort(new Error("the page was closed")) };
}

test("nothing is asked of AWS while no page is open, and nothing any more when it is closed", async (t) => {
  const { world, watching } = await bed(t);
  const asked = () => structuredClone(world.aws.controls.journal.counts());
  const atFirst = asked();
  await world.world.advance(60_000);
  assert.deepEqual(asked(), atFirst);
  const page = look(watching);
  await world.world.runUntil(() => page.count("node") === 2 && page.count("instance") === 2, 30_000, "the map is there");
  page.close();
  await world.world.advance(1_000);
  const atLast = asked();
  assert.notDeepEqual(atLast, atFirst);
  await world.world.advance(60_000);
  assert.deepEqual(asked(), atLast);
});

test("one call that AWS does not allow is named, and the rest of the map stands", async (t) => {
  const { world, watching } = await bed(t);
  world.aws.controls.faults.add({
    action: "ec2:DescribeVolumes",
    effect: { kind: "fail", code: "UnauthorizedOperation", message: "You are not authorized to perform this operation.", status: 403 },
  });
  const page = look(watching);
  await world.world.runUntil(() => page.count("instance") === 2, 60_000, "the instances are there");
  await world.world.runUntil(() => (page.moment()?.problems.length ?? 0) > 0, 60_000, "the problem is named");
  assert.equal(page.moment()?.problems.length, 1);
  assert.match(page.moment()?.problems[0] ?? "", /^disks: .*DescribeVolumes/);
});

test("definitions that are not installed are not missed", async (t) => {
  const { world, watching } = await bed(t);
  const page = look(watching);
  await world.world.advance(30_000);
  assert.deepEqual(page.moment()?.troubles, []);
});
