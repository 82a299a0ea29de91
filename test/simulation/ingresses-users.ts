/** Those who use Ingresses: they share load balancers, change their minds, make mistakes and mend them, move and leave. */
import { sleep } from "../../src/runtime/world.ts";
import { keyed } from "../bed/ingress-world.ts";
import type { IngressesScene } from "./ingresses-scene.ts";
import type { ClassName, IngressWish } from "./ingresses-wish.ts";

const names = ["a", "b", "c", "d", "e", "f"];
const groups = ["teams", "teams", "shop", undefined];
const classNames: readonly ClassName[] = ["alb", "alb", "alb", "tuned", "tuned", "theirs"];
const schemes = ["internal", "internet-facing", undefined];
const path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";

/** What people write that makes no sense, by annotation; some of it only AWS refuses. */
const mistakes: Readonly<Record<string, readonly string[]>> = {
  "listen-ports": ["[", '[{"HTTP":99999}]', '[{"TCP":80}]'],
  "target-type": ["pods"],
  "healthcheck-interval-seconds": ["often", "1"],
  "load-balancer-attributes": ["idle"],
  "target-group-attributes": ["no.such.attribute=1"],
  tags: ["a,b"],
  scheme: ["nowhere", "internet-facing-ish"],
  "conditions.web": ["{"],
  "inbound-cidrs": ["10.0.0.0/33"],
  "backend-protocol": ["SMTP"],
  "group.order": ["first", "1001"],
};

type Annotations = Readonly<Record<string, string | null>>;

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
      else if (wish.mistake !== undefined && chance.happens(0.5)) await mend(scene, wish);
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

/** Asks for the same in another way, so that it is looked at again. */
export async function touch(scene: IngressesScene, wish: IngressWish): Promise<void> {
  await write(scene, wish, { "example.com/looked-at": String(Math.round(scene.world.clock.monotonic())) });
}

async function create(scene: IngressesScene, name: string): Promise<void> {
  const { chance } = scene;
  const wish: IngressWish = {
    name,
    className: chance.pick(classNames)!,
    group: chance.pick(groups),
    scheme: undefined,
    ...routes(scene, name),
    ports: [80],
    isSecured: false,
    mistake: undefined,
    isDeleted: false,
  };
  const answer = await scene.say("user", "POST", path, {
    metadata: { name, annotations: keyed({ ...(wish.group && { "group.name": wish.group }), "group.order": order(scene) }) },
    spec: specOf(wish),
  });
  if (answer.status < 300) scene.wish(wish);
  else if (answer.status === 403) scene.refused(wish, undefined);
}

/** Another host, other Services, other ports, another place among the others, another group, class or scheme. */
async function changeMind(scene: IngressesScene, wish: IngressWish): Promise<void> {
  const { chance } = scene;
  const group = chance.pick(groups);
  const ports = chance.pick(wish.isSecured ? [[443], [80, 443], [8080, 443]] : [[80], [80, 8080], [8080]])!;
  const scheme = chance.pick(schemes);
  const deeds = {
    moves: () => write(scene, { ...wish, group, scheme: undefined }, { "group.name": group ?? null, scheme: null }),
    stepsAside: () => write(scene, wish, { "group.order": order(scene) }),
    routes: () => write(scene, { ...wish, ...routes(scene, wish.name) }, {}),
    listens: () => write(scene, { ...wish, ports }, { "listen-ports": listenPorts(ports) }),
    secures: () => secure(scene, wish),
    changesClass: () => write(scene, { ...wish, className: chance.pick(classNames)!, scheme: undefined }, { scheme: null }),
    // In a group its members would have to agree.
    changesScheme: () =>
      wish.group === undefined && wish.className === "alb" ? write(scene, { ...wish, scheme }, { scheme: scheme ?? null }) : undefined,
  };
  const usual = ["moves", "stepsAside", "routes", "routes", "listens", "changesClass", "changesScheme"] as const;
  await deeds[chance.pick(scene.hasCertificates ? ([...usual, "secures", "secures", "secures"] as const) : usual)!]();
}

/** Asks for a certificate, or for none any more. */
function secure(scene: IngressesScene, wish: IngressWish): Promise<void> {
  const isSecured = !wish.isSecured;
  const ports = isSecured ? [80, 443] : [80];
  return write(scene, { ...wish, isSecured, ports }, { "create-acm-cert": isSecured ? "true" : null, "listen-ports": listenPorts(ports) });
}

const listenPorts = (ports: readonly number[]) => JSON.stringify(ports.map((port) => (port === 443 ? { HTTPS: port } : { HTTP: port })));

/** Some move to another group in the same breath. */
async function err(scene: IngressesScene, wish: IngressWish): Promise<void> {
  const { chance } = scene;
  const mistake = chance.pick(Object.keys(mistakes).filter((key) => key !== "conditions.web" || wish.services.includes("web")))!;
  const text = chance.pick(mistakes[mistake]!)!;
  if (!chance.happens(0.1)) return write(scene, { ...wish, mistake }, { [mistake]: text });
  const group = chance.pick(groups);
  await write(scene, { ...wish, group, scheme: undefined, mistake }, { "group.name": group ?? null, scheme: null, [mistake]: text });
}

/** What the mistake took the place of is written again. */
async function mend(scene: IngressesScene, wish: IngressWish): Promise<void> {
  const right: Annotations = {
    "listen-ports": listenPorts(wish.ports),
    scheme: wish.scheme ?? null,
  };
  const mistake = wish.mistake!;
  await write(scene, { ...wish, mistake: undefined }, { [mistake]: right[mistake] ?? null });
}

async function write(scene: IngressesScene, wish: IngressWish, annotations: Annotations): Promise<void> {
  const before = scene.wishes.get(wish.name);
  // Before it is written: from the next moment on a replica may act on it.
  scene.wish(wish);
  const answer = await scene.say("user", "PATCH", `${path}/${wish.name}`, {
    metadata: { annotations: keyed(annotations) },
    spec: specOf(wish),
  });
  if (answer.status < 300 || before === undefined) return;
  if (answer.status === 403) scene.refused(wish, before);
  scene.wish(before);
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

function specOf({ className, host, services }: IngressWish): object {
  const paths = services.map((service) => ({
    pathType: "Prefix",
    path: `/${service}`,
    backend: { service: { name: service, port: { number: 80 } } },
  }));
  return { ingressClassName: className, rules: [{ host, http: { paths } }] };
}
