import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "yaml";
import { newRegistry } from "../runtime/metrics.ts";
import { DiscoveryMetrics } from "./metrics.ts";

const file = (path: string) => new URL(`../../${path}`, import.meta.url);

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook_url: string };
}

test("every alert reads metrics that there are, with labels that they have, and has a runbook", () => {
  const { groups } = parse(readFileSync(file("deploy/chart/discovery-alerts.yaml"), "utf8")) as {
    groups: { name: string; rules: Rule[] }[];
  };
  assert.deepEqual(
    groups.map(({ name }) => name),
    ["cloud-data-discoverer.general"],
  );
  const registry = newRegistry();
  new DiscoveryMetrics(registry);
  for (const { alert, expr, annotations } of groups[0]!.rules) {
    const [, labels = "", metric = ""] = /^max by \(([^)]*)\) \((\w+) == 1\)$/.exec(expr) ?? [];
    const known = registry.getSingleMetric(metric) as unknown as { labelNames: readonly string[] } | undefined;
    assert.ok(known, `${alert}: ${metric}`);
    const foreign = labels.split(", ").filter((label) => !["job", "namespace", ...known.labelNames].includes(label));
    assert.deepEqual(foreign, [], alert);
    assert.ok(existsSync(file(annotations.runbook_url)), annotations.runbook_url);
  }
});
