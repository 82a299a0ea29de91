/** Those who use Gateways: they share load balancers, change their minds, make mistakes and mend them, move and leave. */
import { sleep } from "../../src/runtime/world.ts";
import { configurationRef, configurationsPath, pathOf, write } from "./gateways-place.ts";
import { newRoute, useRoute, writeRoute } from "./gateways-routes.ts";
import type { GatewaysScene } from "./gateways-scene.ts";
import { type ClassName, type GatewayWish, gatewayListeners, gatewayNames, type SetWish, setNames } from "./gateways-wish.ts";

const classNames: readonly ClassName[] = ["alb", "alb", "alb", "tuned", "tuned", "nlb", "nlb", "nlb", "theirs"];
const sharingAnnotation = "gateway.fairlead.io/share-target-groups";
const schemes = ["internal", "internet-facing", undefined];

/** What they begin with. */
const first = {
  a: { className: "alb", routes: ["k", "l"] },
  b: { className: "tuned", routes: ["m"] },
  c: { className: "nlb", routes: ["n"] },
} as const;
const routeKinds = { alb: "HTTPRoute", tuned: "HTTPRoute", nlb: "TCPRoute" } as const;

/** What people write into configurations that makes no sense; some of it only AWS refuses. */
const configurationMistakes: Readonly<Record<string, unknown>> = {
  loadBalancerSubnets: [{ identifier: "subnet-00000000000000bad" }],
  loadBalancerAttributes: [{ key: "no.such.attribute", value: "1" }],
  securityGroups: ["sg-00000000000000bad"],
};
const gatewayMistakes = ["parametersRef", ...Object.keys(configurationMistakes)];

/** Users, until the signal aborts. */
export async function useGateways(scene: GatewaysScene, signal: AbortSignal): Promise<void> {
  const { chance, world } = scene;
  const [gateway, set, route] = [useGateway, useSet, useRoute];
  for (const [name, { className, routes }] of Object.entries(first)) {
    await createGateway(scene, name, className);
    const parent = { kind: "Gateway", name } as const;
    for (const each of routes) await writeRoute(scene, "POST", { ...newRoute(scene, each), kind: routeKinds[className], parent });
  }
  while (!signal.aborted) {
    await sleep(world.clock, chance.between(2_000, 25_000), signal).catch(() => {});
    if (!signal.aborted) await chance.pick([gateway, gateway, set, route, route])!(scene);
  }
}

/** Looks every few seconds who has all it wants. */
export async function lookAround(scene: GatewaysScene, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    scene.settle();
    await sleep(scene.world.clock, 3_000, signal).catch(() => {});
  }
}

/** Everybody leaves. */
export async function deleteAll(scene: GatewaysScene): Promise<void> {
  for (const wish of scene.gateways.values()) if (!wish.isDeleted) await removeGateway(scene, wish);
  for (const wish of scene.sets.values()) if (!wish.isDeleted) await writeSet(scene, "DELETE", { ...wish, isDeleted: true });
  for (const wish of scene.routes.values()) if (!wish.isDeleted) await writeRoute(scene, "DELETE", { ...wish, isDeleted: true });
}

/** Asks for the same in another way, so that it is looked at again. */
export async function touch(scene: GatewaysScene, name: string): Promise<void> {
  const annotations = { "example.com/looked-at": String(Math.round(scene.world.clock.monotonic())) };
  await scene.say("user", "PATCH", `${pathOf("Gateway")}/${name}`, { metadata: { annotations } });
}

async function useGateway(scene: GatewaysScene): Promise<void> {
  const { chance } = scene;
  const name = chance.pick(gatewayNames)!;
  const wish = scene.gateways.get(name);
  const stored = scene.object("Gateway", name);
  if (stored === undefined) return createGateway(scene, name, chance.pick(classNames)!);
  if (wish === undefined || wish.isDeleted) return;
  if (chance.happens(0.12)) await removeGateway(scene, wish);
  else if (wish.mistake !== undefined) await (chance.happens(0.6) ? mend(scene, wish) : undefined);
  else if (chance.happens(0.4)) await err(scene, wish);
  else await changeMind(scene, wish);
}

async function createGateway(scene: GatewaysScene, name: string, className: ClassName): Promise<void> {
  const wish: GatewayWish = {
    name,
    className,
    ports: portsOf(scene, className),
    scheme: undefined,
    allowsSets: scene.chance.happens(0.7),
    sharesGroups: scene.knowsSharing && scene.chance.happens(0.6),
    mistake: undefined,
    isDeleted: false,
  };
  const nothing = Object.fromEntries(Object.keys(configurationMistakes).map((key) => [key, null]));
  await scene.say("user", "PATCH", `${configurationsPath}/${name}`, { spec: { ...nothing, scheme: null } });
  scene.wishGateway(wish);
  const annotations = wish.sharesGroups ? { [sharingAnnotation]: "true" } : undefined;
  await write(scene, "POST", "Gateway", name, gatewaySpec(wish), { ...(annotations && { annotations }) });
}

