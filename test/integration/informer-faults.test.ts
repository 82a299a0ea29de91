import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { nodes } from "../../src/kube/builtin.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import type { Fault } from "../../src/sandbox/fault-proxy.ts";
import { bed, eventually, hurriedWorld, type TestNode, testHost } from "../bed/bed.ts";
import { followNodes } from "./following.ts";

test("after etcd has forgotten the version an informer stands at, it lists anew and reports what vanished", async (t) => {
  const { cluster } = await bed(t);
  const { apiserver } = cluster.real;
  const [changed, vanished] = (await cluster.nodes(2)) as [TestNode, TestNode];
  const following = await followNodes(t, cluster);
  const last = following.informer.get(vanished.name);
  const stoodAt = last!.metadata.resourceVersion;

  const other = await cluster.real.anotherApiserver();
  t.after(() => other.kill());
  const behind = await cluster.adminAt(other.url);
  await apiserver.kill();
  await behind.patch(nodes, changed, { merge: { metadata: { labels: { value: "new" } } } });
  await behind.delete(nodes, vanished);
  await cluster.real.compact();
  await apiserver.start();

  assert.match(await firstLineOfWatch(cluster.admin, stoodAt), /"code":410/);
  await following.agrees();
  assert.equal(await following.counted("fairlead_informer_relists_total"), 1);
  assert.equal(following.story(vanished).at(-1)!.what, "delete");
  assert.equal(following.story(vanished).at(-1)!.object, last);
});

test("after a watch that ended in the middle of a line nothing is missed and nothing is told twice", async (t) => {
  const { following, strikeAndChange, changed } = await behindProxy(t);
  await strikeAndChange({ kind: "half-line" });
  assert.equal(await following.counted("fairlead_informer_malformed_lines_total"), 1);
  assert.equal(await following.counted("fairlead_informer_relists_total"), 0, "it takes up where it stood");
  assert.deepEqual(
    following.story(changed).map(({ what }) => what),
    ["add", "update", "update"],
  );
});

test("after a watch that was reset it takes up where it stood", async (t) => {
  const { following, strikeAndChange } = await behindProxy(t);
  await strikeAndChange({ kind: "reset" });
  assert.equal(await following.counted("fairlead_informer_relists_total"), 0);
});

test("a connection that goes silent without closing is given up, and what happened meanwhile is seen", async (t) => {
  const { following, strikeAndChange, vanished } = await behindProxy(t, 60);
  await strikeAndChange({ kind: "stall" });
  assert.ok((await following.counted("fairlead_informer_stalls_total")) >= 1);
  assert.equal(following.story(vanished).at(-1)!.what, "delete");
});

test("a server that refuses with 429 and 503 for a while is left alone for a while, then followed again", async (t) => {
  const { proxy, following, strikeAndChange } = await behindProxy(t);
  proxy.strike({ watch: true, times: 1, fault: { kind: "answer", status: 429, retryAfterSeconds: 1 } });
  proxy.strike({ watch: true, times: 1, fault: { kind: "answer", status: 503 } });
  await strikeAndChange({ kind: "reset" });
  const watches = proxy.requests.filter(({ path }) => path.includes("watch=true"));
  assert.deepEqual(
    watches.map(({ status }) => status),
    [200, 429, 503, 200],
  );
  assert.equal(await following.counted("fairlead_informer_relists_total"), 0);
});

/** An informer that reaches the apiserver through the fault proxy. */
async function behindProxy(t: TestContext, hurry = 1) {
  const { cluster } = await bed(t);
  const [changed, vanished] = (await cluster.nodes(2)) as [TestNode, TestNode];
  const proxy = await cluster.faultProxy();
  const following = await followNodes(t, cluster, proxy.url, testHost(hurriedWorld(hurry)));
  await following.agrees();
  const label = (value: string) => cluster.admin.patch(nodes, changed, { merge: { metadata: { labels: { value } } } });
  return {
    proxy,
    following,
    changed,
    vanished,
    /** Strikes the open watch once, changes Nodes under it, and waits until the informer knows. */
    async strikeAndChange(fault: Fault): Promise<void> {
      const watchesBefore = proxy.requests.length;
      proxy.strike({ watch: true, times: 1, fault });
      await label("1");
      await label("2");
      await cluster.admin.delete(nodes, vanished);
      await eventually(() => assert.ok(proxy.requests.length > watchesBefore, "the watch is opened again"));
      await following.agrees();
    },
  };
}

/** What the server says to somebody who wants to watch from this version on. */
async function firstLineOfWatch(client: KubeClient, resourceVersion: string): Promise<string> {
  const stop = new AbortController();
  const { body } = await client.watch(nodes, { resourceVersion }, stop.signal);
  for await (const chunk of body) {
    stop.abort();
    return Buffer.from(chunk).toString("utf8");
  }
  return "";
}
