/** A pod network of VPC routes. */
import { nodes } from "../../src/kube/builtin.ts";
import { Bed } from "../bed/bed.ts";
import type { Entrant } from "../bed/entrants.ts";
import { until } from "../bed/program.ts";
import { quietMs, type Scenario, type Size, type Steps, usualCloud } from "./scenario.ts";

const count = 900;
const flags = ["--leader-elect=false", "--configure-cloud-routes=true", "--allocate-node-cidrs=true", "--cluster-cidr=10.200.0.0/14"];

export const routes: Scenario = {
  name: "routes",
  title: "900 routes",
  about:
    "900 initialised Nodes with a pod CIDR each, an empty route table, and a quota that allows it. Create: from the " +
    "program's start until every Node's network is reported as available. Restart: killed and restarted, until its last " +
    "call to AWS, or for half a minute.",
  entrants: ["reference", "fairlead"],
  run: makeRoutes,
};

async function makeRoutes(entrant: Entrant, size: Size): Promise<Steps> {
  await using bed = await Bed.make(entrant, usualCloud);
  const { admin } = bed.cluster;
  const wanted = size.count(count);
  await bed.join(wanted, (number) => ({ kind: "initialised", podCidr: podCidr(number) }));
  const create = await bed.fromStart(flags, async (program) => {
    await until(program, "every route is there", async () => (await bed.cloud.look()).routes === wanted);
    return until(program, "every Node's network is available", async () => {
      const { items } = await admin.list(nodes, { limit: 500 });
      return items.every(({ status }) => status?.conditions?.some((one) => one.type === "NetworkUnavailable" && one.status === "False"));
    });
  });
  // The reference reads the tables every ten seconds for ever.
  const restart = await bed.fromStart(flags, () => Promise.race([bed.cloud.quiet(quietMs), after(30_000)]));
  return { create, restart };
}

function podCidr(number: number): string {
  return `10.${200 + (number >> 8)}.${number & 255}.0/24`;
}

function after(ms: number): Promise<number> {
  return new Promise((resolve) => setTimeout(() => resolve(performance.now()), ms));
}
