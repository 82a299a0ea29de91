/** What is said of a Gateway and its ListenerSets in their status. Pure. */
import { ownConditions, type Said, said } from "./conditions.ts";
import { gatewayGroup } from "./grants.ts";
import { isValid, type JudgedListener } from "./listener-validation.ts";
import type { Condition } from "./view.ts";

export interface ListenerStatus {
  readonly name: string;
  readonly supportedKinds: readonly { readonly group: string; readonly kind: string }[];
  readonly attachedRoutes: number;
  readonly conditions: readonly Condition[];
}

export interface GatewayStatus {
  readonly addresses: readonly { readonly type: string; readonly value: string }[];
  readonly attachedListenerSets?: number;
  readonly conditions: readonly Condition[];
  readonly listeners: readonly ListenerStatus[];
}

/** The load balancer of a Gateway, as far as its status tells of it. */
export interface Balancer {
  readonly arn: string;
  readonly hostname: string;
  readonly isActive: boolean;
}

/** When, and of which generation of the object. */
export interface Moment {
  readonly generation: number;
  /** RFC 3339 */
  readonly now: string;
}

/** Why the Gateway as a whole is not served; what is programmed stays so, and what is not is told to wait for the same. */
export function rejected(reason: string, message: string, stored: readonly Condition[]): readonly Said[] {
  const accepted = said("Accepted", false, reason, message);
  const isProgrammed = stored.some(({ type, status }) => type === "Programmed" && status === "True");
  return isProgrammed ? [accepted] : [accepted, said("Programmed", false, "Invalid", "The Gateway is not accepted.")];
}

export function gatewayConditions(listeners: readonly JudgedListener[], balancer: Balancer | undefined): readonly Said[] {
  const areAllValid = listeners.every(isValid);
  const accepted = said("Accepted", listeners.some(isValid), areAllValid ? "Accepted" : "ListenersNotValid", "");
  if (!balancer?.isActive) return [accepted, said("Programmed", undefined, "Pending", "Waiting for load balancer to be active.")];
  // Other Gateways read the ARN here.
  return [accepted, said("Programmed", true, "Programmed", balancer.arn)];
}

export const addressesOf = ({ hostname }: Balancer) => [{ type: "Hostname", value: hostname.toLowerCase() }];

export function setConditions(listeners: readonly JudgedListener[], isGatewayActive: boolean): readonly Said[] {
  const isAny = listeners.some(isValid);
  const areAll = listeners.every(isValid);
  const accepted = areAll
    ? said("Accepted", isAny, "Accepted", "Accepted")
    : said("Accepted", isAny, "ListenersNotValid", "Some listeners are not valid");
  const programmed = !isAny
    ? said("Programmed", false, "ListenersNotValid", "No valid listeners to materialize")
    : isGatewayActive
      ? said("Programmed", true, "Programmed", "Programmed")
      : said("Programmed", false, "Pending", "Parent gateway not yet programmed");
  return [accepted, programmed];
}

/** Of a ListenerSet that its Gateway does not take. */
export const notAllowed: readonly Said[] = [
  said("Accepted", false, "NotAllowed", "Parent Gateway rejected ListenerSet"),
  said("Programmed", false, "NotAllowed", "Parent Gateway rejected ListenerSet"),
];

/** Of a ListenerSet whose Gateway is gone. */
export function orphaned(message: string): readonly Said[] {
  return [said("Accepted", false, "ParentNotAccepted", message), said("Programmed", false, "ParentNotAccepted", message)];
}

/** Reasons that make each condition false. */
const failing = {
  Conflicted: ["HostnameConflict", "ProtocolConflict"],
  Accepted: ["PortUnavailable", "UnsupportedProtocol", "HostnameConflict", "ProtocolConflict"],
  ResolvedRefs: ["InvalidRouteKinds", "RefNotPermitted"],
} as const;

/** `fault`: why the port is not what it is asked to be. */
export function listenerConditions({ verdict }: Pick<JudgedListener, "verdict">, isProgrammed: boolean, fault?: string): readonly Said[] {
  const { reason, message } = verdict;
  const isIn = (reasons: readonly string[]) => reasons.includes(reason);
  const text = message || reason;
  return [
    isIn(failing.Conflicted)
      ? said("Conflicted", true, reason, text)
      : said("Conflicted", false, "NoConflicts", "Listener has no conflict."),
    isIn(failing.Accepted) ? said("Accepted", false, reason, text) : said("Accepted", true, "Accepted", "Listener is accepted."),
    isIn(failing.ResolvedRefs)
      ? said("ResolvedRefs", false, reason, text)
      : said("ResolvedRefs", true, "ResolvedRefs", "Listener has all refs resolved."),
    programmed(reason, isProgrammed, fault),
  ];
}

function programmed(reason: string, isProgrammed: boolean, fault: string | undefined): Said {
  if (reason !== "Accepted") return said("Programmed", false, reason, "Listener is not accepted.");
  if (fault !== undefined) return said("Programmed", false, "Invalid", fault);
  return isProgrammed
    ? said("Programmed", true, "Programmed", "Listener is programmed.")
    : said("Programmed", false, "Pending", "Listener is pending to be programmed.");
}

export function listenerStatuses(
  listeners: readonly JudgedListener[],
  attachedTo: (listener: JudgedListener) => number,
  { isProgrammed, portFaults }: { readonly isProgrammed: boolean; readonly portFaults: ReadonlyMap<number, string> },
  stored: readonly ListenerStatus[],
  { generation, now }: Moment,
): readonly ListenerStatus[] {
  return listeners.map((judged) => {
    const { name, port } = judged.listener;
    const before = stored.find((each) => each.name === name)?.conditions ?? [];
    return {
      name,
      supportedKinds: judged.kinds.map((kind) => ({ group: gatewayGroup, kind })),
      attachedRoutes: attachedTo(judged),
      conditions: ownConditions(before, listenerConditions(judged, isProgrammed, portFaults.get(port)), generation, now),
    };
  });
}
