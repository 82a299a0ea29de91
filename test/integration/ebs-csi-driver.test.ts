/** The driver as kubelet and the sidecars meet it: a process of its own behind a socket. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { credentials, type GrpcObject, loadPackageDefinition, type ServiceClientConstructor } from "@grpc/grpc-js";
import { fromJSON } from "@grpc/proto-loader";
import { Clouds } from "../../src/aws/cloud.ts";
import { noSettings } from "../../src/aws/settings.ts";
import { nodePrograms } from "../../src/commands/host/node-programs.ts";
import type { StandbyContext } from "../../src/process/program.ts";
import { parseFlags } from "../../src/runtime/flags.ts";
import { openGate } from "../../src/runtime/gate.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { serveTransport } from "../../src/sandbox/serve.ts";
import { registrationDescriptor } from "../../src/volumes/csi/registration-descriptor.ts";
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

interface PluginInfo {
  readonly type: string;
  readonly name: string;
  readonly endpoint: string;
  readonly supportedVersions: readonly string[];
}

/** What kubelet does with a socket in its registry folder. */
function kubelet(t: TestContext, socket: string) {
  const { pluginregistration } = loadPackageDefinition(fromJSON(registrationDescriptor as object as Parameters<typeof fromJSON>[0], {}));
  const Registration = (pluginregistration as GrpcObject).Registration as ServiceClientConstructor;
  const client = new Registration(`unix:${socket}`, credentials.createInsecure()) as unknown as Record<
    string,
    (request: object, answer: (error: Error | null, value: never) => void) => void
  > & { close(): void };
  t.after(() => client.close());
  return <T>(method: string, request: object = {}) =>
    new Promise<T>((resolve, reject) => {
      client[method]!(request, (error, value) => (error ? reject(error) : resolve(value)));
    });
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

const registered = (endpoint: string): PluginInfo => ({
  type: "CSIPlugin",
  name: "ebs.csi.aws.com",
  endpoint,
  supportedVersions: ["1.0.0"],
});

test("in mode node it registers with kubelet and answers probes itself, where nobody else is to", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "fairlead-registry-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { child, log } = await bed(
    t,
    "node",
    "--kubelet-registration-path=/var/lib/kubelet/plugins/ebs.csi.aws.com/csi.sock",
    `--plugin-registration-path=${folder}`,
    "--http-endpoint=127.0.0.1:23302",
  );
  const socket = join(folder, "ebs.csi.aws.com-reg.sock");
  await eventually(() => assert.ok(existsSync(socket)));
  const ask = kubelet(t, socket);
  assert.deepEqual(await ask<PluginInfo>("GetInfo"), registered("/var/lib/kubelet/plugins/ebs.csi.aws.com/csi.sock"));
  await ask("NotifyRegistrationStatus", { pluginRegistered: true });
  await eventually(() => assert.match(log(), /kubelet has registered the driver/));
  assert.equal((await fetch("http://127.0.0.1:23302/healthz")).status, 200);
  child.kill("SIGTERM");
  assert.deepEqual(await once(child, "exit"), [0, null]);
  assert.equal(existsSync(socket), false, "kubelet forgets a driver whose socket is gone");
});

test("fairlead node hosts the node service: kubelet finds it, and it knows its node", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "fairlead-registry-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const aws = createCloud({ world: realWorld() });
  const [node] = launchNodes(aws, standardNetwork(aws, { clusterId: "test" }), 1, "m5.large");
  const imds = aws.imds(node!.id);
  const host = { world: { ...realWorld(), environment: {} }, log: silentLog, metrics: newRegistry() };
  const transport = (request: Parameters<typeof imds>[0]) =>
    request.url.hostname === "169.254.169.254" ? imds(request) : aws.handle(request);
  const clouds = new Clouds({ host, transport, gate: openGate(), settings: noSettings, version: "0.0.0-test" });
  const row = nodePrograms["ebs-csi-driver"]!;
  const socket = join(folder, "csi.sock");
  const argv = [`--endpoint=unix://${socket}`, `--kubelet-registration-path=${socket}`, `--plugin-registration-path=${folder}`];
  const { values } = parseFlags(row.flags, argv);
  assert.deepEqual(row.check(values), []);
  assert.throws(() => row.check(parseFlags(row.flags, argv.slice(0, 1)).values), /--kubelet-registration-path is needed/);
  const { program } = await row.configure(values, { host } as Parameters<typeof row.configure>[1]);
  const over = new AbortController();
  const served = await program.standby!({ host, kube: undefined as never, clouds, signal: over.signal } as unknown as StandbyContext);
  t.after(async () => {
    over.abort();
    await served.stop(AbortSignal.abort());
  });
  assert.deepEqual(await kubelet(t, join(folder, "ebs.csi.aws.com-reg.sock"))<PluginInfo>("GetInfo"), registered(socket));
  const about = await csiClient(t, socket)<{ nodeId: string }>("Node", "NodeGetInfo");
  assert.equal(about.nodeId, node!.id);
});
