/** Authors of routes: they lead to Services, some of another namespace, make mistakes and mend them, and move between parents. */
import { homeOf } from "./backends.ts";
import { write } from "./gateways-place.ts";
import type { GatewaysScene } from "./gateways-scene.ts";
import {
  flavourKinds,
  flavourOf,
  gatewayNames,
  hasRules,
  longPath,
  type RouteKind,
  type RouteWish,
  routeNames,
  setNames,
} from "./gateways-wish.ts";

const kinds: readonly RouteKind[] = ["HTTPRoute", "HTTPRoute", "HTTPRoute", "GRPCRoute", "GRPCRoute", "TCPRoute", "UDPRoute", "TLSRoute"];

/** What is wrong with a backend of a route. */
const backendMistakes: Readonly<Record<string, object>> = {
  missing: { name: "nowhere", port: 80 },
  port: { name: "web", port: 81 },
  kind: { kind: "ConfigMap", name: "web", port: 80 },
  weight: { name: "web", port: 80, weight: 1000 },
};
const longName = "x".repeat(130);

/** One of them does something. */
export async function useRoute(scene: GatewaysScene): Promise<void> {
  const { chance } = scene;
  const name = chance.pick(routeNames)!;
  const wish = scene.routes.get(name);
  const known = wish && scene.object(wish.kind, name) && wish;
  if (known === undefined) return writeRoute(scene, "POST", newRoute(scene, name));
  if (chance.happens(0.15)) return writeRoute(scene, "DELETE", { ...known, isDeleted: true });
  if (known.mistake !== undefined && chance.happens(0.6)) return writeRoute(scene, "PATCH", { ...known, mistake: undefined });
  if (chance.happens(0.25)) {
    const mistakes = [...Object.keys(backendMistakes), ...(hasRules(known) ? [longPath, longPath] : [])];
    return writeRoute(scene, "PATCH", { ...known, mistake: chance.pick(mistakes)! });
  }
  await writeRoute(scene, "PATCH", newRoute(scene, name, known.kind));
}

/** Leads anywhere; of the kind that is given, if any. */
export function newRoute({ chance, services, gateways, late }: GatewaysScene, name: string, given?: RouteKind): RouteWish {
  const some = services.filter(() => chance.happens(0.5));
  const isOfSet = chance.happens(0.2);
  const kind = given ?? chance.pick(kinds.filter((each) => !late.has(each)))!;
  // Most know which Gateway takes their kind of route.
  const fitting = [...gateways.values()].filter((each) => flavourKinds[flavourOf(each) ?? "alb"].includes(kind)).map(({ name: of }) => of);
  const gateway = chance.pick(chance.happens(0.8) && fitting.length > 0 ? fitting : gatewayNames)!;
  return {
    name,
    kind,
    parent: isOfSet ? { kind: "ListenerSet", name: chance.pick(setNames)! } : { kind: "Gateway", name: gateway },
    host: `${name}${Math.floor(chance.between(1, 4))}.example.com`,
    services: some.length > 0 ? some : [services[0]],
    mistake: undefined,
    isDeleted: false,
  };
}

/** Before it is written: from the next moment on a replica may act on it. */
export async function writeRoute(scene: GatewaysScene, method: string, wish: RouteWish): Promise<void> {
  scene.wishRoute(wish);
  await write(scene, method, wish.kind, wish.name, routeSpec(wish));
}

function routeSpec(wish: RouteWish): object {
  const { kind, parent, host, services, mistake } = wish;
  const parentRefs = [{ group: "gateway.networking.k8s.io", ...parent }];
  const backends = services.map((service, i) => {
    const [namespace, name] = homeOf(service);
    const wrong = i === 0 && mistake !== undefined ? backendMistakes[mistake] : undefined;
    return wrong ?? { name, port: 80, ...(namespace !== "default" && { namespace }) };
  });
  if (!hasRules(wish)) return { parentRefs, rules: [{ backendRefs: backends.slice(0, 1) }] };
  const rules = services.map((service, i) => ({
    matches: [matchOf(kind, mistake === longPath && i === 0 ? longName : homeOf(service)[1])],
    backendRefs: [backends[i]],
  }));
  return { parentRefs, hostnames: [host], rules };
}

const matchOf = (kind: RouteKind, name: string) =>
  kind === "GRPCRoute" ? { method: { service: name } } : { path: { type: "PathPrefix", value: `/${name}` } };
