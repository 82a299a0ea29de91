import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../runtime/log.ts";
import { newRegistry } from "../../runtime/metrics.ts";
import { realWorld } from "../../runtime/world.ts";
import { freePort } from "../../sandbox/cluster/real/free-port.ts";
import { parseOptions } from "./options.ts";
import { serve } from "./serve.ts";

test("both ports answer metrics and probes; the probe says the same whatever is wrong, readiness says what", async (t) => {
  const [metrics, probes] = [await freePort(realWorld()), await freePort(realWorld())];
  const flags = [
    "--enable-prometheus-server",
    `--prometheus-server-port=${metrics}`,
    "--enable-probes-server",
    `--probes-server-port=${probes}`,
  ];
  const { options } = parseOptions(["--node-name=n", "--probes-server-endpoint=/alive", ...flags], {});
  let problem: string | undefined = "the queue is not there";
  const { close } = await serve(options, { world: realWorld(), log: silentLog, metrics: newRegistry() }, () => problem);
  t.after(close);
  const ask = async (port: number, path: string, method = "GET") => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    return { status: answer.status, type: answer.headers.get("content-type"), body: await answer.text() };
  };
  for (const port of [metrics, probes]) {
    for (const method of ["GET", "POST"]) {
      assert.deepEqual(await ask(port, "/alive", method), { status: 200, type: "application/json", body: '{"health":"OK"}' });
    }
    assert.equal((await ask(port, "/metrics")).status, 200);
    assert.equal((await ask(port, "/healthz")).status, 404);
  }
  const unready = await ask(probes, "/readyz");
  assert.deepEqual([unready.status, JSON.parse(unready.body)], [503, { problem }]);
  problem = undefined;
  assert.equal((await ask(probes, "/readyz")).status, 200);
});
