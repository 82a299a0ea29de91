/** Which route has a port of a network load balancer, and where its listener forwards to. Pure. */
import type { Forward } from "../routing.ts";
import type { AttachedRoute, RouteFailure } from "./attachment.ts";
import { attempt, HeldFault } from "./fault.ts";
import type { Findings } from "./findings.ts";
import type { Groups, Share } from "./groups.ts";
import { compareText } from "./listener-sets.ts";
import type { Port } from "./ports.ts";
import { forwardKey, portKey } from "./refused.ts";
import { keyOf, type RouteView } from "./view.ts";

/** A listener forwards for one route: the oldest has it. */
export function winnerOf(routes: readonly AttachedRoute[]): RouteView | undefined {
  const [first] = routes
    .map(({ route }) => route)
    .toSorted((a, b) => compareText(a.createdAt, b.createdAt) || compareText(keyOf(a), keyOf(b)));
  return first;
}

/**
 * All rules of a route contribute; undefined where nothing takes traffic, and the port is not listened on. Throws a `HeldFault` where
 * what stands has to stay.
 */
export function networkForward(port: Port, groups: Groups, findings: Findings, stands: boolean): Forward | undefined {
  const route = winnerOf(port.routes);
  if (route === undefined) return undefined;
  const shares = route.rules.flatMap((rule, ruleIndex): readonly Share[] => {
    const fail = (failure: RouteFailure) => findings.fail(route, ruleIndex, failure);
    const made = attempt(() => groups.sharesOf(route, rule, port, fail));
    if ("value" in made) return made.value;
    const { fault } = made;
    // That somebody could not be asked is no fault of a route that is served.
    if (!(stands && fault instanceof HeldFault && fault.isUnknown)) fail(fault);
    if (fault instanceof HeldFault) throw fault;
    return [];
  });
  const forward = forwardTo(shares, port);
  const message = forward && findings.ask(forwardKey(portKey(port.port)), forward);
  if (message === undefined) return forward;
  for (const ruleIndex of route.rules.keys()) findings.fail(route, ruleIndex, { reason: "UnsupportedValue", message });
  throw new HeldFault(message);
}

function forwardTo(shares: readonly Share[], port: Port): Forward | undefined {
  if (shares.every(({ weight }) => weight === 0)) return undefined;
  // AWS takes no weights with QUIC.
  const takesWeights = !port.protocol.includes("QUIC");
  const to = shares.map(({ weight, ...share }) => (takesWeights ? { ...share, weight } : share));
  const sticks = port.config?.targetGroupStickiness;
  return { kind: "forward", to, ...(sticks !== undefined && { stickiness: { enabled: sticks } }) };
}
