/**
 * The termination handler beside the reference's, on a real API server:
 *
 *     npm run bench interruptions notices [nodes] [pods] [program]    spot notices to all nodes at once: 60 with 10 pods each
 *     npm run bench interruptions memory [seconds]                    a process on every node: what it takes after so many seconds of idling
 *
 * Both run as in a pod, with a service account of their own. Needs root: its place is made for each alone.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseAllDocuments } from "yaml";
import { bun } from "../deploy/build/bun.ts";
import { bundle } from "../deploy/build/bundle.ts";
import { nodeInformer } from "../src/identity/node-view.ts";
import { type PodView, podView } from "../src/interruptions/pods.ts";
import { nodes, pods } from "../src/kube/builtin.ts";
import { informer } from "../src/kube/informer.ts";
import type { DaemonSet, Pod } from "../src/kube/types.ts";
import { realWorld } from "../src/runtime/world.ts";
import { type Cloud, createCloud } from "../src/sandbox/cloud/cloud.ts";
import { interruptSpot } from "../src/sandbox/cloud/ec2/interruptions.ts";
import type { Instance } from "../src/sandbox/cloud/ec2/state.ts";
import { rules } from "../src/sandbox/cloud/events/bus.ts";
import { launchNodes, standardNetwork } from "../src/sandbox/cloud/network.ts";
import { serve } from "../src/sandbox/cloud/serve.ts";
import { createQueue, getQueueAttributes } from "../src/sandbox/cloud/sqs/queues.ts";
import { obtainAssets } from "../src/sandbox/cluster/assets/assets.ts";
import { startCluster } from "../src/sandbox/cluster/real/cluster.ts";
import type { Supervised } from "../src/sandbox/cluster/real/supervision.ts";
import { serveTransport } from "../src/sandbox/serve.ts";
import { TestCluster } from "../test/bed/cluster.ts";
import { testHost } from "../test/bed/world.ts";
import { awsEnvironment, managed, startAsInPod, startReference } from "../test/referees/termination-handlers.ts";
import { nodeFlags } from "./bed/entrants.ts";
import { cpuSeconds, load, memoryOf } from "./bed/machine.ts";
import { inParallel } from "./bed/parallel.ts";

/** What is started in a cluster with these flags; `aws` is the address of the simulated AWS, or empty. */
type Start = (
  cluster: TestCluster,
  flags: readonly string[],
  aws: string,
  environment?: Readonly<Record<string, string>>,
) => Promise<Supervised>;

/** A spot instance has this long. */
const noticeMs = 120_000;
/** Pods end this long after they were asked to. */
const podEndMs = 1_000;

await main(process.argv.slice(2));

