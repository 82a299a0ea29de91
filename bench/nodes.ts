/**
 * How fast and at what cost nodes are initialised: a real API server, the simulated EC2 at 40 ms a call, the controller
 * manager as it is shipped, at its default flags.
 *
 *     node bench/nodes.ts [count …]      of real size; default: 1000 small ones with provider IDs, 1000 by name, 5000 of real size
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Node } from "kubernetes-types/core/v1.d.ts";
import { nodeInformer } from "../src/identity/node-view.ts";
import { nodes } from "../src/kube/builtin.ts";
import { realWorld } from "../src/runtime/world.ts";
import { createCloud } from "../src/sandbox/cloud/cloud.ts";
import type { Instance } from "../src/sandbox/cloud/ec2/state.ts";
import { launchNodes, standardNetwork } from "../src/sandbox/cloud/network.ts";
import { serve } from "../src/sandbox/cloud/serve.ts";
import { obtainAssets } from "../src/sandbox/cluster/assets/assets.ts";
import { startCluster } from "../src/sandbox/cluster/real/cluster.ts";
import { TestCluster } from "../test/bed/cluster.ts";
import { startControllerManager } from "../test/bed/controller-manager.ts";
import { eventually } from "../test/bed/eventually.ts";
import { startProcess } from "../test/bed/process.ts";
import { testHost } from "../test/bed/world.ts";
import { uninitialized } from "../test/integration/node-account.ts";

interface Case {
  readonly count: number;
  readonly byName: boolean;
  /** Of each Node, in bytes, besides what it needs. */
  readonly padding: number;
}

const asked = process.argv.slice(2).map(Number);
const cases: readonly Case[] =
  asked.length > 0
    ? asked.map((count) => ({ count, byName: false, padding: 10_000 }))
    : [
        { count: 1000, byName: false, padding: 0 },
        { count: 1000, byName: true, padding: 0 },
        { count: 5000, byName: false, padding: 10_000 },
      ];

console.log(row(["nodes", "found by", "ready after", "nodes/s", "instances", "topology", "refresh", "CPU", "peak", "longest delay"]));
for (const each of cases) console.log(row(await measured(each)));

