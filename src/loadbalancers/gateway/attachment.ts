/** Which routes attach to which listeners, and what is said to those that do not. Pure. */
import { hostnamesBehind } from "./hostnames.ts";
import { allows, type NamespaceLabels } from "./listener-sets.ts";
import { isValid, type JudgedListener, type ListenerParent } from "./listener-validation.ts";
import { keyOf, type ParentRef, type RouteView } from "./view.ts";

/** Why a route is not as its author wants it: reasons are the API's. */
export interface RouteFailure {
  readonly reason: string;
  readonly message: string;
}

export interface AttachedRoute {
  readonly route: RouteView;
  /** What it answers for on a port; an empty one: every name. */
  readonly hostnames: readonly string[];
}

/** What becomes of one parentRef of a route. */
export interface RefVerdict {
  readonly route: RouteView;
  readonly ref: ParentRef;
  readonly failure?: RouteFailure;
}

export interface Attachment {
  /** Over valid listeners, by port. */
  readonly byPort: ReadonlyMap<number, readonly AttachedRoute[]>;
  readonly refs: readonly RefVerdict[];
  /** How many routes each listener has, valid or not. */
  attachedTo(listener: JudgedListener): number;
}

export function attachRoutes(
  routes: readonly RouteView[],
  parents: readonly ListenerParent[],
  listeners: readonly JudgedListener[],
  labelsOf: NamespaceLabels,
  rejected: readonly ListenerParent[] = [],
): Attachment {
  const byPort = new Map<number, Map<RouteView, Set<string>>>();
  const counts = new Map<JudgedListener, Set<RouteView>>();
  const refs: RefVerdict[] = [];
  for (const route of routes) {
    if (route.isDeleted) continue;
    for (const ref of route.parentRefs) {
      const refusing = rejected.find((parent) => isNamed(parent, ref, route.namespace));
      if (refusing) refs.push({ route, ref, failure: onRejected(refusing) });
      if (!parents.some((parent) => isNamed(parent, ref, route.namespace))) continue;
      const own = listeners.filter(({ parent }) => isNamed(parent, ref, route.namespace));
      const { taken, failure } = attach(route, ref, own, labelsOf);
      for (const { judged, hostnames } of taken) {
        counts.set(judged, (counts.get(judged) ?? new Set()).add(route));
        if (!isValid(judged)) continue;
        const ofPort = byPort.get(judged.listener.port) ?? new Map<RouteView, Set<string>>();
        byPort.set(judged.listener.port, ofPort);
        ofPort.set(route, new Set([...(ofPort.get(route) ?? []), ...hostnames]));
      }
      refs.push({ route, ref, ...(failure && { failure }) });
    }
  }
  return {
    byPort: new Map([...byPort].map(([port, all]) => [port, [...all].map(([route, hosts]) => ({ route, hostnames: [...hosts] }))])),
    refs,
    attachedTo: (listener) => counts.get(listener)?.size ?? 0,
  };
}

/** Its Gateway does not take a ListenerSet: nothing of it is served. */
const onRejected = ({ kind, object }: ListenerParent): RouteFailure => ({
  reason: "NotAllowedByListeners",
  message: `${kind} ${keyOf(object)} is not allowed by its Gateway`,
});

/** Whether a parentRef means a Gateway or ListenerSet. */
export function isNamed({ kind, object }: ListenerParent, ref: ParentRef, home: string): boolean {
  return ref.kind === kind && ref.name === object.name && (ref.namespace || home) === object.namespace;
}

interface Taken {
  readonly judged: JudgedListener;
  readonly hostnames: readonly string[];
}

function attach(
  route: RouteView,
  ref: ParentRef,
  own: readonly JudgedListener[],
  labelsOf: NamespaceLabels,
): { readonly taken: readonly Taken[]; readonly failure?: RouteFailure } {
  const candidates = own.filter(
    ({ listener }) => (ref.sectionName === "" || listener.name === ref.sectionName) && (ref.port === 0 || listener.port === ref.port),
  );
  if (candidates.length === 0)
    return { taken: [], failure: { reason: "NoMatchingParent", message: "Route parentRef does not match listener" } };
  const taken: Taken[] = [];
  let first: RouteFailure | undefined;
  for (const judged of candidates) {
    const answer = hostnamesOn(judged, route, labelsOf);
    if ("reason" in answer) first ??= answer;
    else taken.push({ judged, hostnames: answer.hostnames });
  }
  if (taken.some(({ judged }) => isValid(judged))) return { taken };
  const [invalid] = taken;
  return { taken, failure: invalid ? onInvalid(invalid.judged) : first! };
}

/** Nothing is served by a listener that is not valid: whoever attaches to no other is told so. */
function onInvalid({ listener, verdict, parent }: JudgedListener): RouteFailure {
  const where = `${parent.kind} ${keyOf(parent.object)}`;
  return {
    reason: "NoMatchingParent",
    message: `Listener ${listener.name} of ${where} is not valid: ${verdict.message} (${verdict.reason})`,
  };
}

const refusal = (reason: string, what: string): RouteFailure => ({
  reason,
  message: `Listener does not allow route attachment, ${what}`,
});

function hostnamesOn(
  { listener, parent, kinds }: JudgedListener,
  route: RouteView,
  labelsOf: NamespaceLabels,
): RouteFailure | { readonly hostnames: readonly string[] } {
  if (!allows(listener.namespaces, parent.object.namespace, route.namespace, labelsOf))
    return refusal("NotAllowedByListeners", "namespace does not match between listener and route");
  if (!kinds.includes(route.kind)) return refusal("NotAllowedByListeners", "kind does not match between listener and route");
  const hostnames = hasHostnames(route) ? hostnamesBehind(listener.hostname, route.hostnames) : [listener.hostname];
  return hostnames === undefined ? refusal("NoMatchingListenerHostname", "no matching hostname") : { hostnames };
}

const hasHostnames = ({ kind }: RouteView) => kind === "HTTPRoute" || kind === "GRPCRoute" || kind === "TLSRoute";