function portsOf({ chance }: GatewaysScene, className: ClassName): readonly number[] {
  return chance.pick(className === "nlb" ? [[80], [80, 53], [80, 443], [8080]] : [[80], [80, 8080], [8080], [80, 443], [443]])!;
}

/** Other ports, another class or scheme; ListenerSets may join, or no more; routes share target groups, or cease to. */
async function changeMind(scene: GatewaysScene, wish: GatewayWish): Promise<void> {
  const { chance } = scene;
  const className = chance.pick(classNames)!;
  const scheme = chance.pick(schemes);
  const deeds: readonly (() => Promise<void>)[] = [
    () => writeGateway(scene, { ...wish, ports: portsOf(scene, wish.className) }),
    () => writeGateway(scene, { ...wish, className, ports: portsOf(scene, className) }),
    () => writeGateway(scene, { ...wish, allowsSets: !wish.allowsSets }),
    () => configure(scene, { ...wish, scheme }, { scheme: scheme ?? null }),
    ...(scene.knowsSharing ? [() => share(scene, { ...wish, sharesGroups: !wish.sharesGroups })] : []),
  ];
  await chance.pick(deeds)!();
}

async function err(scene: GatewaysScene, wish: GatewayWish): Promise<void> {
  const mistake = scene.chance.pick(gatewayMistakes)!;
  if (mistake === "parametersRef") await writeGateway(scene, { ...wish, mistake });
  else await configure(scene, { ...wish, mistake }, { [mistake]: configurationMistakes[mistake] });
}

async function mend(scene: GatewaysScene, wish: GatewayWish): Promise<void> {
  const right = { ...wish, mistake: undefined };
  if (wish.mistake === "parametersRef") await writeGateway(scene, right);
  else await configure(scene, right, { [wish.mistake!]: null });
}

/** Before it is written: from the next moment on a replica may act on it. */
async function configure(scene: GatewaysScene, wish: GatewayWish, spec: object): Promise<void> {
  scene.wishGateway(wish);
  await scene.say("user", "PATCH", `${configurationsPath}/${wish.name}`, { spec });
}

async function writeGateway(scene: GatewaysScene, wish: GatewayWish): Promise<void> {
  scene.wishGateway(wish);
  await write(scene, "PATCH", "Gateway", wish.name, gatewaySpec(wish));
}

async function share(scene: GatewaysScene, wish: GatewayWish): Promise<void> {
  scene.wishGateway(wish);
  const annotations = { [sharingAnnotation]: wish.sharesGroups ? "true" : scene.chance.pick(["false", null])! };
  await scene.say("user", "PATCH", `${pathOf("Gateway")}/${wish.name}`, { metadata: { annotations } });
}

async function removeGateway(scene: GatewaysScene, wish: GatewayWish): Promise<void> {
  scene.wishGateway({ ...wish, isDeleted: true });
  await scene.say("user", "DELETE", `${pathOf("Gateway")}/${wish.name}`);
}

function gatewaySpec(wish: GatewayWish): object {
  const { name, className, mistake, allowsSets } = wish;
  return {
    gatewayClassName: className,
    listeners: gatewayListeners(wish).map(({ port, protocol }) => ({
      name: `on-${port}`,
      port,
      protocol,
      ...(protocol === "TLS" && { tls: { mode: "Passthrough" } }),
    })),
    allowedListeners: { namespaces: { from: allowsSets ? "Same" : "None" } },
    infrastructure: { parametersRef: configurationRef(mistake === "parametersRef" ? "nowhere" : name) },
  };
}

async function useSet(scene: GatewaysScene): Promise<void> {
  const { chance } = scene;
  if (scene.late.has("ListenerSet")) return;
  const name = chance.pick(setNames)!;
  const known = scene.object("ListenerSet", name) && scene.sets.get(name);
  if (known && !known.isDeleted && chance.happens(0.3)) return writeSet(scene, "DELETE", { ...known, isDeleted: true });
  const wish: SetWish = {
    name,
    gateway: known?.gateway ?? chance.pick(gatewayNames)!,
    protocol: chance.pick(["HTTP", "HTTP", "TCP"] as const)!,
    port: chance.pick([9090, 9091, 80, 443])!,
    isDeleted: false,
  };
  await writeSet(scene, known ? "PATCH" : "POST", wish);
}

async function writeSet(scene: GatewaysScene, method: string, wish: SetWish): Promise<void> {
  const { name, gateway, protocol, port } = wish;
  scene.wishSet(wish);
  const spec = { parentRef: { name: gateway }, listeners: [{ name: `on-${port}`, port, protocol }] };
  await write(scene, method, "ListenerSet", name, spec);
}
