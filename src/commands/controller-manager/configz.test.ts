import assert from "node:assert/strict";
import { test } from "node:test";
import { configz } from "./configz.ts";
import { parseOptions } from "./flags.ts";

type Shown = Record<string, Record<string, unknown>>;

const shown = (...argv: string[]) =>
  (configz(parseOptions(argv).values) as Record<string, Shown>)["cloudcontrollermanager.config.k8s.io"] ?? assert.fail("no configuration");

test("effective values are shown: aliases resolved, durations as text, null where Fairlead decides", () => {
  const config = shown("--controllers=service,-route", "--concurrent-service-syncs=3", "--node-monitor-period=90s");
  assert.deepEqual(config.Generic?.Controllers, ["service-lb-controller", "-node-route-controller"]);
  assert.deepEqual(config.NodeLifecycleController, { NodeMonitorPeriod: "1m30s", ConcurrentNodeLifecycleSyncs: null });
  assert.deepEqual(config.ServiceController, { ConcurrentServiceSyncs: 3 });
  assert.equal(config.NodeStatusUpdateFrequency, "5m0s");
});

test("a dry run shows the Lease it really holds", () => {
  const name = (...argv: string[]) => (shown(...argv).Generic?.LeaderElection as Record<string, unknown> | undefined)?.resourceName;
  assert.equal(name(), "cloud-controller-manager");
  assert.equal(name("--dry-run", "--leader-elect-resource-name=x"), "x-dry-run");
});
