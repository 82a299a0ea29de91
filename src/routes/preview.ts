/** The route changes that would be made now, for people who want to see them first. Reads only. */
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import type { SeenNode } from "../identity/node-view.ts";
import type { Cidr } from "../runtime/ip.ts";
import { desireRoutes, type Refusal } from "./desire.ts";
import type { SeenRouteTable } from "./model.ts";
import { observeTables, routedNode, type Where, withMachines } from "./observe.ts";
import { planRoutes, type RouteChange } from "./plan.ts";

export interface RoutePreview {
  readonly tables: readonly SeenRouteTable[];
  readonly changes: readonly RouteChange[];
  readonly refused: readonly Refusal[];
}

/** What one pass of the route controller would do. */
export async function previewRoutes(
  cloud: Pick<Cloud, "instances" | "routeTables">,
  where: Where,
  clusterCidrs: readonly Cidr[],
  nodes: readonly SeenNode[],
  ask: Ask,
): Promise<RoutePreview> {
  const tables = await observeTables(cloud, where, ask);
  const wishes = nodes.flatMap((node) => routedNode(node) ?? []);
  const desired = await withMachines(cloud, desireRoutes(wishes, tables), tables, ask);
  return { tables, changes: planRoutes(desired, tables, clusterCidrs), refused: desired.refused };
}
