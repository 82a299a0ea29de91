import assert from "node:assert/strict";
import { test } from "node:test";
import { eventual } from "../aws/testing/eventual.ts";
import { silentLog } from "../runtime/log.ts";
import { newRegistry } from "../runtime/metrics.ts";
import { createEmbeddedCluster } from "../sandbox/cluster/embedded/cluster.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { operate } from "./operate.ts";
import type { Program } from "./program.ts";

test("a process that is asked to stop ends, also while a program has not come to serve what every replica does", async (t) => {
  const world = virtualWorld(7, { hostname: "vm" });
  const cluster = createEmbeddedCluster({ world });
  t.after(() => cluster.close());
  const stop = new AbortController();
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
  const ended = operate({
    version: "v0.0.0",
    host: { world, log: silentLog, metrics: newRegistry() },
    network: { aws: () => Promise.reject(new Error("AWS is not asked")), kube: () => ({ send: cluster.send, close: async () => {} }) },
    stop: stop.signal,
    kube: { component: "test", kubeconfig: "", master: "http://cluster", limit: undefined, ownAccounts: false },
    aws: { region: "eu-west-1", vpc: "vpc-1", clusterId: "prod", runsAnywhere: true, serviceOverrides: [] },
    leadership: { leases: [], home: { namespace: "kube-system", name: "test" }, dryRun: false },
    serve: async () => ({ serving: undefined }),
    programs: [program],
    minResyncMs: 3_600_000,
  });
  await eventual(world, begun.promise);
  stop.abort(new Error("received SIGTERM"));
  await eventual(world, ended);
  assert.ok(stop.signal.aborted);
});
