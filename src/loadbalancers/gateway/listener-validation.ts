/** Which listeners of a Gateway and its ListenerSets are served, and why the others are not. Pure. */
import { type Flavour, kindsByProtocol } from "./flavours.ts";
import type { GatewayView, ListenerSetView, ListenerView } from "./view.ts";

export type ListenerReason =
  | "Accepted"
  | "InvalidRouteKinds"
  | "PortUnavailable"
  | "UnsupportedProtocol"
  | "ProtocolConflict"
  | "HostnameConflict";

export interface ListenerVerdict {
  readonly reason: ListenerReason;
  readonly message: string;
}

/** Who has listeners: the Gateway itself, or a ListenerSet that it takes. */
export type ListenerParent =
  | { readonly kind: "Gateway"; readonly object: GatewayView }
  | { readonly kind: "ListenerSet"; readonly object: ListenerSetView };

export interface JudgedListener {
  readonly parent: ListenerParent;
  readonly listener: ListenerView;
  /** The kinds of route that it takes. */
  readonly kinds: readonly string[];
  readonly verdict: ListenerVerdict;
}

export const isValid = ({ verdict }: Pick<JudgedListener, "verdict">) => verdict.reason === "Accepted";

const accepted: ListenerVerdict = { reason: "Accepted", message: "" };

/** In the order of the right of way: a listener never yields to one that comes after it. */
export function judgeListeners(parents: readonly ListenerParent[], flavour: Flavour): readonly JudgedListener[] {
  const protocols = new Map<number, string>();
  const hostnames = new Set<string>();
  const judge = (listener: ListenerView): ListenerVerdict => {
    const { port, protocol, hostname } = listener;
    const fault = faultOf(listener, flavour);
    const first = protocols.get(port);
    // A port either terminates TLS or passes it through.
    const mode = protocol === "TLS" && listener.isPassthrough ? "TLS passthrough" : protocol;
    const conflicts = first !== undefined && first !== mode && !areMerged(first, mode);
    // A protocol that is not served and takes a port from one that is, is in conflict with it: that is what its author has to mend.
    if (fault && !(fault.reason === "UnsupportedProtocol" && conflicts)) return fault;
    if (!fault && first === undefined) protocols.set(port, mode);
    const conflict: ListenerVerdict | undefined = conflicts
      ? { reason: "ProtocolConflict", message: `Protocol conflict for port ${port}` }
      : undefined;
    if (fault || hostname === "") return conflict ?? accepted;
    const place = `${port} ${hostname}`;
    if (hostnames.has(place))
      return { reason: "HostnameConflict", message: `Hostname conflict for port ${port} with hostname ${hostname}` };
    hostnames.add(place);
    return conflict ?? accepted;
  };
  return parents.flatMap((parent) =>
    parent.object.listeners.map((listener) => ({ parent, listener, kinds: kindsOf(listener, flavour), verdict: judge(listener) })),
  );
}

function faultOf({ name, port, protocol, kinds }: ListenerView, { routeKinds, protocols }: Flavour): ListenerVerdict | undefined {
  if (kinds.some((kind) => !routeKinds.some((each) => each === kind)))
    return { reason: "InvalidRouteKinds", message: `Invalid route kind for listener ${name}` };
  if (port < 1 || port > 65_535) return { reason: "PortUnavailable", message: `Port ${port} is not available (listener name ${name})` };
  if (!protocols.some((each) => each === protocol))
    return { reason: "UnsupportedProtocol", message: `Unsupported protocol ${protocol} for listener ${name}` };
  return undefined;
}

/** A TCP and a UDP listener of one port are one listener of AWS. */
const areMerged = (a: string, b: string) => [a, b].toSorted().join() === "TCP,UDP";

function kindsOf({ kinds, protocol }: ListenerView, { routeKinds }: Flavour): readonly string[] {
  return kinds.length === 0 ? (kindsByProtocol[protocol] ?? []) : routeKinds.filter((kind) => kinds.includes(kind));
}
