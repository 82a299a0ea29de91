/**
 * What the controller of the driver takes at many claims: each is created, attached, detached and deleted over the driver's socket, with as
 * many calls at once as the sidecars of the chart make, against a simulated account with EC2's documented request limits in a process of its
 * own. Beside it the reference's driver, with an account of its own, at the same time: memory is measured, not speed.
 *
 *     node bench/volumes-memory.ts [claims] [machines]      5,000 claims on 600 machines take about 20 minutes, at little CPU
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { bundle } from "../deploy/build/bundle.ts";
import { Semaphore, type SemaphoreShare } from "../src/kube/semaphore.ts";
import { realWorld } from "../src/runtime/world.ts";
import { createCloud } from "../src/sandbox/cloud/cloud.ts";
import { launchNodes, standardNetwork } from "../src/sandbox/cloud/network.ts";
import { serve } from "../src/sandbox/cloud/serve.ts";
import { type Supervision, supervise } from "../src/sandbox/cluster/real/supervision.ts";
import { documentedBuckets, writes } from "../test/bed/claims-at-once.ts";
import { type CsiCall, csiClient } from "../test/bed/csi-client.ts";
import { createRequest, publishRequest } from "../test/bed/volume-world.ts";
import { referenceVolumeDriver } from "../test/referees/reference.ts";
import { nodeFlags } from "./bed/entrants.ts";
import { load, machineName, memory, memoryOf } from "./bed/machine.ts";

const claims = Number(process.argv[2] ?? 5000);
const machines = Number(process.argv[3] ?? 600);
/** The worker threads of a sidecar in the reference's chart. */
const pool = () => new Semaphore({ shared: 0, own: 100 }).share();
const never = new AbortController().signal;

interface Account {
  readonly url: string;
  readonly region: string;
  readonly zone: string;
  /** Machines of one zone. */
  readonly nodes: readonly string[];
}

if (process.argv[4] === "serve") await serveAccount();
else await measure();

async function serveAccount(): Promise<void> {
  const cloud = createCloud({ world: realWorld(), settings: { buckets: documentedBuckets } });
  const all = launchNodes(cloud, standardNetwork(cloud, { clusterId: "bench" }), machines, "m5.large");
  for (const { id } of all) cloud.account.ec2.instances.update(id, { state: "running" });
  const { zone } = all[0]!;
  const nodes = all.filter((each) => each.zone === zone).map(({ id }) => id);
  const { url } = await serve(cloud);
  process.on("message", () => process.send?.(cloud.controls.journal.counts()));
  process.send?.({ url, region: cloud.account.region, zone, nodes } satisfies Account);
}

async function measure(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-bench-"));
  const supervision = await supervise(folder);
  try {
    await bundle(folder);
    const program = join(folder, "fairlead.js");
    const drivers = {
      "the reference's driver": [await referenceVolumeDriver()],
      "fairlead ebs-csi-driver": [process.execPath, ...(await nodeFlags(program)), program, "ebs-csi-driver"],
    };
    console.log(`${claims} claims on ${machines} machines; ${machineName()}, load ${load().toFixed(1)}`);
    await Promise.all(Object.entries(drivers).map(([name, command]) => measureOne(name, command, folder, supervision)));
  } finally {
    await supervision.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureOne(
  name: string,
  [command = "", ...args]: readonly string[],
  folder: string,
  supervision: Supervision,
): Promise<void> {
  const account = fork(import.meta.filename, [String(claims), String(machines), "serve"]);
  const ends: (() => void)[] = [() => account.kill()];
  try {
    const [place] = (await once(account, "message")) as [Account];
    const key = name.replaceAll(/\W/g, "-");
    const [socket, log] = [join(folder, `${key}.sock`), join(folder, `${key}.log`)];
    const child = await supervision.start(command, [...args, "controller", `--endpoint=unix://${socket}`, "--batching=true", "--v=2"], {
      log,
      folder,
      environment: {
        PATH: process.env.PATH ?? "",
        HOME: folder,
        AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
        AWS_SECRET_ACCESS_KEY: "secret",
        AWS_REGION: place.region,
        AWS_EC2_ENDPOINT: place.url,
        AWS_EC2_METADATA_DISABLED: "true",
      },
    });
    const call = csiClient({ after: (end: () => void) => void ends.push(end) } as Parameters<typeof csiClient>[0], socket);
    while ((await call("Identity", "GetPluginInfo").catch(() => undefined)) === undefined) {
      if (child.ended !== undefined) throw new Error(`${name} has ended:\n${(await readFile(log, "utf8")).slice(-2_000)}`);
      await pause(500);
    }
    const idle = await memoryOf(child.pid);
    let peakOwnMb = idle.ownMb;
    const sample = async () => {
      peakOwnMb = Math.max(peakOwnMb, (await memoryOf(child.pid)).ownMb);
    };
    const samples = setInterval(sample, 1_000);
    ends.push(() => clearInterval(samples));
    const begun = performance.now();
    const failures = await liveAll(call, place);
    const seconds = Math.round((performance.now() - begun) / 1000);
    const end = await memoryOf(child.pid);
    const { peakMb } = await memory(child.pid);
    await pause(60_000);
    clearInterval(samples);
    account.send("counts");
    const [counts] = (await once(account, "message")) as [Record<string, Record<string, number>>];
    const ec2 = writes.map((action) => counts[`ec2:${action}`] ?? {});
    const throttled = ec2.reduce((sum, each) => sum + (each.RequestLimitExceeded ?? 0), 0);
    const calls = ec2.reduce((sum, each) => sum + Object.values(each).reduce((a, b) => a + b, 0), 0);
    const peak = { residentMb: Math.round(peakMb), ownMb: peakOwnMb };
    console.log(name, JSON.stringify({ seconds, idle, peak, end, minuteLater: await memoryOf(child.pid), calls, throttled, failures }));
    child.signal("SIGKILL");
    await child.exit();
  } finally {
    for (const end of ends) end();
  }
}

/** Every claim lives; returns how many calls were refused and made again. */
async function liveAll(call: CsiCall, { zone, nodes }: Account): Promise<number> {
  let failures = 0;
  // csi-provisioner makes and deletes with a pool of its own for each, csi-attacher has one.
  const pools = { create: pool(), attach: pool(), delete: pool() };
  const done = async <T>(workers: SemaphoreShare, method: string, request: object): Promise<T> => {
    for (let delayMs = 1_000; ; delayMs = Math.min(delayMs * 2, 300_000)) {
      await workers.enter(never);
      try {
        return await call<T>("Controller", method, request);
      } catch {
        failures++;
      } finally {
        workers.leave();
      }
      await pause(delayMs);
    }
  };
  await Promise.all(
    Array.from({ length: claims }, async (_, index) => {
      const nodeId = nodes[index % nodes.length]!;
      const made = await done<{ volume: { volumeId: string } }>(pools.create, "CreateVolume", createRequest(`pvc-${index}`, zone));
      const { volumeId } = made.volume;
      await done(pools.attach, "ControllerPublishVolume", publishRequest(volumeId, nodeId));
      await done(pools.attach, "ControllerUnpublishVolume", { volumeId, nodeId });
      await done(pools.delete, "DeleteVolume", { volumeId });
    }),
  );
  return failures;
}
