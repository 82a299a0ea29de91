/** The embedded API gives the answers of a real one: every exchange, held with both, leaves the same transcript. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { kubernetesTypes, typesFile } from "../../deploy/build/kubernetes-types.ts";
import { socketTransport } from "../../src/runtime/http.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { obtainAssets } from "../../src/sandbox/cluster/assets/assets.ts";
import { createEmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import { type RealCluster, startCluster } from "../../src/sandbox/cluster/real/cluster.ts";
import { exchanges, hold } from "../bed/exchanges/index.ts";
import type { Partner } from "../bed/exchanges/talk.ts";

const world = realWorld();
const embedded = createEmbeddedCluster({ world, housekeeping: false });
const here: Partner = { send: embedded.send, server: new URL("http://embedded"), compact: async () => embedded.compact() };

let real: RealCluster;
let there: Partner;
let close: () => Promise<void>;

before(async () => {
  const assets = await obtainAssets({ world, say: (line) => process.stderr.write(`${line}\n`) });
  real = await startCluster({ world, assets });
  const transport = socketTransport({ tls: { ca: real.ca, ...real.admin }, connectTimeoutMs: 1000 });
  close = () => transport.close();
  there = { send: transport.send, server: real.apiserver.url, compact: () => real.compact() };
});

after(async () => {
  await close?.();
  await real?.stop();
});

for (const exchange of exchanges) {
  test(exchange.name, async () => {
    const [ours, theirs] = await Promise.all([hold(exchange, here), hold(exchange, there)]);
    assert.deepEqual(ours, theirs);
  });
}

test("the suite holds at least 80 exchanges, each under a name of its own", () => {
  assert.ok(exchanges.length >= 80, `only ${exchanges.length}`);
  assert.equal(new Set(exchanges.map(({ name }) => name)).size, exchanges.length);
});

test("the types of Kubernetes objects are those that the API server publishes", async (t) => {
  const committed = await readFile(typesFile, "utf8");
  const published = await kubernetesTypes(there.send, there.server);
  const version = /kube-apiserver v[\d.]+/;
  if (version.exec(committed)?.[0] !== version.exec(published)?.[0]) {
    return t.skip(`they were made from ${version.exec(committed)?.[0]}, this one is ${version.exec(published)?.[0]}`);
  }
  assert.equal(published, committed, "out of date: npm run types");
});
