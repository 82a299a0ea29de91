import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { eventual } from "../aws/testing/eventual.ts";
import { silentLog } from "../runtime/log.ts";
import { newRegistry } from "../runtime/metrics.ts";
import { RouteTable } from "../runtime/routes.ts";
import { createEmbeddedCluster } from "../sandbox/cluster/embedded/cluster.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import type { Now } from "./now.ts";
import { operate } from "./operate.ts";
import type { Program } from "./program.ts";

/** A process with one program, on virtual time, which asks AWS nothing. */
function processOf(t: TestContext, program: Program) {
  const world = virtualWorld(7, { hostname: "vm" });
  const cluster = createEmbeddedCluster({ world });
  t.after(() => cluster.close());
  const stop = new AbortController();
  const routes = new RouteTable();
  const ended = operate({
    version: "v0.0.0",
    host: { world, log: silentLog, metrics: newRegistry() },
    network: { aws: () => Promise.reject(new Error("AWS is not asked")), kube: () => ({ send: cluster.send, close: async () => {} }) },
    stop: stop.signal,
    kube: { component: "test", kubeconfig: "", master: "http://cluster", limit: undefined, ownAccounts: false },
    aws: { region: "eu-west-1", vpc: "vpc-1", clusterId: "prod", runsAnywhere: true, serviceOverrides: [] },
    leadership: { leases: [], home: { namespace: "kube-system", name: "test" }, dryRun: false },
    serve: async () => ({ serving: undefined, routes }),
    programs: [program],
    minResyncMs: 3_600_000,
  });
  return { world, stop, ended, routes };
}

test("a process that is asked to stop ends, also while a program has not come to serve what every replica does", async (t) => {
  const begun = Promise.withResolvers<void>();
  const program: Program = {
    component: "slow",
    controllers: [],
    migrated: [],
    startIntervalMs: 0,
    standby: ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        begun.resolve();
      }),
  };
  const { world, stop, ended } = processOf(t, program);
  await eventual(world, begun.promise);
  stop.abort(new Error("received SIGTERM"));
  await eventual(world, ended);
  assert.ok(stop.signal.aborted);
});

test("a process says what it is doing: who it is, what it did and why, what went wrong, and no secret", async (t) => {
  const begun = Promise.withResolvers<void>();
  const program: Program = {
    component: "busy",
    controllers: [],
    migrated: [],
    startIntervalMs: 0,
    async standby({ host }) {
      const log = host.log.with({ logger: "web" });
      log.info("nothing special");
      log.info("create listener 80", { why: "Service shop/web has the port", service: "shop/web" });
      log.warn("refused", { error: new Error("password=hunter2-hunter2") });
      begun.resolve();
      return { stop: async () => {} };
    },
  };
  const { world, stop, ended, routes } = processOf(t, program);
  await eventual(world, begun.promise);
  const route = routes.find("/debug/fairlead/now")!;
  const request = { method: "GET", path: route.path, query: new URLSearchParams(), body: "", user: undefined, signal: stop.signal };
  const answer = await route.answer(request);
  const said = JSON.parse(answer.body as string) as Now;
  assert.deepEqual([said.component, said.leads, said.controllers, said.calls], ["test", true, [], []]);
  assert.deepEqual(
    said.lines.map(({ level, message, fields }) => [level, message, fields.logger, fields.why]),
    [
      ["info", "create listener 80", "web", "Service shop/web has the port"],
      ["warn", "refused", "web", undefined],
    ],
  );
  assert.doesNotMatch(answer.body as string, /hunter2/);
  stop.abort(new Error("received SIGTERM"));
  await eventual(world, ended);
});
