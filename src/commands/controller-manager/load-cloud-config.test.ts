import assert from "node:assert/strict";
import { test } from "node:test";
import type { Host } from "../../runtime/host.ts";
import { type Log, silentLog } from "../../runtime/log.ts";
import { newRegistry } from "../../runtime/metrics.ts";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import { loadCloudConfig } from "./load-cloud-config.ts";

function hostWith(files: Readonly<Record<string, string>> = {}) {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => warnings.push(message) };
  const world = virtualWorld(1, { files });
  const host: Host = { world, log, metrics: newRegistry() };
  return { host, warnings };
}

test("without --cloud-config everything is default", async () => {
  const { host } = hostWith();
  const config = await loadCloudConfig(host, { "cloud-config": "", "strict-cloud-config": true });
  assert.equal(config.aws.region, undefined);
});

test("a file that cannot be opened is named", async () => {
  const { host } = hostWith();
  await assert.rejects(loadCloudConfig(host, { "cloud-config": "/etc/nope", "strict-cloud-config": false }), {
    name: "CloudConfigInvalid",
    message: /^Couldn't open cloud provider configuration \/etc\/nope: /,
  });
});

test("unknown keys are warned about, and refused when strict", async () => {
  const { host, warnings } = hostWith({ "/etc/cloud": "[Global]\nRegoin = x\n" });
  await loadCloudConfig(host, { "cloud-config": "/etc/cloud", "strict-cloud-config": false });
  assert.deepEqual(warnings, ['cloud config /etc/cloud: 2:1: unknown key "Regoin" in section [Global] is ignored; did you mean Region?']);
  await assert.rejects(loadCloudConfig(host, { "cloud-config": "/etc/cloud", "strict-cloud-config": true }), {
    message: /--strict-cloud-config: 2:1: unknown key "Regoin"/,
  });
});
