/** Those who use Ingresses: they share load balancers, change their minds, make mistakes and mend them, move and leave. */
import { sleep } from "../../src/runtime/world.ts";
import { keyed } from "../bed/ingress-world.ts";
import type { IngressesScene, IngressWish } from "./ingresses-scene.ts";

const names = ["a", "b", "c", "d", "e", "f"];
const groups = ["teams", "teams", "shop", undefined];
const path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";

/** What people write that makes no sense, by annotation; some of it only AWS refuses. */
const mistakes: Readonly<Record<string, readonly string[]>> = {
  "listen-ports": ["[", '[{"HTTP":99999}]', '[{"TCP":80}]'],
  "target-type": ["pods"],
  "healthcheck-interval-seconds": ["often"],
  "load-balancer-attributes": ["idle"],
  tags: ["a,b"],
  scheme: ["nowhere", "internet-facing-ish"],
  "conditions.web": ["{"],
  "inbound-cidrs": ["10.0.0.0/33"],
  "backend-protocol": ["SMTP"],
};

/** Users, until the signal aborts. */
export async function useIngresses(scene: IngressesScene, signal: AbortSignal): Promise<void> {
  const { chance, world } = scene;
  while (!signal.aborted) {
    const name = chance.pick(names)!;
    const wish = scene.wishes.get(name);
    const ingress = scene.ingress(name);
    if (ingress === undefined) await create(scene, name);
    else if (wish !== undefined && ingress.metadata.deletionTimestamp === undefined) {
      if (chance.happens(0.15)) await remove(scene, wish);
      else if (wish.mistake !== undefined && chance.happens(0.5))
        await write(scene, { ...wish, mistake: undefined }, { [wish.mistake]: null });
      else if (wish.mistake === undefined && chance.happens(0.4)) await err(scene, wish);
      else if (wish.mistake === undefined) await changeMind(scene, wish);
    }
    await sleep(world.clock, chance.between(1_000, 25_000), signal).catch(() => {});
  }
}

/** Looks every few seconds who has all it wants. */
export async function lookAround(scene: IngressesScene, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    scene.settle();
    await sleep(scene.world.clock, 3_000, signal).catch(() => {});
  }
}

/** Everybody leaves. */
export async function deleteAll(scene: IngressesScene): Promise<void> {
  for (const wish of scene.wishes.values()) if (!wish.isDeleted) await remove(scene, wish);
}

async function create(scene: IngressesScene, name: string): Promise<void> {
  const wish: IngressWish = { name, group: scene.chance.pick(groups), ...routes(scene, name), mistake: undefined, isDeleted: false };
  const answer = await scene.say("user", "POST", path, {
    metadata: { name, annotations: keyed({ ...(wish.group && { "group.name": wish.group }), "group.order": order(scene) }) },
    spec: { ingressClassName: "alb", ...specOf(wish) },
  });
  if (answer.status < 300) scene.wish(wish);
}

/** Another host, other Services, another place among the others, or another group. */
async function changeMind(scene: IngressesScene, wish: IngressWish): Promise<void> {
  const group = scene.chance.pick(groups);
  const deeds = {
    moves: () => write(scene, { ...wish, group }, { "group.name": group ?? null }),
    stepsAside: () => write(scene, wish, { "group.order": order(scene) }),
    routes: () => write(scene, { ...wish, ...routes(scene, wish.name) }, {}),
  };
  await deeds[scene.chance.pick(["moves", "stepsAside", "routes", "routes"] as const)!]();
}

async function err(scene: IngressesScene, wish: IngressWish): Promise<void> {
  const { chance } = scene;
  const mistake = chance.pick(Object.keys(mistakes).filter((key) => key !== "conditions.web" || wish.services.includes("web")))!;
  await write(scene, { ...wish, mistake }, { [mistake]: chance.pick(mistakes[mistake]!)! });
}

async function write(scene: IngressesScene, wish: IngressWish, annotations: Readonly<Record<string, string | null>>): Promise<void> {
  // Before it is written: from the next moment on a replica may act on it.
  scene.wish(wish);
  await scene.say("user", "PATCH", `${path}/${wish.name}`, { metadata: { annotations: keyed(annotations) }, spec: specOf(wish) });
}

async function remove(scene: IngressesScene, wish: IngressWish): Promise<void> {
  scene.wish({ ...wish, isDeleted: true });
  await scene.say("user", "DELETE", `${path}/${wish.name}`);
}

function routes({ chance, services }: IngressesScene, name: string): Pick<IngressWish, "host" | "services"> {
  const some = services.filter(() => chance.happens(0.6));
  return { host: `${name}${Math.floor(chance.between(1, 4))}.example.com`, services: some.length > 0 ? some : [services[0]] };
}

const order = ({ chance }: IngressesScene) => String(Math.floor(chance.between(-3, 4)));

function specOf({ host, services }: IngressWish): object {
  const paths = services.map((service) => ({
    pathType: "Prefix",
    path: `/${service}`,
    backend: { service: { name: service, port: { number: 80 } } },
  }));
  return { rules: [{ host, http: { paths } }] };
}
