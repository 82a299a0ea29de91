import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "./log.ts";
import { newRegistry } from "./metrics.ts";
import { parseListenAddress, servePlainly } from "./plain-serving.ts";
import { RouteTable, text } from "./routes.ts";
import { realWorld } from "./world.ts";

const host = { world: realWorld(), log: silentLog, metrics: newRegistry() };

test("addresses are read as Go does", () => {
  assert.deepEqual(parseListenAddress(":8080"), { host: "", port: 8080 });
  assert.deepEqual(parseListenAddress("127.0.0.1:0"), { host: "127.0.0.1", port: 0 });
  assert.deepEqual(parseListenAddress("[::1]:80"), { host: "::1", port: 80 });
  for (const bad of ["8080", "", ":x", ":70000", "a:b:1"]) assert.equal(parseListenAddress(bad), undefined, bad);
});

test("what is served is read by everybody, and nothing else is answered", async (t) => {
  const routes = new RouteTable();
  routes.add({ path: "/healthz", answer: () => text(200, "ok") });
  const serving = await servePlainly(host, { address: "127.0.0.1:0", flag: "--x", routes });
  t.after(() => serving.stop(AbortSignal.abort()));
  const ask = (path: string, method = "GET") => fetch(`http://127.0.0.1:${serving.port}${path}`, { method });
  assert.equal(await (await ask("/healthz?verbose")).text(), "ok");
  assert.deepEqual([(await ask("/nothing")).status, (await ask("/healthz", "POST")).status], [404, 405]);
  await assert.rejects(servePlainly(host, { address: `127.0.0.1:${serving.port}`, flag: "--x", routes }), /choose another --x/);
  await assert.rejects(servePlainly(host, { address: "8080", flag: "--x", routes }), /--x "8080" is not an address/);
});
