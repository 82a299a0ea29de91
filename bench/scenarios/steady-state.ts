/** A large cluster in which nothing happens but what always does. */
import { setTimeout as pause } from "node:timers/promises";
import { nodes } from "../../src/kube/builtin.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { Bed } from "../bed/bed.ts";
import type { Machine } from "../bed/cloud-process.ts";
import type { Entrant } from "../bed/entrants.ts";
import { inParallel } from "../bed/parallel.ts";
import { allInitialised } from "./node-initialisation.ts";
import { alone, quietMs, type Scenario, type Size, type Steps, usualCloud } from "./scenario.ts";

const [count, seconds] = [5000, 300];
/** Kubelets report after this time at the latest, changed or not. */
const reportSeconds = 300;

export const steadyState: Scenario = {
  name: "steady-state",
  title: "5,000 nodes for five minutes",
  about:
    "All Nodes are initialised, one in a hundred is not ready, kubelets report every five minutes, and addresses are " +
    "refreshed every minute (--node-status-update-frequency=1m, in both programs). Measured over five minutes.",
  entrants: ["reference", "fairlead"],
  onlyFull: true,
  run: stayAWhile,
};

async function stayAWhile(entrant: Entrant, size: Size): Promise<Steps> {
  await using bed = await Bed.make(entrant, usualCloud);
  const { admin } = bed.cluster;
  const machines = await bed.join(size.count(count), () => ({ kind: "registered", providerId: true }));
  await bed.fromStart([...alone, "--node-status-update-frequency=1m"], async (program) => {
    await allInitialised(program, admin);
    return bed.cloud.quiet(quietMs);
  });
  const silent = machines.filter((_, index) => index % 100 === 0);
  await inParallel(silent, (machine) => report(admin, machine, "Unknown"));
  const stay = await bed.step(
    async () => {},
    async () => {
      const over = performance.now() + size.seconds(seconds) * 1000;
      const reporting = machines.filter((_, index) => index % 100 !== 0);
      for (let next = 0; performance.now() < over; next++) {
        await Promise.all([report(admin, reporting[next % reporting.length]!, "True"), pause((reportSeconds * 1000) / count)]);
      }
      return performance.now();
    },
  );
  return { stay };
}

async function report(client: KubeClient, { name }: Machine, status: "True" | "Unknown"): Promise<void> {
  const conditions = [{ type: "Ready", status, lastHeartbeatTime: `${new Date().toISOString().slice(0, 19)}Z` }];
  await client.patch(nodes, { name, subresource: "status" }, { strategic: { status: { conditions } } });
}
