/** API servers that do not stream lists, each in its own way: an informer lists by pages and follows all the same. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { nodes } from "../../src/kube/builtin.ts";
import { obtainAssets } from "../../src/sandbox/cluster/assets/assets.ts";
import { etcd, isOlder, versionIn } from "../../src/sandbox/cluster/assets/programs.ts";
import { startCluster } from "../../src/sandbox/cluster/real/cluster.ts";
import { bed, TestCluster, testHost } from "../bed/bed.ts";
import { followNodes } from "./following.ts";

const streamedList = { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", resourceVersion: "", allowWatchBookmarks: "true" };

test("a server that answers 500 to every streamed list is listed by pages, and followed", async (t) => {
  const { cluster } = await bed(t);
  const proxy = await cluster.faultProxy();
  proxy.strike({ path: /sendInitialEvents=true/, fault: { kind: "answer", status: 500 } });
  await followed(t, cluster, proxy.url);
  const asked = proxy.requests.filter(({ path }) => path.startsWith("/api/v1/nodes")).map(({ status }) => status);
  assert.deepEqual(asked.slice(0, 3), [500, 200, 200], "streamed, by pages, watched");
});

/** Where Debian's package `etcd-server` puts it; 3.4.23 in Debian 12, which cannot tell how far a watch has come. */
const oldEtcd = "/usr/bin/etcd";

test("a real API server on an etcd too old for streamed lists is followed", async (t) => {
  const unfit = await unfitness();
  if (unfit !== undefined) return t.skip(unfit);
  const host = testHost();
  const assets = await obtainAssets({ world: host.world, say: (line) => process.stderr.write(`${line}\n`) });
  const real = await startCluster({ world: host.world, assets: { ...assets, etcd: oldEtcd }, etcdFlags: [] });
  t.after(() => real.stop());
  const cluster = await TestCluster.install(real, host);
  t.after(() => cluster.close());
  const { body } = await cluster.admin.watch(nodes, streamedList, AbortSignal.timeout(10_000));
  let said = "";
  for await (const chunk of body) said += Buffer.from(chunk).toString("utf8");
  assert.match(said, /"ERROR".*RequestWatchProgress.*"code":500/);
  await followed(t, cluster);
});

/** Follows Nodes through an addition, a change and a deletion. */
async function followed(t: TestContext, cluster: TestCluster, server?: URL): Promise<void> {
  const [changed, vanished] = await cluster.nodes(2);
  const following = await followNodes(t, cluster, server);
  await following.agrees();
  await cluster.nodes(1);
  await cluster.admin.patch(nodes, changed!, { merge: { metadata: { labels: { value: "new" } } } });
  await cluster.admin.delete(nodes, vanished!);
  await following.agrees();
  assert.equal(following.story(vanished!).at(-1)!.what, "delete");
}

/** Why this machine has no etcd to try it with. */
async function unfitness(): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(oldEtcd, ["--version"]);
    const version = versionIn(stdout) ?? "of unknown version";
    return isOlder(version, etcd.minimum) ? undefined : `${oldEtcd} is ${version}, which streams lists`;
  } catch {
    return `${oldEtcd} is not there; install Debian's package etcd-server to try this`;
  }
}
