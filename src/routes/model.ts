/** Pod routes: which there are, which there should be. Plain data. */
import { type Cidr, contains, formatCidr, parseCidr } from "../runtime/ip.ts";

export interface SeenRoute {
  /** Canonical text. */
  readonly destination: string;
  /** `CreateRoute`, `CreateRouteTable`, `EnableVgwRoutePropagation`. */
  readonly origin: string;
  readonly state: "active" | "blackhole";
  readonly instanceId?: string;
  readonly interfaceId?: string;
  /** Gateway, NAT, peering, transit: whatever is no machine. */
  readonly otherTarget?: string;
}

export interface SeenRouteTable {
  readonly id: string;
  readonly vpc: string;
  /** By destination: a table has one route for each. */
  readonly routes: ReadonlyMap<string, SeenRoute>;
}

/** A Node that may have pod routes. */
export interface RoutedNode {
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number;
  readonly podCidrs: readonly string[];
  readonly instanceId?: string;
  /**
   * It is on no machine of EC2 that anybody knows of: it is not initialised yet, or its provider ID names something else.
   * Nothing is made for it and nothing is said on it, and what stands for its pods is left alone.
   */
  readonly leftAlone?: boolean;
  /** The machine as EC2 tells it; undefined until it was asked, or when there is none. */
  readonly machine?: Machine;
}

export interface Machine {
  readonly instanceId: string;
  /** The interface traffic comes in by: device index 0. */
  readonly interfaceId: string;
  /** With several, EC2 refuses a route to the instance: it must name the interface. */
  readonly severalInterfaces: boolean;
  readonly sourceDestCheck: boolean;
}

/**
 * Whether a route is ours to delete: its destination lies within the pods' range, somebody made it by CreateRoute, and
 * it leads to a machine or nowhere. Gateway, NAT, peering, transit and propagated routes never are.
 */
export function isOurs(route: SeenRoute, clusterCidrs: readonly Cidr[]): boolean {
  const destination = parseCidr(route.destination);
  if (destination === undefined || route.origin !== "CreateRoute" || route.otherTarget !== undefined) return false;
  return clusterCidrs.some((cidr) => contains(cidr, destination));
}

/** Whether the route leads to this machine, by instance or by interface. */
export function leadsTo(route: SeenRoute, node: Pick<RoutedNode, "instanceId" | "machine">): boolean {
  if (route.instanceId !== undefined) return route.instanceId === node.instanceId;
  return route.interfaceId !== undefined && route.interfaceId === node.machine?.interfaceId;
}

/** The canonical text of a block; undefined when it is none. */
export function canonicalCidr(text: string): string | undefined {
  const cidr = parseCidr(text);
  return cidr && formatCidr(cidr);
}
