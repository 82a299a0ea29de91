/** Says what became of a Gateway, its listeners, its ListenerSets and its routes, each in its own status. */
import type { Ask } from "../../aws/ask.ts";
import { again, type Outcome } from "../../runtime/controller.ts";
import { conditionsAt } from "./conditions.ts";
import type { GatewayContext } from "./context.ts";
import type { GatewayDesire } from "./desire.ts";
import { isValid } from "./listener-validation.ts";
import { concernedRoutes, goneSets, type Loaded } from "./load.ts";
import type { SeenGateway, SeenRoute, Telling } from "./report.ts";
import { type ParentVerdict, parentsOf, routeConditions } from "./route-status.ts";
import {
  addressesOf,
  type Balancer,
  gatewayConditions,
  listenerStatuses,
  type Moment,
  notAllowed,
  orphaned,
  rejected,
  setConditions,
} from "./status.ts";
import { staleMs } from "./telling.ts";
import { keyOf, type ObjectName, type ParentRef, routeKeyOf } from "./view.ts";
import { gatewaysOfSet } from "./wakes.ts";

type TellContext = Pick<GatewayContext, "report" | "host" | "objects" | "flavour">;

function momentOf(generation: number, { host }: Pick<TellContext, "host">): Moment {
  return { generation, now: `${new Date(host.world.clock.now()).toISOString().slice(0, 19)}Z` };
}

/** Why the Gateway as a whole is not served. What is programmed stays so. False: it has changed since it was seen. */
export async function tellRejected(
  gateway: SeenGateway,
  reason: string,
  message: string,
  context: TellContext,
  { signal }: Ask,
): Promise<boolean> {
  const { generation, now } = momentOf(gateway.view.generation, context);
  const stored = gateway.status.conditions;
  const conditions = conditionsAt(stored, rejected(reason, message, stored), generation, now);
  return (await context.report.publish(gateway, { conditions }, signal)) !== "stale";
}

type PortFaults = Pick<GatewayDesire, "portFaults">;

/** The Gateway's own status, with the address under which it is reached. */
export async function tellGateway(
  gateway: SeenGateway,
  { wish: { listeners, attachment } }: Loaded,
  { balancer, portFaults }: PortFaults & { readonly balancer: Balancer },
  context: TellContext,
  { signal }: Ask,
): Promise<Telling> {
  const { view, status } = gateway;
  const moment = momentOf(view.generation, context);
  const own = listeners.filter(({ parent }) => parent.kind === "Gateway");
  const sets = new Set(
    listeners.filter((each) => isValid(each) && each.parent.kind === "ListenerSet").map(({ parent }) => keyOf(parent.object)),
  );
  const conditions = conditionsAt(status.conditions, gatewayConditions(listeners, balancer), moment.generation, moment.now);
  return context.report.publish(
    gateway,
    {
      ...(balancer.hostname !== "" && { addresses: addressesOf(balancer) }),
      ...(context.objects.sets && { attachedListenerSets: sets.size }),
      conditions,
      listeners: listenerStatuses(own, attachment.attachedTo, { isProgrammed: balancer.isActive, portFaults }, status.listeners, moment),
    },
    signal,
  );
}

/** False: one was not as it was seen. */
export async function tellSets(
  { wish, sets }: Loaded,
  { isActive, portFaults }: PortFaults & Pick<Balancer, "isActive">,
  context: TellContext,
  { signal }: Ask,
): Promise<boolean> {
  const { objects, report } = context;
  const tell = async (key: string, isTaken: boolean) => {
    const set = objects.sets?.get(key);
    if (set === undefined) return true;
    const moment = momentOf(set.view.generation, context);
    const own = wish.listeners.filter(({ parent }) => parent.kind === "ListenerSet" && keyOf(parent.object) === key);
    const said = isTaken ? setConditions(own, isActive) : notAllowed;
    const isProgrammed = isActive && own.some(isValid);
    return report.tellSet(
      set,
      {
        conditions: conditionsAt(set.conditions, said, moment.generation, moment.now),
        listeners: isTaken ? listenerStatuses(own, wish.attachment.attachedTo, { isProgrammed, portFaults }, set.listeners, moment) : [],
      },
      signal,
    );
  };
  const accepted = await Promise.all(sets.accepted.map((set) => tell(keyOf(set), true)));
  const refused = await Promise.all(sets.rejected.map((set) => tell(keyOf(set), false)));
  return [...accepted, ...refused].every(Boolean);
}

