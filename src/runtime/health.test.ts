import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { watchEventLoop } from "./event-loop.ts";
import { HealthChecks } from "./health.ts";
import { silentLog } from "./log.ts";
import { newRegistry } from "./metrics.ts";

const host = () => ({ world: virtualWorld(1), log: silentLog, metrics: newRegistry() });
const plainly = { verbose: false, exclude: [] };
const verbosely = { verbose: true, exclude: [] };

test("with no check of its own a process answers for being there", () => {
  const health = new HealthChecks(host());
  assert.deepEqual(health.answer("healthz", plainly), { healthy: true, text: "ok" });
  assert.equal(health.answer("healthz", verbosely).text, "[+]ping ok\nhealthz check passed\n");
});

test("verbose lists every check, and a failing one says nothing of why to strangers", () => {
  const health = new HealthChecks(host());
  let problem: string | undefined;
  health.add({ name: "leaderElection", problem: () => undefined });
  health.add({ name: "cloud-node-controller", problem: () => problem });
  assert.equal(health.answer("healthz", verbosely).text, "[+]leaderElection ok\n[+]cloud-node-controller ok\nhealthz check passed\n");
  problem = "key secret/thing is stuck";
  const answer = health.answer("healthz", plainly);
  assert.equal(answer.healthy, false);
  assert.equal(answer.text, "[+]leaderElection ok\n[-]cloud-node-controller failed: reason withheld\nhealthz check failed\n");
});

test("an excluded check does not count, and one that does not exist is named", () => {
  const health = new HealthChecks(host());
  health.add({ name: "a", problem: () => "broken" });
  const answer = health.answer("livez", { verbose: true, exclude: ["a", "b"] });
  assert.equal(answer.healthy, true);
  assert.equal(answer.text, '[+]a excluded: ok\nwarn: some health checks cannot be excluded: no matches for "b"\nlivez check passed\n');
});

test("a check counts for its probes only", () => {
  const health = new HealthChecks(host());
  health.add({ name: "synced", probes: ["readyz"], problem: () => "waiting for nodes" });
  assert.equal(health.answer("healthz", plainly).healthy, true);
  assert.equal(health.answer("readyz", plainly).healthy, false);
});

test("a check that throws fails", () => {
  const health = new HealthChecks(host());
  health.add({
    name: "a",
    problem() {
      throw new Error("boom");
    },
  });
  assert.equal(health.answer("healthz", plainly).healthy, false);
});

test("a failing check is logged when it starts to fail and when it passes again, with the reason", () => {
  const lines: string[] = [];
  const log = {
    ...silentLog,
    warn: (m: string, f?: object) => lines.push(`${m} ${JSON.stringify(f)}`),
    info: (m: string) => lines.push(m),
  };
  const health = new HealthChecks({ ...host(), log });
  let problem: string | undefined = "stuck";
  health.add({ name: "a", problem: () => problem });
  health.answer("livez", plainly);
  health.answer("livez", plainly);
  problem = undefined;
  health.answer("livez", plainly);
  health.answer("livez", plainly);
  assert.deepEqual(lines, ['health check fails {"probe":"livez","check":"a","problem":"stuck"}', "health check passes again"]);
});

test("results are counted for the service level indicators", async () => {
  const health = new HealthChecks(host());
  health.add({ name: "a", problem: () => "x" });
  health.answer("healthz", plainly);
  const text = await health.slis.metrics();
  assert.match(text, /kubernetes_healthcheck\{name="a",type="healthz"\} 0\n/);
  assert.match(text, /kubernetes_healthchecks_total\{name="a",type="healthz",status="error"\} 1\n/);
});

test("the longest event-loop delay is exported and a long one is logged", async () => {
  const here = host();
  const warned: unknown[] = [];
  const delays = [3, 1_500, 2];
  const stop = new AbortController();
  watchEventLoop(
    { ...here, log: { ...silentLog, warn: (_message, fields) => warned.push(fields?.ms) } },
    { takeLongestMs: () => delays.shift() ?? 0 },
    { warnAboveMs: 1_000, signal: stop.signal },
  );
  await here.world.advance(10_000);
  assert.match(await here.metrics.metrics(), /fairlead_event_loop_longest_delay_seconds 1\.5\n/);
  assert.deepEqual(warned, [1_500]);
  stop.abort();
  await here.world.advance(60_000);
  assert.equal(delays.length, 1);
});
