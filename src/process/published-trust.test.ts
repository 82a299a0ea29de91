import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { eventual } from "../aws/testing/eventual.ts";
import { KubeClient } from "../kube/client.ts";
import { loadKubeConfig } from "../kube/config/load.ts";
import { parseFlags } from "../runtime/flags.ts";
import { openGate } from "../runtime/gate.ts";
import type { Host } from "../runtime/host.ts";
import type { Transport } from "../runtime/http.ts";
import { silentLog } from "../runtime/log.ts";
import { newRegistry } from "../runtime/metrics.ts";
import { createEmbeddedCluster } from "../sandbox/cluster/embedded/cluster.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { PublishedTrust } from "./published-trust.ts";
import { authenticationFlags, authorizationFlags, debuggingFlags, secureServingFlags } from "./secure-port-flags.ts";

const published = {
  "client-ca-file": "client CA",
  "requestheader-client-ca-file": "proxy CA",
  "requestheader-allowed-names": '["front-proxy"]',
  "requestheader-username-headers": '["X-Remote-User"]',
  "requestheader-group-headers": '["X-Remote-Group"]',
  "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
};

/** What RBAC answers those who may not read. */
const forbidden: Transport = async () => ({
  status: 403,
  headers: {},
  body: (async function* () {
    yield Buffer.from(JSON.stringify({ kind: "Status", status: "Failure", reason: "Forbidden", code: 403, message: "no" }));
  })(),
});

async function trustWith(t: TestContext, argv: readonly string[] = [], send?: Transport) {
  const world = virtualWorld(1, { files: { "/ca": "own client CA", "/proxy": "own proxy CA" } });
  const cluster = createEmbeddedCluster({ world });
  const stop = new AbortController();
  t.after(() => {
    stop.abort(new Error("over"));
    cluster.close();
  });
  const host: Host = { world, log: silentLog, metrics: newRegistry() };
  const connect = () => ({ send: send ?? cluster.send, close: async () => {} });
  const config = await loadKubeConfig(world, { master: "http://cluster" });
  const client = new KubeClient({ host, config, gate: openGate(), userAgent: "test", connect });
  const trust = new PublishedTrust(
    host,
    parseFlags({ ...debuggingFlags, ...secureServingFlags, ...authenticationFlags, ...authorizationFlags }, argv).values,
    client,
  );
  const publish = () =>
    cluster.send({
      method: "POST",
      url: new URL("http://cluster/api/v1/namespaces/kube-system/configmaps"),
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ metadata: { name: "extension-apiserver-authentication", namespace: "kube-system" }, data: published }),
    });
  return { world, cluster, trust, publish, follow: () => trust.follow(stop.signal) };
}

test("what the API server publishes is trusted", async (t) => {
  const { world, trust, publish, follow } = await trustWith(t);
  await publish();
  await eventual(world, follow());
  assert.equal(trust.clientAuthorities(), "client CA");
  assert.deepEqual(trust.requestHeader(), {
    authorities: "proxy CA",
    allowedNames: ["front-proxy"],
    usernameHeaders: ["X-Remote-User"],
    groupHeaders: ["X-Remote-Group"],
    extraHeaderPrefixes: ["X-Remote-Extra-"],
    uidHeaders: [],
  });
});

test("files that flags name pass what is published", async (t) => {
  const { world, trust, publish, follow } = await trustWith(t, ["--client-ca-file=/ca", "--requestheader-client-ca-file=/proxy"]);
  await publish();
  await trust.readFiles();
  await eventual(world, follow());
  assert.equal(trust.clientAuthorities(), "own client CA");
  assert.equal(trust.requestHeader()?.authorities, "own proxy CA");
  assert.deepEqual(trust.requestHeader()?.usernameHeaders, ["x-remote-user"]);
});

test("a file that cannot be read any more stays in use, and keeps neither the other file nor the ConfigMap from being rotated", async (t) => {
  const { world, trust, follow } = await trustWith(t, ["--client-ca-file=/ca", "--requestheader-client-ca-file=/proxy"]);
  await trust.readFiles();
  await eventual(world, follow());
  await world.files.write("/proxy", "rotated proxy CA", 0o600);
  const { read } = world.files;
  t.mock.method(world.files, "read", async (path: string) => {
    if (path === "/ca") throw new Error("permission denied");
    return read(path);
  });
  await world.advance(61_000);
  assert.equal(trust.clientAuthorities(), "own client CA");
  assert.equal(trust.requestHeader()?.authorities, "rotated proxy CA");

  const published = await trustWith(t, ["--requestheader-client-ca-file=/proxy"]);
  await published.trust.readFiles();
  await eventual(published.world, published.follow());
  t.mock.method(published.world.files, "read", () => Promise.reject(new Error("permission denied")));
  await published.publish();
  await published.world.advance(61_000);
  assert.equal(published.trust.clientAuthorities(), "client CA");
});

test("a missing ConfigMap is no error, and is seen when it comes", async (t) => {
  const { world, trust, publish, follow } = await trustWith(t);
  await eventual(world, follow());
  assert.equal(trust.clientAuthorities(), undefined);
  await publish();
  await world.advance(61_000);
  assert.equal(trust.clientAuthorities(), "client CA");
});

test("an API server that refuses ends the process with what to do, unless that is tolerated", async (t) => {
  const strict = await trustWith(t, [], forbidden);
  await assert.rejects(eventual(strict.world, strict.follow()), {
    name: "TrustUnreadable",
    message: /extension-apiserver-authentication-reader.*--authentication-tolerate-lookup-failure/,
  });
  const tolerant = await trustWith(t, ["--authentication-tolerate-lookup-failure"], forbidden);
  await eventual(tolerant.world, tolerant.follow());
});

test("an API server that cannot be reached is waited for", async (t) => {
  const { world, cluster, trust, publish, follow } = await trustWith(t);
  await publish();
  cluster.faults.add({ match: () => true, effect: { kind: "reset" } });
  const followed = follow();
  await world.advance(60_000);
  assert.equal(trust.clientAuthorities(), undefined);
  cluster.faults.clear();
  await eventual(world, followed);
  assert.equal(trust.clientAuthorities(), "client CA");
});

test("with the lookup switched off nobody is asked", async (t) => {
  const { world, trust, follow } = await trustWith(t, ["--authentication-skip-lookup"], forbidden);
  await eventual(world, follow());
  assert.equal(trust.clientAuthorities(), undefined);
});

test("a file that cannot be read is named with its flag", async (t) => {
  const { trust } = await trustWith(t, ["--client-ca-file=/nope"]);
  await assert.rejects(trust.readFiles(), { name: "TrustUnreadable", message: /^unable to load --client-ca-file: / });
});
