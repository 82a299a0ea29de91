/** Which route has a port of a network load balancer, and where its listener forwards to. Pure. */
import type { Forward } from "../routing.ts";
import type { AttachedRoute } from "./attachment.ts";
import { attempt } from "./fault.ts";
import type { Groups, Share } from "./groups.ts";
import { compareText } from "./listener-sets.ts";
import type { Port } from "./ports.ts";
import { type FailureBook, note } from "./rules.ts";
import { keyOf, type RouteView } from "./view.ts";

/** A listener forwards for one route: the oldest has it. */
export function winnerOf(routes: readonly AttachedRoute[]): RouteView | undefined {
  const [first] = routes
    .map(({ route }) => route)
    .toSorted((a, b) => compareText(a.createdAt, b.createdAt) || compareText(keyOf(a), keyOf(b)));
  return first;
}

/** All rules of a route contribute; undefined where nothing takes traffic, and the port is not listened on. */
export function networkForward(port: Port, groups: Groups, failures: FailureBook): Forward | undefined {
  const route = winnerOf(port.routes);
  if (route === undefined) return undefined;
  const shares = route.rules.flatMap((rule, ruleIndex): readonly Share[] => {
    const fail = (failure: Parameters<typeof note>[3]) => note(failures, route, ruleIndex, failure);
    const made = attempt(() => groups.sharesOf(route, rule, port, fail));
    if ("value" in made) return made.value;
    fail(made.fault);
    return [];
  });
  if (shares.every(({ weight }) => weight === 0)) return undefined;
  // AWS takes no weights with QUIC.
  const takesWeights = !port.protocol.includes("QUIC");
  const to = shares.map(({ weight, ...share }) => (takesWeights ? { ...share, weight } : share));
  const sticks = port.config?.targetGroupStickiness;
  return { kind: "forward", to, ...(sticks !== undefined && { stickiness: { enabled: sticks } }) };
}
