/** Those who use Services with a class: they change their minds about everything, make mistakes and mend them, hand over and leave. */

import { sleep } from "../../src/runtime/world.ts";
import { type ClassesScene, type ClassWish, names, nodePortOf, ourServers, type Server } from "./classes-scene.ts";
import { allPorts } from "./classes-world.ts";

const path = "/api/v1/namespaces/default/services";
const prefix = "service.beta.kubernetes.io/aws-load-balancer-";

/** What people write that makes no sense, by annotation; some of it only AWS refuses. */
const mistakes: Readonly<Record<string, readonly string[]>> = {
  "healthcheck-protocol": ["FTP"],
  "healthcheck-interval": ["often", "1"],
  "ssl-ports": ["8443"],
  subnets: ["subnet-0123456789abcdef0", "nowhere"],
  "ip-address-type": ["ipv6"],
  "target-group-attributes": ["preserve_client_ip.enabled=maybe", "x"],
  attributes: ["load_balancing.cross_zone.enabled=perhaps", "dns_record.client_routing_policy=near"],
  "additional-resource-tags": ["a,b"],
  "private-ipv4-addresses": ["10.0.0.300"],
};

/** Whom a Service can be handed to: a class stays as long as the type does. */
const handOvers: Readonly<Record<Server, readonly Server[]>> = {
  class: ["nobody"],
  "another class": ["nobody"],
  external: ["manager", "nlb-ip", "nobody"],
  "nlb-ip": ["manager", "external", "nobody"],
  manager: ["external", "nlb-ip", "nobody"],
  nobody: ["class", "class", "external", "manager", "another class"],
};

/** Users, until the signal aborts. */
export async function useServices(scene: ClassesScene, signal: AbortSignal): Promise<void> {
  await repeatedly(scene, [5_000, 35_000], signal, () => useOne(scene));
}

async function useOne(scene: ClassesScene): Promise<void> {
  const { chance } = scene;
  const name = chance.pick(names)!;
  const wish = scene.wishes.get(name);
  const service = scene.w.get(name);
  if (service === undefined) return create(scene, name);
  if (wish === undefined || wish.isDeleted) return;
  if (chance.happens(0.12)) return remove(scene, wish);
  if (wish.mistake !== undefined)
    return chance.happens(0.5) ? write(scene, { ...wish, mistake: undefined }, { [wish.mistake]: null }) : undefined;
  if (ourServers.includes(wish.server) && chance.happens(0.3)) return err(scene, wish);
  return changeMind(scene, wish);
}

/** Deployments are rolled out, grow and shrink, until the signal aborts. */
export async function useDeployments(scene: ClassesScene, signal: AbortSignal): Promise<void> {
  await repeatedly(scene, [5_000, 50_000], signal, () => changeDeployment(scene));
}

/** Their controller and kubelets do their part, until the signal aborts. */
export async function runPods(scene: ClassesScene, signal: AbortSignal): Promise<void> {
  await repeatedly(scene, [500, 4_000], signal, () => scene.step());
}

async function repeatedly(
  { world, chance }: ClassesScene,
  [minMs, maxMs]: readonly [number, number],
  signal: AbortSignal,
  work: () => Promise<void> | void,
): Promise<void> {
  while (!signal.aborted) {
    await work();
    await sleep(world.clock, chance.between(minMs, maxMs), signal).catch(() => {});
  }
}

function changeDeployment({ chance, rollouts, history }: ClassesScene): void {
  const rollout = chance.pick([...rollouts.values()])!;
  const grows = chance.happens(0.4);
  history.tell("user", `${grows ? "scales" : "rolls"} ${rollout.name}`);
  if (grows) rollout.scale(Math.floor(chance.between(1, 5)));
  else rollout.roll();
}

/** Everybody leaves. */
export async function deleteAll(scene: ClassesScene): Promise<void> {
  scene.leave();
  for (const wish of scene.wishes.values()) if (!wish.isDeleted) await remove(scene, wish);
  for (const name of ["own", "shared"]) await scene.w.unbind(name);
}

