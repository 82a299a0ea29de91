/** The driver as kubelet and the sidecars meet it: a process of its own behind a socket. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { realWorld } from "../../src/runtime/world.ts";
import { createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { serveTransport } from "../../src/sandbox/serve.ts";
import { csiClient, statusOf } from "../bed/csi-client.ts";
import { eventually } from "../bed/eventually.ts";
import { mainFile } from "../bed/process.ts";
import { createRequest } from "../bed/volume-world.ts";

async function bed(t: TestContext, mode: string, ...flags: readonly string[]) {
  const aws = createCloud({ world: realWorld(), settings: { speed: 30 } });
  const [node] = launchNodes(aws, standardNetwork(aws, { clusterId: "test" }), 1, "m5.large");
  const [api, imds] = [await serve(aws), await serveTransport(aws.imds(node!.id))];
  const folder = mkdtempSync(join(tmpdir(), "fairlead-driver-"));
  const socket = join(folder, "csi.sock");
  // As a driver that was killed leaves it.
  writeFileSync(socket, "");
  const child = spawn(process.execPath, [mainFile, "ebs-csi-driver", mode, `--endpoint=unix://${socket}`, ...flags], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      AWS_REGION: aws.account.region,
      AWS_EC2_ENDPOINT: api.url,
      AWS_EC2_METADATA_SERVICE_ENDPOINT: imds.url,
      AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
      AWS_SECRET_ACCESS_KEY: "secret",
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (chunk) => {
    log += chunk;
  });
  t.after(async () => {
    child.kill("SIGKILL");
    await Promise.all([api.close(), imds.close()]);
    rmSync(folder, { recursive: true, force: true });
  });
  await eventually(async () => assert.match(log, /serves CSI/, log), 20_000);
  return { aws, node: node!, child: child as ChildProcess, call: csiClient(t, socket), log: () => log };
}

test("in mode all it offers every service, knows its node, and counts its calls", async (t) => {
  const { aws, node, child, call } = await bed(
    t,
    "all",
    "--http-endpoint=127.0.0.1:23301",
    "--k8s-tag-cluster-id=test",
    "--extra-tags=team={{ .PVCName }}",
  );
  const info = await call<{ name: string }>("Identity", "GetPluginInfo");
  assert.equal(info.name, "ebs.csi.aws.com");
  await call("Identity", "Probe");
  const about = await call<{ nodeId: string; maxVolumesPerNode: string; accessibleTopology: { segments: object } }>("Node", "NodeGetInfo");
  assert.equal(about.nodeId, node.id);
  assert.equal(about.maxVolumesPerNode, "26");
  const request = { ...createRequest("pvc-1", node.zone), parameters: { "csi.storage.k8s.io/pvc/name": "data" } };
  const { volume } = await call<{ volume: { volumeId: string } }>("Controller", "CreateVolume", request);
  assert.equal(aws.account.ec2.volumes.get(volume.volumeId)?.tags.team, "data");
  const refused = await call("Controller", "CreateVolume", { ...request, name: "" }).catch(statusOf);
  assert.partialDeepStrictEqual(refused, { code: 3, details: "Volume name not provided" });
  const missing = await call("Controller", "GetCapacity").catch(statusOf);
  assert.partialDeepStrictEqual(missing, { code: 12 });
  const page = await (await fetch("http://127.0.0.1:23301/metrics")).text();
  assert.match(page, /aws_ebs_csi_api_request_duration_seconds_count\{request="CreateVolume"\} 1/);
  assert.match(page, /aws_ebs_csi_api_request_duration_seconds_count\{request="ModifyVolume"\} 0/);
  child.kill("SIGTERM");
  assert.deepEqual(await once(child, "exit"), [0, null]);
});

test("in mode node it asks nothing of EC2", async (t) => {
  const { aws, call, node } = await bed(t, "node", "--reserved-volume-attachments=3");
  aws.controls.journal.resetCounts();
  await call("Identity", "Probe");
  const about = await call<{ nodeId: string; maxVolumesPerNode: string }>("Node", "NodeGetInfo");
  assert.deepEqual([about.nodeId, about.maxVolumesPerNode], [node.id, "24"]);
  const missing = await call("Controller", "CreateVolume", createRequest("x", "y")).catch(statusOf);
  assert.partialDeepStrictEqual(missing, { code: 12 });
  assert.deepEqual(aws.controls.journal.counts(), {});
});
