/** Pod CIDRs and the routes to them, in the nodes' world: who has which, and what the route tables must hold. */
import type { Node } from "../../src/kube/types.ts";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Network } from "../../src/sandbox/cloud/network.ts";
import { clusterTables, routesIn } from "./route-tables.ts";

export const clusterCidr = "10.200.0.0/16";

/** Somebody else's routes: one inside the pods' range that is no machine's, one to a machine outside of it. */
const foreign = ["10.200.250.0/24", "172.16.0.0/16"] as const;

/** Puts routes into the cluster's table that are not ours to touch. */
export function plantForeignRoutes(cloud: Cloud, network: Network, interfaceId: string): void {
  const { routeTables } = cloud.account.ec2;
  const table = routeTables.get(network.privateTableId)!;
  const planted = [
    { destination: foreign[0], family: 4, target: { kind: "nat", id: "nat-0123456789abcdef0" } },
    { destination: foreign[1], family: 4, target: { kind: "interface", id: interfaceId, instanceId: undefined } },
  ] as const;
  routeTables.update(table.id, { routes: [...table.routes, ...planted] });
}

/** The first block that no Node has: those of Nodes that went are used again. */
export function freePodCidr(nodes: readonly Node[]): string {
  for (let block = 0; ; block++) {
    const cidr = `10.200.${block}.0/24`;
    if (!nodes.some(({ spec }) => spec?.podCIDRs?.includes(cidr))) return cidr;
  }
}

/** What is wrong with the routes, were they final. `instanceOf` tells the machine a Node must be routed to, if any. */
export function wrongRoutes(
  cloud: Cloud,
  network: Network,
  nodes: readonly Node[],
  instanceOf: (node: Node) => string | undefined,
): string[] {
  const wrong = nodes.flatMap((node) => (instanceOf(node) === undefined ? [] : wrongCondition(node)));
  for (const table of clusterTables(cloud, network)) {
    const found = routesIn(cloud, table);
    if (table.id === network.privateTableId) {
      for (const destination of foreign) if (!found.has(destination)) wrong.push(`somebody else's route ${destination} is gone`);
    }
    wrong.push(...wrongIn(found, nodes, instanceOf).map((what) => `${table.id}: ${what}`));
  }
  return wrong;
}

function wrongIn(
  found: ReadonlyMap<string, string | undefined>,
  nodes: readonly Node[],
  instanceOf: (node: Node) => string | undefined,
): string[] {
  const wrong: string[] = [];
  /** In use, or not known to be out of use: what becomes of a route is open while nobody knows which machine its Node is on. */
  const claimed = new Set<string>();
  for (const node of nodes) {
    const [cidr, instance] = [node.spec?.podCIDRs?.[0], instanceOf(node)];
    if (cidr === undefined) continue;
    claimed.add(cidr);
    if (instance !== undefined && found.get(cidr) !== instance)
      wrong.push(`${cidr} of ${node.metadata?.name} leads to ${found.get(cidr) ?? "nothing"}, should be ${instance}`);
  }
  for (const destination of found.keys()) {
    if (destination.startsWith("10.200.") && !claimed.has(destination) && destination !== foreign[0])
      wrong.push(`route ${destination} should be gone`);
  }
  return wrong;
}

function wrongCondition({ metadata, spec, status }: Node): string[] {
  const condition = status?.conditions?.find(({ type }) => type === "NetworkUnavailable");
  if (spec?.podCIDRs === undefined || condition?.reason === "RouteCreated") return [];
  return [`Node ${metadata?.name} says of its routes: ${condition?.reason ?? "nothing"}`];
}
