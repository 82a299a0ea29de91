import assert from "node:assert/strict";
import { test } from "node:test";
import { Clouds } from "../aws/cloud.ts";
import { type AwsSettings, noSettings } from "../aws/settings.ts";
import { eventual } from "../aws/testing/eventual.ts";
import { openGate } from "../runtime/gate.ts";
import type { Host } from "../runtime/host.ts";
import type { Transport } from "../runtime/http.ts";
import { silentLog } from "../runtime/log.ts";
import { newRegistry } from "../runtime/metrics.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { CloudOpening } from "./cloud-opening.ts";

function opening(given: Partial<AwsSettings>, transport: Transport, environment: Readonly<Record<string, string>> = {}) {
  const world = virtualWorld(1, { environment });
  const host: Host = { world, log: silentLog, metrics: newRegistry() };
  const settings = { ...noSettings, ...given };
  const clouds = new Clouds({ host, transport, gate: openGate(), settings, version: "v0" });
  return { world, opening: new CloudOpening(host, clouds, settings) };
}

const unreachable: Transport = () => Promise.reject(new Error("connect ECONNREFUSED"));

test("with region, VPC, subnet and cluster id configured, AWS is not asked anything", async () => {
  const remote = { region: "eu-west-1", vpc: "vpc-1", subnetId: "subnet-1", clusterId: "prod" };
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
  const { world, opening: cloud } = opening({ region: "eu-west-1" }, transport);
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
  const { world, opening: cloud } = opening({}, unreachable, { AWS_EC2_METADATA_DISABLED: "true" });
  await assert.rejects(eventual(world, cloud.open(new AbortController().signal)), {
    message: /cannot tell which AWS region to work in.*AWS_EC2_METADATA_DISABLED/,
  });
});