async function main([what = "notices", ...more]: readonly string[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-bench-"));
  try {
    await bundle(folder);
    if (what === "memory") await compareMemory(folder, Number(more[0] ?? 60));
    else await compareNotices(folder, Number(more[0] ?? 60), Number(more[1] ?? 10), more[2]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts the shipped bundle with a runtime: its own flags for Node, none for Bun. */
async function bundled(folder: string, command: string, runtimeFlags: readonly string[], words: readonly string[]): Promise<Start> {
  const program = join(folder, "fairlead.js");
  return (cluster, flags, aws, more = {}) =>
    startAsInPod(cluster, {
      name: "ours",
      user: "our-handler",
      command: [command, ...runtimeFlags, program, ...words, ...flags],
      environment: { ...awsEnvironment(aws), ...more },
    });
}

async function newCluster(): Promise<TestCluster> {
  const host = testHost();
  const assets = await obtainAssets({ world: host.world, say: console.error });
  return TestCluster.install(await startCluster({ world: host.world, assets }), host);
}

async function compareNotices(folder: string, count: number, podsEach: number, only: string | undefined): Promise<void> {
  const words = ["node-termination-handler"];
  const entrants: Readonly<Record<string, Start>> = {
    reference: (cluster, flags, aws) => startReference(cluster, "reference", flags, aws),
    fairlead: await bundled(folder, process.execPath, await nodeFlags(join(folder, "fairlead.js")), words),
  };
  console.log(`${count} nodes with ${podsEach} pods each get their spot notice at once; load of the machine ${load().toFixed(1)}`);
  for (const [name, start] of Object.entries(entrants)) {
    if ((only ?? name) === name) console.log(name, JSON.stringify(await notices(start, count, podsEach)));
  }
}

/** Everything from the notices to the last message, or twice the time that there is. */
async function notices(start: Start, count: number, podsEach: number) {
  const cluster = await newCluster();
  const cloud = createCloud({ world: realWorld() });
  const served = await serve(cloud);
  const over = new AbortController();
  try {
    const instances = launch(cloud, count);
    const { QueueUrl } = createQueue(cloud.account.sqs, { QueueName: "events" });
    const queueArn = `arn:aws:sqs:us-east-1:${cloud.account.id}:events`;
    const detailTypes = ["EC2 Spot Instance Interruption Warning"];
    rules(cloud.account).put("spot", { name: "spot", sources: ["aws.ec2"], detailTypes, queueArn });
    await fill(cluster, instances, podsEach);
    const seen = follow(cluster, over.signal);
    const flags = ["--node-name=handler", "--enable-sqs-termination-draining", `--queue-url=${QueueUrl}`, "--aws-region=us-east-1"];
    const child = await start(cluster, flags, served.url);
    while (cloud.account.sqs.arrivals.size === 0) await pause(50);
    await pause(2_000);
    const idle = await memoryOf(child.pid);
    cloud.controls.journal.resetCounts();
    const [told, cpuBefore] = [performance.now(), await cpuSeconds(child.pid)];
    for (const { id } of instances) interruptSpot(cloud.account.ec2, cloud.account.ec2.instances.get(id)!);
    const at: Record<string, number> = {};
    let inTime: { readonly cordoned: number; readonly drained: number } | undefined;
    let peak = idle;
    for (let ms = 0; ms < 2 * noticeMs; ms = performance.now() - told) {
      const [cordoned, drained] = [seen.cordoned(), count - seen.nodesWithPods()];
      if (cordoned === count) at.cordonedSeconds ??= seconds(ms);
      if (drained === count) at.drainedSeconds ??= seconds(ms);
      if (ms >= noticeMs) inTime ??= { cordoned, drained };
      await mustRun(cluster, child);
      const now = await memoryOf(child.pid);
      if (now.residentMb > peak.residentMb) peak = now;
      if (drained === count && messages(cloud, QueueUrl) === 0) {
        at.messagesGoneSeconds ??= seconds(ms);
        break;
      }
      await pause(100);
    }
    const inNotice = inTime ?? { cordoned: seen.cordoned(), drained: count - seen.nodesWithPods() };
    const calls = Object.fromEntries(Object.entries(cloud.controls.journal.counts()).map(([action, results]) => [action, sum(results)]));
    const cpu = (await cpuSeconds(child.pid)) - cpuBefore;
    child.signal("SIGKILL");
    await child.exit();
    return { within120s: inNotice, ...at, calls, kubernetes: await requests(cluster), cpuSeconds: cpu, idle, peak };
  } finally {
    over.abort();
    await served.close();
    await cluster.close();
    await cluster.real.stop();
  }
}

async function mustRun(cluster: TestCluster, { ended }: Supervised): Promise<void> {
  if (ended === undefined) return;
  const log = await readFile(join(cluster.real.folder, "ours.log"), "utf8").catch(() => "");
  throw new Error(`it ended (${ended.signal ?? ended.code}) while it was measured:\n${log.split("\n").slice(-12).join("\n")}`);
}

function launch(cloud: Cloud, count: number): readonly Instance[] {
  const { instances } = cloud.account.ec2;
  return launchNodes(cloud, standardNetwork(cloud, { clusterId: "bench" }), count).map(({ id }) =>
    instances.update(id, { state: "running", spot: true, tags: { ...instances.get(id)!.tags, ...managed } }),
  );
}

async function fill(cluster: TestCluster, instances: readonly Instance[], podsEach: number): Promise<void> {
  const { admin } = cluster;
  await inParallel(instances, ({ privateDnsName: name, zone, id }) =>
    admin.create(nodes, { metadata: { name, labels: { "kubernetes.io/hostname": name } }, spec: { providerID: `aws:///${zone}/${id}` } }),
  );
  const wanted = instances.flatMap(({ privateDnsName }) => Array.from({ length: podsEach }, (_, at) => ({ node: privateDnsName, at })));
  await inParallel(wanted, ({ node, at }) =>
    admin.create(pods, {
      metadata: { name: `${node.split(".")[0]}-${at}`, namespace: "default" },
      spec: {
        nodeName: node,
        terminationGracePeriodSeconds: 30,
        automountServiceAccountToken: false,
        containers: [{ name: "c", image: "i:1" }],
      },
    }),
  );
}

/** Follows Nodes and pods, and is the kubelet of all of them. */
function follow({ admin }: TestCluster, signal: AbortSignal) {
  const machines = nodeInformer.make(admin);
  const running = informer<Pod, PodView, never>({ client: admin, of: pods, project: podView, indexes: {} });
  const ending = new Set<string>();
  running.subscribe((_, pod) => {
    if (pod?.metadata.deletionTimestamp === undefined || ending.has(pod.metadata.uid)) return;
    const { uid, name, namespace } = pod.metadata;
    ending.add(uid);
    setTimeout(() => void admin.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 }).catch(() => {}), podEndMs);
  });
  void machines.run(signal);
  void running.run(signal);
  return {
    cordoned: () => machines.list().filter(({ unschedulable }) => unschedulable).length,
    nodesWithPods: () => new Set(running.list().map(({ node }) => node)).size,
  };
}

function messages(cloud: Cloud, QueueUrl: string): number {
  const { Attributes } = getQueueAttributes(cloud.account.sqs, { QueueUrl, AttributeNames: ["All"] });
  return Number(Attributes.ApproximateNumberOfMessages) + Number(Attributes.ApproximateNumberOfMessagesNotVisible);
}

/** Writes of the handlers by verb and resource, as the API server recorded them. */
async function requests(cluster: TestCluster): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const line of (await readFile(cluster.real.apiserver.auditLog, "utf8")).split("\n")) {
    if (!line.includes("-handler")) continue;
    const { verb, objectRef, user } = JSON.parse(line) as AuditLine;
    if (!user.username.endsWith("-handler") || objectRef?.resource === "leases") continue;
    const what = `${verb} ${objectRef?.resource ?? ""}${objectRef?.subresource ? `/${objectRef.subresource}` : ""}`;
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}

interface AuditLine {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource: string; readonly subresource?: string };
}

