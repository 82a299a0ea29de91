/** Which Nodes are routed, as far as it can be said. Pure. */
import type { DesiredRoutes, Refusal, WantedRoute } from "./desire.ts";
import { leadsTo, type RoutedNode, type SeenRouteTable } from "./model.ts";

/** `unknown`: what the Node says of itself stays as it is. */
export type RouteStatus = "routed" | "unrouted" | "unknown";

/** Tells the status of each Node that has, or wants, a route. It looks at the tables as they are when it is asked. */
export class RouteStatuses {
  readonly #desired: DesiredRoutes;
  readonly #tables: readonly SeenRouteTable[];
  readonly #wanted: Map<string, WantedRoute[]>;
  readonly #refused: Map<string, Refusal[]>;

  constructor(desired: DesiredRoutes, tables: readonly SeenRouteTable[]) {
    this.#desired = desired;
    this.#tables = tables;
    this.#wanted = Map.groupBy(desired.wanted, ({ node }) => node.name);
    this.#refused = Map.groupBy(desired.refused, ({ node }) => node.name);
  }

  /** The Nodes that have or want a route, by name. */
  get names(): ReadonlySet<string> {
    return new Set([...this.#wanted.keys(), ...this.#refused.keys()]);
  }

  of(name: string): RouteStatus {
    const each = [
      ...(this.#wanted.get(name) ?? []).map((route) => this.#ofWanted(route)),
      ...(this.#refused.get(name) ?? []).map((refusal) => this.#ofRefused(refusal)),
    ];
    return each.find((status) => status === "unrouted") ?? each.find((status) => status === "unknown") ?? "routed";
  }

  #ofWanted({ destination, node }: WantedRoute): RouteStatus {
    return this.#tables.length > 0 && this.#leading(destination, node) === this.#tables.length ? "routed" : "unrouted";
  }

  /** A failed look-up must not take a Node out of service whose route works in a table that others were there before. */
  #ofRefused({ destination, node }: Refusal): RouteStatus {
    return this.#desired.undecided.has(destination) && this.#leading(destination, node) > 0 ? "unknown" : "unrouted";
  }

  /** In how many tables this destination leads to the Node's machine. */
  #leading(destination: string, node: RoutedNode): number {
    return this.#tables.filter(({ routes }) => {
      const route = routes.get(destination);
      return route !== undefined && leadsTo(route, node);
    }).length;
  }
}