async function create(scene: ClassesScene, name: string): Promise<void> {
  const { chance } = scene;
  const server = chance.pick(["class", "class", "class", "external", "nlb-ip", "manager", "another class"] as const)!;
  const wish: ClassWish = { name, ...parts(scene, server), mistake: undefined, isDeleted: false };
  scene.wish(wish);
  const annotations = Object.fromEntries(Object.entries(annotationsOf(wish)).filter(([, value]) => value !== null));
  await scene.say("user", "POST", path, { metadata: { name, annotations }, spec: { selector: { app: name }, ...specOf(wish) } });
}

async function changeMind(scene: ClassesScene, wish: ClassWish): Promise<void> {
  const { chance } = scene;
  const other = parts(scene, wish.server);
  const deeds = {
    scheme: { scheme: other.scheme },
    ports: { ports: other.ports },
    ranges: { ranges: other.ranges },
    targets: { targets: other.targets },
  } satisfies Record<string, Partial<ClassWish>>;
  if (chance.happens(0.25)) {
    const server = chance.pick(handOvers[wish.server])!;
    return write(scene, { ...wish, server, targets: server === "nlb-ip" ? "ip" : wish.targets }, {});
  }
  return write(scene, { ...wish, ...deeds[chance.pick(["scheme", "ports", "ports", "ranges", "targets"] as const)!] }, {});
}

async function err(scene: ClassesScene, wish: ClassWish): Promise<void> {
  const mistake = scene.chance.pick(Object.keys(mistakes))!;
  await write(scene, { ...wish, mistake }, { [mistake]: scene.chance.pick(mistakes[mistake]!)! });
}

async function write(scene: ClassesScene, wish: ClassWish, annotations: Readonly<Record<string, string | null>>): Promise<void> {
  // Before it is written: from the next moment on a replica may act on it.
  scene.wish(wish);
  const keyed = Object.fromEntries(Object.entries(annotations).map(([key, value]) => [prefix + key, value]));
  await scene.say("user", "PATCH", `${path}/${wish.name}`, {
    metadata: { annotations: { ...annotationsOf(wish), ...keyed } },
    spec: specOf(wish),
  });
}

async function remove(scene: ClassesScene, wish: ClassWish): Promise<void> {
  scene.wish({ ...wish, isDeleted: true });
  await scene.say("user", "DELETE", `${path}/${wish.name}`);
}

function parts({ chance }: ClassesScene, server: Server): Pick<ClassWish, "server" | "targets" | "scheme" | "ports" | "ranges"> {
  const ports = allPorts.filter(() => chance.happens(0.5));
  return {
    server,
    targets: server === "nlb-ip" || chance.happens(0.7) ? "ip" : "instance",
    scheme: chance.pick([undefined, "internal", "internet-facing"] as const),
    ports: ports.length > 0 ? ports : [80],
    ranges: chance.pick([[], [], ["192.168.0.0/16"], ["10.0.0.0/8", "192.168.0.0/16"]])!,
  };
}

const types: Readonly<Record<Server, string | null>> = {
  class: null,
  "another class": null,
  nobody: null,
  manager: "nlb",
  external: "external",
  "nlb-ip": "nlb-ip",
};

function annotationsOf({ server, targets, scheme }: ClassWish): Readonly<Record<string, string | null>> {
  return {
    [`${prefix}type`]: types[server],
    [`${prefix}nlb-target-type`]: server === "manager" || server === "nlb-ip" ? null : targets,
    [`${prefix}scheme`]: server === "manager" ? null : (scheme ?? null),
  };
}

function specOf({ name, server, ports, ranges }: ClassWish): object {
  const classes: Partial<Record<Server, string>> = { class: "service.k8s.aws/nlb", "another class": "example.com/other" };
  const isServed = server !== "nobody";
  return {
    type: isServed ? "LoadBalancer" : "ClusterIP",
    loadBalancerClass: classes[server] ?? null,
    loadBalancerSourceRanges: isServed && ranges.length > 0 ? ranges : null,
    ports: ports.map((port) => ({
      name: `p${port}`,
      port,
      targetPort: 8080,
      protocol: "TCP",
      ...(isServed && { nodePort: nodePortOf(name, port) }),
    })),
  };
}