async function compareMemory(folder: string, idleSeconds: number): Promise<void> {
  const usual = await nodeFlags(join(folder, "fairlead.js"));
  const flags = await daemonSetFlags();
  const handler = ["node-termination-handler"];
  const config = join(folder, "node.yaml");
  await writeFile(config, "node-termination-handler: {}\n");
  const host = ["node", `--config=${config}`, "--secure-port=0"];
  const bunPath = await bun("amd64", console.error);
  const entrants: Readonly<Record<string, { readonly start: Start; readonly hosted?: boolean }>> = {
    reference: { start: (cluster, given, aws) => startReference(cluster, "reference", given, aws) },
    "fairlead, Node": { start: await bundled(folder, process.execPath, flags, handler) },
    "fairlead, Node with the flags of its first line": { start: await bundled(folder, process.execPath, usual, handler) },
    "fairlead, Node without its flags": { start: await bundled(folder, process.execPath, [], handler) },
    "fairlead, Bun": { start: await bundled(folder, bunPath, [], handler) },
    "fairlead, Bun with a small heap": { start: await bundled(folder, bunPath, ["--smol"], handler) },
    "fairlead node, Node": { start: await bundled(folder, process.execPath, flags, host), hosted: true },
  };
  console.log(`metadata mode after ${idleSeconds} s of idling; load of the machine ${load().toFixed(1)}`);
  const cluster = await newCluster();
  const cloud = createCloud({ world: realWorld() });
  try {
    const instances = launch(cloud, Object.keys(entrants).length);
    await fill(cluster, instances, 1);
    for (const [index, [name, { start, hosted = false }]] of Object.entries(entrants).entries()) {
      console.log(name, JSON.stringify(await idling(cluster, cloud, instances[index]!, start, hosted, idleSeconds)));
    }
  } finally {
    await cluster.close();
    await cluster.real.stop();
  }
}

/** What the shipped DaemonSet says to Node. */
async function daemonSetFlags(): Promise<readonly string[]> {
  const manifest = await readFile(new URL("../deploy/manifests/node-termination-handler.yaml", import.meta.url), "utf8");
  const daemonSet = parseAllDocuments(manifest)
    .map((document) => document.toJS() as DaemonSet)
    .find(({ kind }) => kind === "DaemonSet");
  return daemonSet?.spec?.template?.spec?.containers[0]?.command?.filter((word) => word.startsWith("--")) ?? [];
}

async function idling(cluster: TestCluster, cloud: Cloud, instance: Instance, start: Start, hosted: boolean, idleSeconds: number) {
  let asked = 0;
  const answer = cloud.imds(instance.id);
  const imds = await serveTransport((request) => {
    asked++;
    return answer(request);
  });
  const name = instance.privateDnsName;
  const flags = hosted ? [] : [`--node-name=${name}`, `--metadata-url=${imds.url}`];
  const place = { NODE_NAME: name, AWS_EC2_METADATA_DISABLED: "false", AWS_EC2_METADATA_SERVICE_ENDPOINT: imds.url };
  const child = await start(cluster, flags, "", hosted ? place : {});
  try {
    // It is up when it has polled a few times.
    while (asked < 20 && child.ended === undefined) await pause(500);
    await pause(idleSeconds * 1000);
    const cpu = await cpuSeconds(child.pid);
    if (child.ended !== undefined) return { ended: child.ended };
    return { ...(await memoryOf(child.pid)), cpuSeconds: cpu };
  } finally {
    child.signal("SIGKILL");
    await child.exit();
    await imds.close();
  }
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((all, one) => all + one, 0);
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
