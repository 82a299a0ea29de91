import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { nodes } from "../../src/kube/builtin.ts";
import { bed, eventually, hurriedWorld, type TestCluster, type TestNode, testHost } from "../bed/bed.ts";
import { nodeObject } from "../bed/nodes.ts";
import { type Following, followNodes } from "./following.ts";

test("an informer whose apiserver is killed and started again ends where the server is, and tells how it got there", async (t) => {
  const { cluster } = await bed(t);
  await surviveRestart(t, cluster, () => followNodes(t, cluster));
});

test("the same against a server that refuses streaming lists", async (t) => {
  const { cluster } = await bed(t);
  const { apiserver } = cluster.real;
  const refusing = ["--feature-gates=WatchList=false"];
  t.after(async () => {
    await apiserver.kill();
    await apiserver.start();
  });
  await apiserver.kill();
  await apiserver.start(refusing);
  const proxy = await cluster.faultProxy();
  await surviveRestart(t, cluster, () => followNodes(t, cluster, proxy.url), refusing);
  const refused = proxy.requests.filter(({ path }) => path.includes("sendInitialEvents"));
  assert.ok(refused.length > 0 && refused.every(({ status }) => status !== 200), "streaming was asked for and refused");
  assert.ok(
    proxy.requests.some(({ path }) => /nodes\?.*limit=/.test(path)),
    "so the list came by pages",
  );
});

test("ten restarts in a row leak no connection and no timer", async (t) => {
  const { cluster } = await bed(t);
  const { apiserver } = cluster.real;
  await cluster.nodes(1);
  // With the usual back-off this would take a minute.
  const following = await followNodes(t, cluster, undefined, testHost(hurriedWorld(20)));
  await following.agrees();
  const before = held();
  for (let round = 1; round <= 10; round++) {
    await apiserver.kill();
    await apiserver.start();
    await cluster.nodes(1);
    await following.agrees();
  }
  await eventually(() => {
    for (const [kind, count] of held())
      assert.ok(count <= (before.get(kind) ?? 0), `${kind}: ${count}, before the restarts ${before.get(kind) ?? 0}`);
  });
});

/** Kept, changed, deleted, replaced under the same name, added: all behind the back of a killed apiserver. */
async function surviveRestart(
  t: TestContext,
  cluster: TestCluster,
  follow: () => Promise<Following>,
  flags: readonly string[] = [],
): Promise<void> {
  const { apiserver } = cluster.real;
  const [kept, changed, vanished, replaced, busy] = (await cluster.nodes(5)) as [TestNode, TestNode, TestNode, TestNode, TestNode];
  const following = await follow();
  const known = (node: TestNode) => following.informer.get(node.name)!;
  const [lastOfVanished, firstOfReplaced] = [known(vanished), known(replaced)];

  const other = await cluster.real.anotherApiserver();
  t.after(() => other.kill());
  const behind = await cluster.adminAt(other.url);
  const label = (node: TestNode, value: string) => behind.patch(nodes, node, { merge: { metadata: { labels: { value } } } });
  const writing = writeWithoutPause((value) => label(busy, value));

  await eventually(() => assert.ok(following.story(busy).length > 3), 5_000);
  await apiserver.kill();
  await label(changed, "1");
  await label(changed, "2");
  await behind.delete(nodes, vanished);
  await behind.delete(nodes, replaced);
  await behind.create(nodes, nodeObject(replaced));
  const [added] = [{ ...kept, name: `${kept.name}-added` }];
  await behind.create(nodes, nodeObject(added));
  await apiserver.start(flags);
  await writing.stop();

  await following.agrees();
  const told = (node: TestNode) => following.story(node).map(({ what }) => what);
  assert.deepEqual(told(kept), ["add"]);
  assert.deepEqual(told(added), ["add"]);
  assert.equal(told(changed)[0], "add");
  assert.ok(
    told(changed).length >= 2 &&
      told(changed)
        .slice(1)
        .every((what) => what === "update"),
  );
  assert.equal(known(changed).metadata.labels?.value, "2");
  assert.deepEqual(told(vanished), ["add", "delete"]);
  assert.equal(following.story(vanished).at(-1)!.object, lastOfVanished);
  assert.deepEqual(
    following.story(replaced).map(({ what, uid }) => ({ what, uid })),
    [
      { what: "add", uid: firstOfReplaced.metadata.uid },
      { what: "delete", uid: firstOfReplaced.metadata.uid },
      { what: "add", uid: known(replaced).metadata.uid },
    ],
  );
  assert.notEqual(known(replaced).metadata.uid, firstOfReplaced.metadata.uid);
  await other.kill();
}

/** Writes again and again, so that the apiserver dies in the middle of a stream. */
function writeWithoutPause(write: (value: string) => Promise<unknown>): { stop(): Promise<void> } {
  let going = true;
  const done = (async () => {
    for (let count = 0; going; count++) await write(String(count));
  })();
  return {
    async stop() {
      going = false;
      await done;
    },
  };
}

/** The connections and timers that this process holds, by kind. */
function held(): ReadonlyMap<string, number> {
  const kinds = process.getActiveResourcesInfo().filter((kind) => /Timeout|TCP|TLS|Socket/.test(kind));
  return new Map([...new Set(kinds)].map((kind) => [kind, kinds.filter((other) => other === kind).length]));
}