async function measured({ count, byName, padding }: Case): Promise<readonly string[]> {
  const world = realWorld();
  const host = testHost();
  const assets = await obtainAssets({ world, say: console.error });
  const cluster = await TestCluster.install(await startCluster({ world, assets }), host);
  const cloud = createCloud({ world, region: "us-west-2", settings: { latency: { minMs: 40, maxMs: 40 } } });
  const network = standardNetwork(cloud, { clusterId: "test" });
  const { url, close } = await serve(cloud);
  const over = new AbortController();
  try {
    const instances = launchNodes(cloud, network, count).map(({ id }) => cloud.account.ec2.instances.update(id, { state: "running" }));
    await inParallel(instances, (instance) => cluster.admin.create(nodes, nodeOn(instance, byName, padding)));
    const seen = nodeInformer.make(cluster.admin);
    void seen.run(over.signal);
    await seen.synced;
    const cloudConfig = join(cluster.real.folder, "bench.conf");
    const place = `[Global]\nRegion=us-west-2\nVPC=${network.vpcId}\nSubnetID=${network.privateSubnetIds[0]}\nKubernetesClusterID=test\n`;
    await world.files.write(cloudConfig, place, 0o600);
    const main = await bundledMain(cluster.real.folder);
    const { supervision, folder } = cluster.real;
    const manager = await startControllerManager(
      cluster,
      (args, options) => startProcess(supervision, folder, "bench", main, args, options),
      [`--cloud-config=${cloudConfig}`, "--leader-elect=false", "--node-status-update-frequency=30s", "--v=2"],
      { environment: { AWS_ENDPOINT_URL: url, NODE_OPTIONS: "--max-semi-space-size=2" } },
    );
    await manager.says(/Started \\"cloud-node-controller/, 30_000);
    const began = performance.now();
    const delays = longestDelay(manager.ask, (await cluster.account("scraper", { nonResourceURLs: ["/metrics"], verbs: ["get"] })).token);
    await eventually(() => {
      const waiting = seen.list().filter(({ taints }) => taints.some(({ key }) => key === uninitialized.key)).length;
      if (waiting > 0) throw new Error(`${waiting} nodes wait`);
    }, 300_000);
    const seconds = (performance.now() - began) / 1000;
    const calls = (action: string) => String(cloud.controls.journal.calls(`ec2:${action}`));
    const initialising = [calls("DescribeInstances"), calls("DescribeInstanceTopology")];
    const refreshes = async () => (await manager.logs()).split("\n").filter((line) => line.includes("addresses refreshed"));
    const full = async (after: number) => {
      const last = (await refreshes()).slice(after).at(-1);
      if (!last?.includes(`"nodes":${count}`)) throw new Error(`no refresh of all nodes yet: ${last}`);
    };
    await eventually(() => full(0), 120_000);
    cloud.controls.journal.resetCounts();
    const sofar = (await refreshes()).length;
    await eventually(() => full(sofar), 120_000);
    const refresh = calls("DescribeInstances");
    const cost = await costOf(manager.pid);
    manager.signal("SIGKILL");
    await manager.exit();
    return [
      String(count),
      byName ? "DNS name" : "provider ID",
      `${seconds.toFixed(1)} s`,
      (count / seconds).toFixed(0),
      ...initialising,
      refresh,
      `${cost.cpuSeconds.toFixed(1)} s`,
      `${cost.peakMb.toFixed(0)} MB`,
      `${(await delays.stop()).toFixed(0)} ms`,
    ];
  } finally {
    over.abort();
    await cluster.close();
    await cluster.real.stop();
    await close();
  }
}

function row(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(14)).join("");
}

function nodeOn(instance: Instance, byName: boolean, padding: number): Node {
  return {
    metadata: { name: instance.privateDnsName, annotations: padding > 0 ? { "example.com/padding": "x".repeat(padding) } : {} },
    spec: { taints: [uninitialized], ...(!byName && { providerID: `aws:///${instance.zone}/${instance.id}` }) },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  };
}

/** As it is shipped: reading TypeScript costs memory and time of its own. */
async function bundledMain(folder: string): Promise<string> {
  const outdir = join(folder, "bundle");
  const entryPoints = [fileURLToPath(new URL("../src/main.ts", import.meta.url))];
  const js = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';
  await build({
    entryPoints,
    outdir,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    outExtension: { ".js": ".mjs" },
    banner: { js },
    logLevel: "error",
  });
  return join(outdir, "main.mjs");
}

/** Asks the process every second how long its event loop was held up. */
function longestDelay(ask: (path: string, token: string) => Promise<{ text: string }>, token: string) {
  let longest = 0;
  let stopped = false;
  const asking = (async () => {
    // What it tells is about the last five seconds, and the start itself is not meant.
    await new Promise((resolve) => setTimeout(resolve, 5000));
    while (!stopped) {
      const text = await ask("/metrics", token).then(
        (answer) => answer.text,
        () => "",
      );
      longest = Math.max(longest, Number(/^fairlead_event_loop_longest_delay_seconds (\S+)$/m.exec(text)?.[1] ?? 0) * 1000);
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  })();
  return {
    async stop(): Promise<number> {
      stopped = true;
      await asking;
      return longest;
    },
  };
}

/** CPU time so far and the most memory it ever had, as the kernel counts them. */
async function costOf(pid: number): Promise<{ cpuSeconds: number; peakMb: number }> {
  const [stat, status] = await Promise.all([readFile(`/proc/${pid}/stat`, "utf8"), readFile(`/proc/${pid}/status`, "utf8")]);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { cpuSeconds: ticks / 100, peakMb: Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024 };
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: 24 }, async () => {
      while (next < items.length) await work(items[next++]!);
    }),
  );
}
