import assert from "node:assert/strict";
import { test } from "node:test";
import { Clouds } from "../../aws/cloud.ts";
import { eventual } from "../../aws/testing/eventual.ts";
import { openGate } from "../../runtime/gate.ts";
import type { Host } from "../../runtime/host.ts";
import type { Transport } from "../../runtime/http.ts";
import { type Log, silentLog } from "../../runtime/log.ts";
import { newRegistry } from "../../runtime/metrics.ts";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import { CloudOpening, loadCloudConfig } from "./cloud.ts";
import { readCloudConfig } from "./cloud-config.ts";

function hostWith(files: Readonly<Record<string, string>> = {}, environment: Readonly<Record<string, string>> = {}) {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => warnings.push(message) };
  const world = virtualWorld(1, { files, environment });
  const host: Host = { world, log, metrics: newRegistry() };
  return { host, world, warnings };
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

function opening(file: string, transport: Transport, environment: Readonly<Record<string, string>> = {}) {
  const { host, world } = hostWith({}, environment);
  const settings = readCloudConfig(Buffer.from(file)).config.aws;
  const clouds = new Clouds({ host, transport, gate: openGate(), settings, version: "v0" });
  return { world, opening: new CloudOpening(host, clouds, settings) };
}

const unreachable: Transport = () => Promise.reject(new Error("connect ECONNREFUSED"));

test("with region, VPC, subnet and cluster id configured, AWS is not asked anything", async () => {
  const remote = "[Global]\nRegion=eu-west-1\nVPC=vpc-1\nSubnetID=subnet-1\nKubernetesClusterID=prod\n";
  const { world, opening: cloud } = opening(remote, unreachable);
  const { cloud: home, self } = await eventual(world, cloud.open(new AbortController().signal));
  assert.equal(home.region, "eu-west-1");
  assert.deepEqual(self.cluster, { id: "prod", legacy: false });
  assert.equal(cloud.check.problem(), undefined);
});

test("while the metadata service cannot be reached the process is not ready and keeps trying", async () => {
  let asked = 0;
  const transport: Transport = (request) => {
    asked++;
    return unreachable(request);
  };
  const { world, opening: cloud } = opening("[Global]\nRegion=eu-west-1\n", transport);
  const stop = new AbortController();
  const opened = cloud.open(stop.signal);
  opened.catch(() => {});
  await world.advance(60_000);
  assert.match(cloud.check.problem() ?? "", /error fetching instance-id from ec2 metadata service/);
  const before = asked;
  await world.advance(60_000);
  assert.ok(asked > before);
  stop.abort(new Error("stopped"));
  await assert.rejects(eventual(world, opened), { message: "stopped" });
});

test("a metadata service that is switched off but needed is no use waiting for", async () => {
  const { world, opening: cloud } = opening("", unreachable, { AWS_EC2_METADATA_DISABLED: "true" });
  await assert.rejects(eventual(world, cloud.open(new AbortController().signal)), {
    message: /cannot tell which AWS region to work in.*AWS_EC2_METADATA_DISABLED/,
  });
});
