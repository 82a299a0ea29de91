/** Which pod CIDR belongs to which node, when they do not agree among themselves. Pure. */
import { formatAddress, formatCidr, parseCidr } from "../runtime/ip.ts";
import { canonicalCidr, leadsTo, type RoutedNode, type SeenRouteTable } from "./model.ts";

export interface WantedRoute {
  readonly destination: string;
  readonly node: RoutedNode;
}

/** Why a node does not get a route it asks for. */
export interface Refusal {
  readonly node: RoutedNode;
  readonly destination: string;
  readonly why: string;
}

export interface DesiredRoutes {
  readonly wanted: readonly WantedRoute[];
  readonly refused: readonly Refusal[];
}

/**
 * One route for each pod CIDR of each node. Where two nodes claim the same addresses, the one whose route exists keeps
 * it, else the older node gets it: traffic that flows is never moved by a newcomer.
 */
export function desireRoutes(nodes: readonly RoutedNode[], tables: readonly SeenRouteTable[]): DesiredRoutes {
  const wanted: WantedRoute[] = [];
  const refused: Refusal[] = [];
  const claims = nodes.flatMap((node) => [...new Set(node.podCidrs)].map((text) => ({ node, text, destination: canonicalCidr(text) })));
  const holds = ({ node, destination = "" }: (typeof claims)[number]) =>
    tables.some(({ routes }) => {
      const route = routes.get(destination);
      return route?.state === "active" && leadsTo(route, node);
    });
  const ranked = claims.toSorted(
    (a, b) => Number(holds(b)) - Number(holds(a)) || a.node.createdAt - b.node.createdAt || (a.node.name < b.node.name ? -1 : 1),
  );
  const claimed = new Claims();
  for (const { node, text, destination } of ranked) {
    if (destination === undefined) {
      refused.push({ node, destination: text, why: `spec.podCIDRs holds ${JSON.stringify(text)}, which is no CIDR` });
      continue;
    }
    if (node.instanceId === undefined) {
      refused.push({ node, destination, why: "the Node has no EC2 instance to route to" });
      continue;
    }
    const rival = claimed.rivalOf(destination, node);
    if (rival) {
      refused.push({ node, destination, why: `node ${rival.node.name} already has ${rival.destination}` });
      continue;
    }
    const route = { destination, node };
    claimed.add(route);
    wanted.push(route);
  }
  return { wanted, refused };
}

/** Routes by destination, and by every larger block that holds one: blocks overlap only when one holds the other. */
class Claims {
  readonly #exact = new Map<string, WantedRoute>();
  readonly #within = new Map<string, WantedRoute>();

  /** Another node's route that shares addresses with this destination. */
  rivalOf(destination: string, node: RoutedNode): WantedRoute | undefined {
    const larger = [destination, ...blocksAround(destination)].map((block) => this.#exact.get(block));
    return [...larger, this.#within.get(destination)].find((route) => route !== undefined && route.node !== node);
  }

  add(route: WantedRoute): void {
    this.#exact.set(route.destination, route);
    for (const block of blocksAround(route.destination)) this.#within.set(block, route);
  }
}

function blocksAround(destination: string): string[] {
  const { prefix, ...address } = parseCidr(destination)!;
  return Array.from({ length: prefix }, (_, shorter) => formatCidr(parseCidr(`${formatAddress(address)}/${shorter}`)!));
}
