/** What the status of Gateways, ListenerSets and routes is to say: a second opinion. */
import type { StoredStatus } from "../bed/gateway-world.ts";
import {
  faultOf,
  flavourOf,
  type GatewayWish,
  gatewayOf,
  hasRules,
  isHeldBack,
  isSetValid,
  listenersFor,
  type RouteWish,
  type SetWish,
  type Wishes,
  wins,
} from "./gateways-wish.ts";

type Conditions = NonNullable<NonNullable<StoredStatus["status"]>["conditions"]>;
type Entry = NonNullable<NonNullable<StoredStatus["status"]>["parents"]>[number];

/** `Accepted=True Accepted`; with `at 1` where it is of another generation than the object. */
function texts({ metadata: { generation } }: StoredStatus, conditions: Conditions): readonly string[] {
  return conditions.map(({ type, status, reason, observedGeneration }) => {
    const isOld = observedGeneration !== generation;
    return `${type}=${status} ${reason}${isOld ? ` at ${observedGeneration} of ${generation}` : ""}`;
  });
}

/** Those that are not told, and what is told instead. */
function lacking(what: string, told: readonly string[], wanted: readonly string[]): readonly string[] {
  const missing = wanted.filter((text) => !told.some((each) => each === text || each.startsWith(`${text} `)));
  const old = told.filter((text) => text.includes(" at "));
  return [
    ...missing.map((text) => `${what} is not told ${text}, but ${told.join(", ") || "nothing"}`),
    ...old.map((text) => `${what} is told of an old generation: ${text}`),
  ];
}

export interface StandingBalancer {
  readonly arn: string;
  readonly hostname: string;
}

export function wrongGateway(wish: GatewayWish, object: StoredStatus, balancer: StandingBalancer | undefined, wishes: Wishes) {
  const what = `Gateway ${wish.name}`;
  const { conditions = [], addresses = [] } = object.status ?? {};
  const told = texts(object, conditions);
  if (isHeldBack(wish, wishes)) {
    const isTold = told.some((text) => text.startsWith("Accepted=False"));
    return isTold ? [] : [`${what} is not told of its mistake: ${wish.mistake ?? "class"}: ${told.join(", ")}`];
  }
  const arn = conditions.find(({ type }) => type === "Programmed")?.message ?? "";
  const published = addresses.map(({ value }) => value).join();
  return [
    ...lacking(what, told, ["Accepted=True", "Programmed=True Programmed"]),
    ...(balancer === undefined ? [`${what} has no load balancer of its scheme`] : []),
    ...(balancer && arn !== balancer.arn ? [`${what} is programmed as ${arn}, and is ${balancer.arn}`] : []),
    ...(balancer && published !== balancer.hostname ? [`${what} publishes ${published}, and is served at ${balancer.hostname}`] : []),
  ];
}

export function wrongSet(wish: SetWish, object: StoredStatus, wishes: Wishes): readonly string[] {
  const gateway = wishes.gateways.get(wish.gateway);
  const told = texts(object, object.status?.conditions ?? []);
  if (gateway?.isDeleted && gateway.className !== "theirs")
    return told.some((text) => text.startsWith("Programmed=True"))
      ? [`ListenerSet ${wish.name} is programmed by a Gateway that is gone`]
      : [];
  if (gateway === undefined || flavourOf(gateway) === undefined || isHeldBack(gateway, wishes)) return [];
  const wanted = !gateway.allowsSets
    ? ["Accepted=False NotAllowed"]
    : isSetValid(wish, gateway)
      ? ["Accepted=True Accepted", "Programmed=True Programmed"]
      : ["Accepted=False ListenersNotValid", "Programmed=False ListenersNotValid"];
  return lacking(`ListenerSet ${wish.name}`, told, wanted);
}

export function wrongRoute(wish: RouteWish, object: StoredStatus, wishes: Wishes): readonly string[] {
  const entries = (object.status?.parents ?? []).filter(({ controllerName }) => controllerName.startsWith("gateway.k8s.aws/"));
  const isNamed = ({ parentRef }: Entry) => {
    const { kind, name } = parentRef as RouteWish["parent"];
    return kind === wish.parent.kind && name === wish.parent.name;
  };
  // Of what is held back nothing is changed, nor what is told of it.
  const isHeld = ({ parentRef }: Entry) => {
    const former = gatewayOf({ ...wish, parent: parentRef as RouteWish["parent"] }, wishes);
    return former !== undefined && isHeldBack(former, wishes);
  };
  const stale = entries
    .filter((entry) => !isNamed(entry) && !isHeld(entry))
    .map(({ parentRef }) => `is told of ${JSON.stringify(parentRef)} still`);
  const gateway = gatewayOf(wish, wishes);
  const listeners = listenersFor(wish, wishes);
  const flavour = flavourOf(gateway);
  const what = `${wish.kind} ${wish.name}`;
  const left = stale.map((text) => `${what} ${text}`);
  if (gateway === undefined || listeners === undefined || flavour === undefined || isHeldBack(gateway, wishes)) return left;
  const entry = entries.find((each) => isNamed(each) && each.controllerName === `gateway.k8s.aws/${flavour}`);
  const told = texts(object, entry?.conditions ?? []);
  return [...left, ...wrongConditions(what, told, wish, listeners, wishes)];
}

function wrongConditions(
  what: string,
  told: readonly string[],
  wish: RouteWish,
  listeners: NonNullable<ReturnType<typeof listenersFor>>,
  wishes: Wishes,
): readonly string[] {
  const valid = listeners.filter(({ isValid }) => isValid);
  if (listeners.length === 0) return lacking(what, told, ["Accepted=False NotAllowedByListeners"]);
  if (valid.length === 0) return lacking(what, told, ["Accepted=False NoMatchingParent"]);
  const isRead = hasRules(wish) || valid.some(({ port }) => wins(wish, port, wishes));
  if (wish.mistake !== undefined && isRead) {
    const isTold = told.some((text) => /^(Accepted|ResolvedRefs)=False|^PartiallyInvalid=True/.test(text));
    return isTold ? [] : [`${what} is not told of its mistake: ${wish.mistake}: ${told.join(", ")}`];
  }
  const read = hasRules(wish) ? wish.services : wish.services.slice(0, isRead ? 1 : 0);
  const [fault] = read.flatMap((service) => faultOf(service, wishes) ?? []);
  const isMistaken = wish.mistake !== undefined;
  return lacking(what, told, [
    "Accepted=True Accepted",
    ...(isMistaken ? [] : [fault ? `ResolvedRefs=False ${fault}` : "ResolvedRefs=True ResolvedRefs"]),
  ]);
}

interface StoredClass {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly controllerName: string };
  readonly status?: { readonly conditions?: Conditions };
}

/** Where nobody leads yet, nobody has looked at them. */
export function undecidedClasses(objects: readonly object[]): readonly string[] {
  const own = (objects as readonly StoredClass[]).filter(({ spec }) => spec.controllerName.startsWith("gateway.k8s.aws/"));
  const isDecided = ({ status }: StoredClass) =>
    status?.conditions?.some(({ type, status: is }) => type === "Accepted" && is !== "Unknown");
  return own.filter((each) => !isDecided(each)).map(({ metadata }) => `GatewayClass ${metadata.name} is neither accepted nor refused`);
}
