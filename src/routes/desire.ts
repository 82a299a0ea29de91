/** Which pod CIDR belongs to which node, when they do not agree among themselves. Pure. */
import { type Cidr, enclosing, formatCidr, parseCidr } from "../runtime/ip.ts";
import { leadsTo, type RoutedNode, type SeenRouteTable } from "./model.ts";

export interface WantedRoute {
  readonly destination: string;
  readonly node: RoutedNode;
}

/** Why a node does not get a route it asks for. */
export interface Refusal {
  readonly node: RoutedNode;
  readonly destination: string;
  readonly why: string;
  /** What counts as the same reason, where the words differ each time. */
  readonly cause?: string;
  /** After how long the question may have another answer; left out when only a change of a Node could change it. */
  readonly askAgainMs?: number;
}

export interface DesiredRoutes {
  readonly wanted: readonly WantedRoute[];
  readonly refused: readonly Refusal[];
  /**
   * Destinations of which it cannot be said at the moment where they must lead: the look-up of the machine failed, or the
   * Node is not known to be on one. Whatever stands there is left alone.
   */
  readonly undecided: ReadonlySet<string>;
}

/**
 * One route for each pod CIDR of each node. Where two nodes claim the same addresses, the one whose route exists keeps
 * it, else the older node gets it: traffic that flows is never moved by a newcomer.
 */
export function desireRoutes(nodes: readonly RoutedNode[], tables: readonly SeenRouteTable[]): DesiredRoutes {
  const wanted: WantedRoute[] = [];
  const refused: Refusal[] = [];
  const undecided = new Set<string>();
  const claims = nodes.flatMap((node) => [...new Set(node.podCidrs)].map((text) => ({ node, text, block: parseCidr(text) })));
  const holds = ({ node, block }: (typeof claims)[number]) =>
    tables.some(({ routes }) => {
      const route = block && routes.get(formatCidr(block));
      return route?.state === "active" && leadsTo(route, node);
    });
  const holders = new Set(claims.filter(holds));
  const ranked = claims.toSorted(
    (a, b) =>
      Number(holders.has(b)) - Number(holders.has(a)) || a.node.createdAt - b.node.createdAt || (a.node.name < b.node.name ? -1 : 1),
  );
  const claimed = new Claims(claims.flatMap(({ block }) => block ?? []));
  for (const { node, text, block } of ranked) {
    if (block === undefined) {
      refused.push({ node, destination: text, why: `spec.podCIDRs holds ${JSON.stringify(text)}, which is not a CIDR` });
      continue;
    }
    const destination = formatCidr(block);
    if (node.instanceId === undefined) {
      if (!node.leftAlone) refused.push({ node, destination, why: "the Node has no EC2 instance to route to" });
      undecided.add(destination);
      continue;
    }
    const rival = claimed.rivalOf(block, node);
    if (rival) {
      refused.push({ node, destination, why: `node ${rival.node.name} already has ${rival.destination}` });
      continue;
    }
    const route = { destination, node };
    claimed.add(block, route);
    wanted.push(route);
  }
  return { wanted, refused, undecided };
}

/**
 * Routes by destination, and by every larger block that holds one: blocks overlap only when one holds the other. Only
 * the few prefix lengths that occur are looked at.
 */
class Claims {
  readonly #lengths: readonly number[];
  readonly #exact = new Map<string, WantedRoute>();
  readonly #within = new Map<string, WantedRoute>();

  constructor(blocks: readonly Cidr[]) {
    this.#lengths = [...new Set(blocks.map(({ prefix }) => prefix))];
  }

  /** Another node's route that shares addresses with this block. */
  rivalOf(block: Cidr, node: RoutedNode): WantedRoute | undefined {
    const around = [block, ...this.#blocksAround(block)].map((larger) => this.#exact.get(keyOf(larger)));
    return [...around, this.#within.get(keyOf(block))].find((route) => route !== undefined && route.node !== node);
  }

  add(block: Cidr, route: WantedRoute): void {
    this.#exact.set(keyOf(block), route);
    for (const larger of this.#blocksAround(block)) this.#within.set(keyOf(larger), route);
  }

  #blocksAround(block: Cidr): Cidr[] {
    return this.#lengths.filter((length) => length < block.prefix).map((length) => enclosing(block, length));
  }
}

const keyOf = ({ family, value, prefix }: Cidr) => `${family} ${value}/${prefix}`;
