/** What is seen: the cluster's route tables, and the machines behind its Nodes. */
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import { causeOf, isAwsError } from "../aws/errors.ts";
import type { Instance } from "../aws/instance.ts";
import { type RouteTable, tableIdsIn } from "../aws/route-tables.ts";
import type { ClusterId } from "../identity/cluster-id.ts";
import { claimedInstance, type SeenNode } from "../identity/node-view.ts";
import { hasClusterTag } from "../identity/ownership.ts";
import { isLasting } from "./back-off.ts";
import type { DesiredRoutes, Refusal } from "./desire.ts";
import { canonicalCidr, leadsTo, type Machine, type RoutedNode, type SeenRoute, type SeenRouteTable } from "./model.ts";

export interface Where {
  readonly cluster: ClusterId;
  readonly clusterName: string;
  readonly vpc: string | undefined;
  /** Table ids separated by commas, from the cloud config. */
  readonly routeTableId: string | undefined;
}

/** No route table is marked as this cluster's. Somebody has to tag one, or to name it. */
export class RouteTableUnknown extends Error {
  override readonly name = "RouteTableUnknown";
}

/** The tables this cluster's routes go to: those that are named, else those that carry its tag. */
export async function observeTables(cloud: Pick<Cloud, "routeTables">, where: Where, ask: Ask): Promise<readonly SeenRouteTable[]> {
  const named = tableIdsIn(where.routeTableId);
  const filter = named.length > 0 ? { name: "route-table-id", values: named } : where.vpc && { name: "vpc-id", values: [where.vpc] };
  const found = await cloud.routeTables.list(filter ? [filter] : [], ask);
  const tables = named.length > 0 ? found : found.filter(({ tags }) => hasClusterTag(tags, where.cluster));
  const missing = named.filter((id) => !tables.some((table) => table.id === id));
  if (missing.length > 0)
    throw new RouteTableUnknown(`RouteTableID names ${missing.join(", ")}, which this account and region does not have`);
  if (tables.length === 0) {
    throw new RouteTableUnknown(
      `unable to find route table for AWS cluster: ${where.clusterName}: tag the route tables of the node subnets with ` +
        `kubernetes.io/cluster/${where.cluster.id}=owned, or set RouteTableID in the cloud config`,
    );
  }
  return tables.map(seenTable);
}

/**
 * A Node as routes see it; undefined when it has no pods to route to. Fargate and other clouds' nodes have no machine that
 * we could route to, but somebody else may have made a route for their pods, over an appliance, say.
 */
export function routedNode(node: SeenNode): RoutedNode | undefined {
  if (node.podCidrs.length === 0) return undefined;
  const { name, uid, creationTimestamp } = node.metadata;
  const instanceId = claimedInstance(node);
  return {
    name,
    uid,
    createdAt: Date.parse(creationTimestamp),
    podCidrs: node.podCidrs,
    instanceId,
    leftAlone: instanceId === undefined && (node.providerId !== "" || awaitsInitialisation(node)),
  };
}

/** Whether its kubelet still waits for the cloud to say who it is. */
export function awaitsInitialisation({ taints }: SeenNode): boolean {
  return taints.some(({ key }) => key === "node.cloudprovider.kubernetes.io/uninitialized");
}

/** The machine that forwards for a Node's pods; undefined while it has no interface to route to. */
function machineOf(instance: Instance): Machine | undefined {
  const attached = instance.interfaces.filter(({ status }) => status === "in-use");
  const first = attached.find(({ attachment }) => attachment?.deviceIndex === 0) ?? attached[0];
  if (first === undefined) return undefined;
  const severalInterfaces = attached.length > 1;
  const sourceDestCheck = (severalInterfaces ? first.sourceDestCheck : instance.sourceDestCheck) ?? true;
  return { instanceId: instance.id, interfaceId: first.id, severalInterfaces, sourceDestCheck };
}

/**
 * Asks EC2 for the machines of those Nodes alone whose routes have to be made. A Node whose machine is not found, or
 * cannot be asked for, gets no new route, and keeps those it has: only the end of the Node ends them.
 */
export async function withMachines(
  cloud: Pick<Cloud, "instances">,
  desired: DesiredRoutes,
  tables: readonly SeenRouteTable[],
  ask: Ask,
): Promise<DesiredRoutes> {
  const found = new Map<string, RoutedNode | Lack>();
  const missing = desired.wanted.filter(({ destination, node }) =>
    tables.some(({ routes }) => {
      const route = routes.get(destination);
      return route === undefined || !leadsTo(route, node);
    }),
  );
  const nodes = [...new Set(missing.map(({ node }) => node))];
  await Promise.all(nodes.map(async (node) => found.set(node.name, await withMachine(cloud, node, ask))));
  const wanted = desired.wanted.flatMap((route) => {
    const node = found.get(route.node.name) ?? route.node;
    return "why" in node ? [] : [{ ...route, node }];
  });
  const refused = desired.wanted.flatMap((route) => {
    const lack = found.get(route.node.name);
    return lack !== undefined && "why" in lack ? [{ ...route, ...lack }] : [];
  });
  const undecided = new Set([...desired.undecided, ...refused.map(({ destination }) => destination)]);
  return { wanted, refused: [...desired.refused, ...refused], undecided };
}

/** When a machine is asked for again. */
const askAgain = { failedMs: 10_000, withoutMachineMs: 60_000, deniedMs: 60_000 };

/** Why a node has no machine to route to. */
type Lack = Pick<Refusal, "why" | "cause" | "askAgainMs">;

/** The node with its machine, or why it has none. One that cannot be asked for fails alone. */
async function withMachine({ instances }: Pick<Cloud, "instances">, node: RoutedNode, ask: Ask): Promise<RoutedNode | Lack> {
  try {
    const lookup = await instances.lookup(node.instanceId ?? "", ask);
    const lack = (why: string): Lack => ({ why, askAgainMs: askAgain.withoutMachineMs });
    if (lookup.kind !== "found" || lookup.instance.state === "terminated") return lack(`instance ${node.instanceId} not found`);
    const machine = machineOf(lookup.instance);
    return machine ? { ...node, machine } : lack(`instance ${node.instanceId} has no network interface in use`);
  } catch (error) {
    if (!isAwsError(error)) throw error;
    return { why: error.message, cause: causeOf(error), askAgainMs: isLasting(error) ? askAgain.deniedMs : askAgain.failedMs };
  }
}

function seenTable({ id, vpc, routes }: RouteTable): SeenRouteTable {
  const seen = routes.flatMap(({ destination, state, ...rest }): SeenRoute[] => {
    const canonical = destination === undefined ? undefined : canonicalCidr(destination);
    return canonical === undefined ? [] : [{ ...rest, destination: canonical, state: state === "blackhole" ? "blackhole" : "active" }];
  });
  return { id, vpc, routes: new Map(seen.map((route) => [route.destination, route])) };
}
