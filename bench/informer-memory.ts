/**
 * What following many Nodes costs in memory: lists and watches Nodes of real size on a real apiserver and prints how much
 * the resident memory of the process that follows them has grown.
 *
 *     node bench/informer-memory.ts [count]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { nodes } from "../src/kube/builtin.ts";
import type { KubeClient } from "../src/kube/client.ts";
import type { Node } from "../src/kube/types.ts";
import { obtainAssets } from "../src/sandbox/cluster/assets/assets.ts";
import { startCluster } from "../src/sandbox/cluster/real/cluster.ts";
import { TestCluster } from "../test/bed/cluster.ts";
import { nodeNumber, nodeObject } from "../test/bed/nodes.ts";
import { testHost } from "../test/bed/world.ts";
import { groupLabels, kubeletStatus, placeLabels } from "./bed/nodes.ts";
import { inParallel } from "./bed/parallel.ts";
import type { Keeping, Measurement } from "./informer-memory-follower.ts";

const awsLabels = { ...groupLabels, ...placeLabels("us-west-2a") };

const cases: readonly { readonly keep: Keeping; readonly flags: readonly string[] }[] = [
  { keep: "projected", flags: [] },
  { keep: "projected", flags: ["--max-semi-space-size=2"] },
  { keep: "trimmed", flags: [] },
];

await compare(Number(process.argv[2] ?? 5000));

async function compare(count: number): Promise<void> {
  const host = testHost();
  const assets = await obtainAssets({ world: host.world, say: console.error });
  const cluster = await TestCluster.install(await startCluster({ world: host.world, assets }), host);
  try {
    const bytes = await fill(cluster.admin, count);
    console.log(`${count} Nodes, ${(bytes / 1024).toFixed(1)} KB of JSON each\n`);
    const kubeconfig = await (await cluster.fairlead()).kubeconfig();
    const follower = await bundledFollower(cluster.real.folder);
    console.log(row(["kept", "V8 flags", "before", "listed", "watched", "growth", "peak", "heap", "list takes"]));
    for (const { keep, flags } of cases) {
      const seen = await measured(cluster.admin, [...flags, follower, kubeconfig, keep, String(count)], count);
      const sizes = [seen.before, seen.listed, seen.watched, seen.watched - seen.before, seen.peak, seen.heap];
      console.log(row([keep, flags.join(" "), ...sizes.map((size) => `${size.toFixed(0)} MB`), `${seen.listMs.toFixed(0)} ms`]));
    }
  } finally {
    await cluster.close();
    await cluster.real.stop();
  }
}

/** As it would be shipped: reading TypeScript costs memory of its own, which would hide some of the growth. */
async function bundledFollower(folder: string): Promise<string> {
  const outfile = join(folder, "follower.cjs");
  const entryPoints = [fileURLToPath(new URL("./informer-memory-follower.ts", import.meta.url))];
  await build({ entryPoints, outfile, bundle: true, platform: "node", format: "cjs", logLevel: "error" });
  return outfile;
}

function row([kept = "", flags = "", ...numbers]: readonly string[]): string {
  return `${kept.padEnd(10)}${flags.padEnd(26)}${numbers.map((text) => text.padStart(12)).join("")}`;
}

/** Makes the Nodes and gives the mean size of one as the server sends it. */
async function fill(client: KubeClient, count: number): Promise<number> {
  await inParallel(numbers(count), (number) => client.create(nodes, realisticNode(number)));
  const { items } = await client.list(nodes, { limit: 100 });
  return items.reduce((sum, node) => sum + JSON.stringify(node).length, 0) / items.length;
}

/** A Node as a kubelet on EC2 reports it. */
function realisticNode(number: number): Node {
  const object = nodeObject(nodeNumber(number), { labels: awsLabels });
  return { ...object, status: kubeletStatus(number, object.status?.addresses ?? []) };
}

/** Follows in a process of its own, while every Node changes once, as heartbeats make them. */
async function measured(client: KubeClient, args: readonly string[], count: number): Promise<Measurement> {
  const follower = spawn(process.execPath, ["--expose-gc", ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = follower.stdout.setEncoding("utf8")[Symbol.asyncIterator]();
  const line = async () => JSON.parse((await lines.next()).value) as Partial<Measurement>;
  const listed = await line();
  await inParallel(numbers(count), (number) => {
    const heartbeat = { type: "Ready", status: "True", lastHeartbeatTime: new Date().toISOString() };
    const target = { name: nodeNumber(number).name, subresource: "status" };
    return client.patch(nodes, target, { strategic: { status: { conditions: [heartbeat] } } });
  });
  follower.stdin.end();
  const watched = await line();
  await once(follower, "exit");
  return { ...listed, ...watched } as Measurement;
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, number) => number);
}
