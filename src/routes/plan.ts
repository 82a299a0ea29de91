/** The steps that bring route tables in line with what nodes want. Pure. */
import { createRoute, deleteRoute, modifyInstanceAttribute, modifyNetworkInterfaceAttribute, replaceRoute } from "../aws/ec2-actions.ts";
import { type Step, step } from "../aws/plan.ts";
import type { Cidr } from "../runtime/ip.ts";
import type { DesiredRoutes, WantedRoute } from "./desire.ts";
import { isOurs, leadsTo, type Machine, type SeenRoute, type SeenRouteTable } from "./model.ts";

/** What has to happen for one destination. Different destinations are changed side by side. */
export interface RouteChange {
  readonly destination: string;
  /** The node whose route it is; undefined for one that goes. */
  readonly wanted?: WantedRoute;
  /** What has to be done before any table is changed. */
  readonly first: readonly Step[];
  /** What changes in each table, by its id. A table that takes no change does not keep it out of the others. */
  readonly inTables: ReadonlyMap<string, Step>;
}

/** All steps of a change, in their order. */
export function stepsOf({ first, inTables }: RouteChange): readonly Step[] {
  return [...first, ...inTables.values()];
}

/**
 * Brings every table to the wanted routes. Routes that are not ours are never touched, and ours are deleted only when it
 * is known that they are in nobody's use.
 *
 *     destination is            and the route there        then
 *     wanted                    leads to its machine       nothing
 *     wanted                    leads elsewhere, or none   replace, create
 *     undecided                 leads anywhere             nothing
 *     refused (overlap)         leads to who asked for it  nothing: it may be in use
 *     refused (overlap)         leads elsewhere            delete
 *     no Node's pod CIDR        leads anywhere             delete
 */
export function planRoutes(desired: DesiredRoutes, tables: readonly SeenRouteTable[], clusterCidrs: readonly Cidr[]): RouteChange[] {
  const wanted = new Map(desired.wanted.map((route) => [route.destination, route]));
  const creations = desired.wanted.flatMap((route) => {
    const { destination, node } = route;
    const inTables = new Map(tables.flatMap((table) => stepsFor(route, table, clusterCidrs).map((change) => [table.id, change])));
    if (inTables.size === 0) return [];
    const first = node.machine?.sourceDestCheck ? [forwarding(node.machine)] : [];
    return [{ destination, wanted: route, first, inTables }];
  });
  const refused = Map.groupBy(desired.refused, ({ destination }) => destination);
  const inUse = (route: SeenRoute) =>
    wanted.has(route.destination) ||
    desired.undecided.has(route.destination) ||
    (refused.get(route.destination) ?? []).some(({ node }) => leadsTo(route, node));
  const deletions = tables.flatMap((table) =>
    [...table.routes.values()].filter((route) => isOurs(route, clusterCidrs) && !inUse(route)).map((route) => deletion(route, table)),
  );
  return [...deletions, ...creations];
}

function stepsFor(route: WantedRoute, table: SeenRouteTable, clusterCidrs: readonly Cidr[]): Step[] {
  const { machine, name } = route.node;
  const present = table.routes.get(route.destination);
  // A stopped machine's route is a blackhole until it runs again: making it anew would change nothing.
  if (present && leadsTo(present, route.node)) return [];
  if (machine === undefined) return [];
  const input = { RouteTableId: table.id, ...destinationInput(route.destination), ...targetInput(machine) };
  const what = `${route.destination} to ${machine.severalInterfaces ? machine.interfaceId : machine.instanceId} in route table ${table.id}`;
  if (present === undefined) return [step(createRoute, input, { what: `create route ${what}`, why: `node ${name} has this pod CIDR` })];
  if (!isOurs(present, clusterCidrs) && present.state !== "blackhole") return [];
  // In one step, so that there is no moment without a route.
  return [step(replaceRoute, input, { what: `point route ${what}`, why: `the CIDR now belongs to node ${name}` })];
}

function deletion(route: SeenRoute, table: SeenRouteTable): RouteChange {
  const why = route.state === "blackhole" ? "its machine is gone" : "no node has this pod CIDR";
  const input = { RouteTableId: table.id, ...destinationInput(route.destination) };
  const what = `delete route ${route.destination} from route table ${table.id}`;
  const change = step(deleteRoute, input, { what, why, settledBy: ["InvalidRoute.NotFound"] });
  return { destination: route.destination, first: [], inTables: new Map([[table.id, change]]) };
}

/** A machine that forwards for its pods must not drop packets that are not addressed to itself. */
function forwarding({ instanceId, interfaceId, severalInterfaces }: Machine): Step {
  const why = "it forwards packets of its pods";
  const what = `turn the source/destination check off on ${severalInterfaces ? interfaceId : instanceId}`;
  const off = { SourceDestCheck: { Value: false } };
  return severalInterfaces
    ? step(modifyNetworkInterfaceAttribute, { NetworkInterfaceId: interfaceId, ...off }, { what, why })
    : step(modifyInstanceAttribute, { InstanceId: instanceId, ...off }, { what, why });
}

function destinationInput(destination: string) {
  return destination.includes(":") ? { DestinationIpv6CidrBlock: destination } : { DestinationCidrBlock: destination };
}

function targetInput({ instanceId, interfaceId, severalInterfaces }: Machine) {
  return severalInterfaces ? { NetworkInterfaceId: interfaceId } : { InstanceId: instanceId };
}
