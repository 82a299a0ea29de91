import assert from "node:assert/strict";
import { test } from "node:test";
import { counter, exponentialBuckets, exportBuildInfo, exportMachineMetrics, gauge, histogram, newRegistry } from "./metrics.ts";

test("asking twice for a metric gives the same one, and registries do not share", async () => {
  const one = newRegistry();
  const other = newRegistry();
  const of = { name: "fairlead_things_total", help: "Things.", labels: ["kind"] as const };
  counter(one, of).inc({ kind: "a" });
  counter(one, of).inc({ kind: "a" });
  counter(other, of).inc({ kind: "a" });
  assert.match(await one.metrics(), /fairlead_things_total\{kind="a"\} 2\n/);
  assert.match(await other.metrics(), /fairlead_things_total\{kind="a"\} 1\n/);
});

test("a gauge can be refreshed at each scrape", async () => {
  const registry = newRegistry();
  let value = 1;
  gauge(registry, { name: "fairlead_now", help: "Now.", collect: (series) => series.set(value) });
  assert.match(await registry.metrics(), /fairlead_now 1\n/);
  value = 2;
  assert.match(await registry.metrics(), /fairlead_now 2\n/);
});

test("exponential buckets print as round numbers", async () => {
  assert.deepEqual(exponentialBuckets(0.001, 2, 4), [0.001, 0.002, 0.004, 0.008]);
  assert.deepEqual(exponentialBuckets(1, 4, 6), [1, 4, 16, 64, 256, 1024]);
  const registry = newRegistry();
  histogram(registry, { name: "h", help: "h", buckets: exponentialBuckets(0.1, 10, 3) }).observe(5);
  assert.match(await registry.metrics(), /h_bucket\{le="0\.1"\} 0\n.*h_bucket\{le="1"\} 0\n.*h_bucket\{le="10"\} 1\n/s);
});

test("build info is exported under both names, and the process's own figures too", async () => {
  const registry = newRegistry();
  exportBuildInfo(registry, { version: "v1.37.0", commit: "abc", buildDate: "2026-01-01T00:00:00Z" });
  exportMachineMetrics(registry);
  const text = await registry.metrics();
  assert.match(text, /kubernetes_build_info\{major="1",minor="37",git_version="v1\.37\.0"/);
  assert.match(text, /fairlead_build_info\{version="v1\.37\.0",commit="abc",node_version="v\d+/);
  assert.match(text, /process_resident_memory_bytes \d+/);
  assert.match(text, /process_cpu_seconds_total /);
});
