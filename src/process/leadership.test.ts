import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { eventual } from "../aws/testing/eventual.ts";
import { KubeClient } from "../kube/client.ts";
import { loadKubeConfig } from "../kube/config/load.ts";
import { LeadershipLost } from "../runtime/election.ts";
import { defaultTimings } from "../runtime/election-timings.ts";
import { openGate } from "../runtime/gate.ts";
import type { Host } from "../runtime/host.ts";
import { silentLog } from "../runtime/log.ts";
import { newRegistry } from "../runtime/metrics.ts";
import { createEmbeddedCluster } from "../sandbox/cluster/embedded/cluster.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { Leadership, type LeadershipOptions } from "./leadership.ts";

const lease = (name: string) => ({ namespace: "kube-system", name, timings: defaultTimings });

/** A cluster, and processes that want leases in it. */
function bed(t: TestContext) {
  const world = virtualWorld(3, { hostname: "vm" });
  const cluster = createEmbeddedCluster({ world });
  t.after(() => cluster.close());
  const holder = (name: string) => {
    const found = cluster.objects("leases.coordination.k8s.io").find(({ metadata }) => metadata.name === name);
    return (found as { spec: { holderIdentity?: string } } | undefined)?.spec.holderIdentity || undefined;
  };
  const start = async (names: readonly string[], more: Partial<LeadershipOptions> = {}) => {
    const host: Host = { world, log: silentLog, metrics: newRegistry() };
    const config = await loadKubeConfig(world, { master: "http://cluster" });
    const connect = () => ({ send: cluster.send, close: async () => {} });
    const client = new KubeClient({ host, config, gate: openGate(), userAgent: "test", connect });
    const home = { namespace: "kube-system", name: names[0]! };
    const leadership = new Leadership(host, { client, leases: names.map(lease), home, dryRun: false, ...more });
    const said: string[] = [];
    const recorder = { record: (_: object, __: string, ___: string, message: string) => said.push(message.replace(/^\S+ /, "")) };
    const led = leadership.lead(recorder as never, leadership.held.lost);
    led.catch(() => {});
    return { leadership, led, said };
  };
  const release = (leadership: Leadership) => eventual(world, leadership.release(new AbortController().signal));
  return { world, cluster, holder, start, release };
}

test("with several leases nothing is written before all are held, and nothing after any one is lost", async (t) => {
  const { world, cluster, holder, start, release } = bed(t);
  const other = await start(["b"]);
  await eventual(world, other.led);
  const both = await start(["a", "b"]);
  await world.advance(30_000);
  assert.equal(holder("a"), both.leadership.identity);
  assert.throws(() => both.leadership.gate.check("patch a node"), { name: "WriteRefused" });
  assert.deepEqual(both.said, []);
  await release(other.leadership);
  await eventual(world, both.led, 5_000);
  both.leadership.gate.check("patch a node");
  assert.deepEqual(both.said, ["became leader"]);

  cluster.faults.add({ match: ({ url }) => url.pathname.endsWith("/leases/b"), effect: { kind: "reset" } });
  await world.runUntil(() => both.leadership.held.lost.aborted, 11_000);
  assert.ok(both.leadership.held.lost.reason instanceof LeadershipLost);
  assert.throws(() => both.leadership.gate.check("patch a node"), { name: "WriteRefused" });
  both.leadership.announceEnd();
  assert.deepEqual(both.said, ["became leader"]);
});

test("a lease that is lost while another is competed for ends the competition", async (t) => {
  const { world, cluster, holder, start, release } = bed(t);
  const other = await start(["b"]);
  await eventual(world, other.led);
  const both = await start(["a", "b"]);
  await world.runUntil(() => holder("a") === both.leadership.identity, 5_000);
  cluster.faults.add({ match: ({ url }) => url.pathname.endsWith("/leases/a"), effect: { kind: "reset" } });
  await assert.rejects(eventual(world, both.led, 11_000), LeadershipLost);
  await release(other.leadership);
  await world.advance(30_000);
  assert.equal(holder("b"), undefined, "it is not taken any more");
});

test("leases are all given up, those that were not reached yet are left alone, and one asked for twice is one", async (t) => {
  const { world, holder, start, release } = bed(t);
  const other = await start(["b"]);
  await eventual(world, other.led);
  const both = await start(["a", "b", "c"]);
  await world.runUntil(() => holder("a") === both.leadership.identity, 5_000);
  await release(both.leadership);
  assert.deepEqual([holder("a"), holder("b"), holder("c")], [undefined, other.leadership.identity, undefined]);
  assert.equal(both.leadership.held.lost.reason instanceof LeadershipLost, false);

  const twice = await start(["d", "d"]);
  await eventual(world, twice.led);
  await world.advance(60_000);
  twice.leadership.gate.check("patch a node");
  await release(twice.leadership);
  await world.advance(60_000);
  assert.equal(holder("d"), undefined);
});

test("in a dry run the leases are held and nothing passes but Events", async (t) => {
  const { world, holder, start } = bed(t);
  const { leadership, led, said } = await start(["a", "b"], { dryRun: true });
  await eventual(world, led);
  assert.deepEqual([holder("a"), holder("b")], [leadership.identity, leadership.identity]);
  leadership.held.check("create an event");
  assert.throws(() => leadership.gate.check("patch a node"), { name: "WriteRefused", reason: "dry-run" });
  assert.deepEqual(said, ["became leader"]);
});