/** Tells each route what became of it here. One whose author has changed it meanwhile is told by the next look. */
export async function tellRoutes(
  { wish, parents }: Loaded,
  failures: GatewayDesire["failures"],
  context: TellContext,
  { signal }: Ask,
): Promise<boolean> {
  const failed = new Map([...failures].map(([route, some]) => [routeKeyOf(route), some]));
  const refsOf = Map.groupBy(wish.attachment.refs, ({ route }) => routeKeyOf(route));
  const { controllerName } = context.flavour;
  const told: boolean[] = [];
  for (const route of concernedRoutes(parents, controllerName, context.objects)) {
    const refs = refsOf.get(routeKeyOf(route.view)) ?? [];
    if (refs.some((each) => each.route.generation !== route.view.generation)) continue;
    const verdicts = refs.map(
      ({ ref, route: view, failure }): ParentVerdict => ({
        ref,
        conditions: routeConditions(view, failure, failed.get(routeKeyOf(view)) ?? []),
      }),
    );
    const gone = goneSets(route, controllerName, context.objects).map((ref) => ({ ref, conditions: goneConditions(route, ref) }));
    told.push(await tellRoute(route, [...verdicts, ...gone], context, signal));
  }
  return told.every(Boolean);
}

const goneText = (kind: string, object: ObjectName) => `${kind} ${keyOf(object)} is gone`;

const unparented = ({ view }: SeenRoute, message: string) => routeConditions(view, { reason: "ParentRefDoesNotExist", message }, []);

const goneConditions = (route: SeenRoute, { kind, namespace, name }: ParentRef) =>
  unparented(route, goneText(kind, { namespace: namespace || route.view.namespace, name }));

function tellRoute(route: SeenRoute, verdicts: readonly ParentVerdict[], context: TellContext, signal: AbortSignal): Promise<boolean> {
  const { report, flavour } = context;
  const moment = momentOf(route.view.generation, context);
  return report.tellRoute(route, parentsOf(route.view, route.parents, verdicts, flavour.controllerName, moment), signal);
}

/**
 * A Gateway is gone, or another controller's: routes that were told of it, or of one of its ListenerSets, and still name it are
 * told so, the others of it no more.
 */
export async function tellGone(gateway: ObjectName, context: TellContext, { signal }: Ask): Promise<boolean> {
  const { controllerName } = context.flavour;
  const { gateways, routes, sets } = context.objects;
  const there = gateways.get(keyOf(gateway))?.view;
  const message =
    there && !there.isDeleted
      ? `Gateway ${keyOf(gateway)} is of GatewayClass ${there.className} now, which another controller serves`
      : goneText("Gateway", gateway);
  const objectOf = ({ namespace, name }: ParentRef, { view }: SeenRoute) => keyOf({ namespace: namespace || view.namespace, name });
  const setOf = (ref: ParentRef, route: SeenRoute) => sets?.get(objectOf(ref, route));
  const isSetOf = (ref: ParentRef, route: SeenRoute) => {
    const set = ref.kind === "ListenerSet" ? setOf(ref, route) : undefined;
    return set !== undefined && gatewaysOfSet(set).includes(keyOf(gateway));
  };
  // Of one that is gone nobody else looks after its routes either.
  const isGoneSet = (ref: ParentRef, route: SeenRoute) => ref.kind === "ListenerSet" && setOf(ref, route) === undefined;
  const concerns = (ref: ParentRef, route: SeenRoute) => names(ref, route, gateway) || isSetOf(ref, route);
  const told: boolean[] = [];
  for (const route of routes.flatMap((kind) => kind.list())) {
    const own = route.parents.filter((entry) => entry.controllerName === controllerName).map(({ parentRef }) => parentRef);
    if (!own.some((ref) => concerns(ref, route) || isGoneSet(ref, route))) continue;
    const isTold = (ref: ParentRef) => own.some((each) => each.kind === ref.kind && objectOf(each, route) === objectOf(ref, route));
    // Of one that another controller serves it is told what it was told here before, and no more.
    const refs = route.view.parentRefs.filter((ref) => concerns(ref, route) && (isTold(ref) || there === undefined));
    const gone = goneSets(route, controllerName, context.objects);
    const verdicts = [
      ...refs.map((ref) => ({ ref, conditions: unparented(route, message) })),
      ...gone.map((ref) => ({ ref, conditions: goneConditions(route, ref) })),
    ];
    told.push(await tellRoute(route, verdicts, context, signal));
  }
  return told.every(Boolean);
}

/** The ListenerSets of a Gateway that has just been removed. They do not say who serves them, so nobody else's may be told. */
export async function tellOrphans(gateway: ObjectName, context: TellContext, { signal }: Ask): Promise<boolean> {
  const { objects, report } = context;
  const orphans = (objects.sets?.list() ?? []).filter((set) => !set.view.isDeleted && gatewaysOfSet(set).includes(keyOf(gateway)));
  const told = orphans.map((set) => {
    const { generation, now } = momentOf(set.view.generation, context);
    const conditions = conditionsAt(set.conditions, orphaned(goneText("Gateway", gateway)), generation, now);
    return report.tellSet(set, { conditions, listeners: [] }, signal);
  });
  return (await Promise.all(told)).every(Boolean);
}

const names = ({ kind, namespace, name }: ParentRef, { view }: SeenRoute, gateway: ObjectName) =>
  kind === "Gateway" && name === gateway.name && (namespace || view.namespace) === gateway.namespace;

/** Some object was not as it was seen: the next look says what this one could not. */
export const unlessTold = (...told: readonly boolean[]): Outcome | undefined =>
  told.every(Boolean) ? undefined : again(staleMs, "an object has changed in the meantime");
