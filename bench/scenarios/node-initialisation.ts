/** Nodes that wait for their cloud controller manager, all at once; and its restart when it has done its work. */
import { nodes } from "../../src/kube/builtin.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { Bed } from "../bed/bed.ts";
import type { Entrant, EntrantName } from "../bed/entrants.ts";
import { type Program, until } from "../bed/program.ts";
import { alone, quietMs, type Scenario, type Size, type Steps, usualCloud } from "./scenario.ts";

interface Case {
  readonly name: string;
  readonly count: number;
  readonly providerIds: boolean;
  readonly throttled: boolean;
  readonly entrants?: readonly EntrantName[];
  readonly onlyFull?: boolean;
}

const cases: readonly Case[] = [
  {
    name: "nodes-1000",
    count: 1000,
    providerIds: true,
    throttled: true,
    entrants: ["reference", "fairlead", "reference-defaults"],
  },
  { name: "nodes-1000-by-name", count: 1000, providerIds: false, throttled: true },
  { name: "nodes-1000-unthrottled", count: 1000, providerIds: true, throttled: false, onlyFull: true },
  { name: "nodes-1000-by-name-unthrottled", count: 1000, providerIds: false, throttled: false, onlyFull: true },
  { name: "nodes-5000", count: 5000, providerIds: true, throttled: true },
];

/** One scenario for each case. */
export const nodeInitialisations: readonly Scenario[] = cases.map((each) => ({
  name: each.name,
  title: `${each.count.toLocaleString("en")} nodes, ${each.providerIds ? "with" : "without"} provider IDs${each.throttled ? "" : ", unthrottled"}`,
  about:
    `${each.count.toLocaleString("en")} Nodes of real size are registered and tainted before the program starts. ` +
    "Initialise: from its start until the last Node has lost the taint. " +
    "Restart: killed and restarted, until its last call to AWS.",
  entrants: each.entrants ?? ["reference", "fairlead"],
  ...(each.onlyFull && { onlyFull: true }),
  run: (entrant, size) => initialise(each, entrant, size),
}));

async function initialise({ count, providerIds, throttled }: Case, entrant: Entrant, size: Size): Promise<Steps> {
  await using bed = await Bed.make(entrant, throttled ? usualCloud : { ...usualCloud, throttle: undefined });
  await bed.join(size.count(count), () => ({ kind: "registered", providerId: providerIds }));
  const initialised = await bed.fromStart(alone, (program) => allInitialised(program, bed.cluster.admin));
  if (entrant.name === "reference-defaults") return { initialise: initialised };
  const restart = await bed.fromStart(alone, () => bed.cloud.quiet(quietMs));
  return { initialise: initialised, restart };
}

/** The last moment a Node was without its zone, which both programs write together with the end of the taint. */
export async function allInitialised(program: Program, client: KubeClient): Promise<number> {
  const without = "!topology.kubernetes.io/zone";
  const at = await until(program, "every Node is initialised", async () => {
    const { items } = await client.page(nodes, { labelSelector: without, limit: 1 }, ({ metadata }) => metadata.name);
    return items.length === 0;
  });
  const { items } = await client.list(nodes, { limit: 500 });
  const tainted = items.filter(({ spec }) => spec?.taints?.some(({ key }) => key.endsWith("/uninitialized")));
  if (tainted.length > 0) throw new Error(`${tainted.length} Nodes have a zone and still the taint, ${tainted[0]?.metadata.name} first`);
  return at;
}
