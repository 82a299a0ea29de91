/** The process that `informer-memory.ts` measures: it follows Nodes and says what it holds. Loads no more than a product would. */
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { nodes } from "../src/kube/builtin.ts";
import { KubeClient } from "../src/kube/client.ts";
import { loadKubeConfig } from "../src/kube/config/load.ts";
import { type Informer, informer } from "../src/kube/informer.ts";
import type { Stored } from "../src/kube/resource.ts";
import type { Identified } from "../src/kube/store.ts";
import type { Node } from "../src/kube/types.ts";
import { openGate } from "../src/runtime/gate.ts";
import { silentLog } from "../src/runtime/log.ts";
import { newRegistry } from "../src/runtime/metrics.ts";
import { realWorld } from "../src/runtime/world.ts";

/** What is kept of a Node: all of it but managedFields, or what a controller reads. */
export type Keeping = "trimmed" | "projected";

/** In megabytes, but for the time. */
export interface Measurement {
  readonly before: number;
  readonly listed: number;
  readonly watched: number;
  readonly peak: number;
  readonly heap: number;
  readonly listMs: number;
}

const [kubeconfig = "", keep = "", count = ""] = process.argv.slice(2);
void follow(kubeconfig, keep as Keeping, Number(count));

/** Prints what it holds after the list, and again when its input ends. */
async function follow(kubeconfig: string, keep: Keeping, count: number): Promise<void> {
  const host = { world: realWorld(), log: silentLog, metrics: newRegistry() };
  const config = await loadKubeConfig(host.world, { kubeconfig });
  const client = new KubeClient({ host, config, gate: openGate(), userAgent: "bench" });
  await client.list(nodes, { limit: 1, fieldSelector: "metadata.name=none" });
  const before = await resident();
  const began = performance.now();
  const followed: Informer<Identified> =
    keep === "trimmed" ? informer({ client, of: nodes }) : informer({ client, of: nodes, project: view });
  let changes = 0;
  followed.subscribe((old) => {
    if (old) changes++;
  });
  const stop = new AbortController();
  const running = followed.run(stop.signal);
  await followed.synced;
  const listMs = performance.now() - began;
  console.log(JSON.stringify({ before, listMs, listed: await resident() }));

  await once(process.stdin.resume(), "end");
  while (changes < count) await pause(20);
  console.log(
    JSON.stringify({
      watched: await resident(),
      heap: process.memoryUsage().heapUsed / 1024 / 1024,
      peak: process.resourceUsage().maxRSS / 1024,
    }),
  );
  stop.abort();
  await running;
  await client.close();
}

/** What our controllers read of a Node. */
function view({ metadata, spec, status }: Stored<Node>) {
  const { name, uid, resourceVersion, labels, annotations, creationTimestamp, deletionTimestamp } = metadata;
  return {
    metadata: { name, uid, resourceVersion, labels, annotations, creationTimestamp, deletionTimestamp },
    spec: { providerID: spec?.providerID, taints: spec?.taints, unschedulable: spec?.unschedulable, podCIDRs: spec?.podCIDRs },
    status: {
      addresses: status?.addresses,
      conditions: status?.conditions?.filter(({ type }) => type === "Ready").map(({ type, status }) => ({ type, status })),
    },
  };
}

/** Megabytes of resident memory once garbage is gone. */
async function resident(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.();
    await pause(50);
  }
  return process.memoryUsage.rss() / 1024 / 1024;
}
