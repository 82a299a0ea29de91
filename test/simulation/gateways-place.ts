/** The cluster that Gateways live in: classes, configurations and grants, which people delete, make again and change. */
import type { HttpRequest } from "../../src/runtime/http.ts";
import { sleep } from "../../src/runtime/world.ts";
import { addNode, define, fillServices, homeOf } from "./backends.ts";
import { type GatewaysScene, type Kind, plurals } from "./gateways-scene.ts";
import type { ClassName } from "./gateways-wish.ts";

export const gatewayApi = "/apis/gateway.networking.k8s.io/v1";
const classesPath = `${gatewayApi}/gatewayclasses`;
const grantsPath = "/apis/gateway.networking.k8s.io/v1beta1/namespaces/other/referencegrants";
export const configurationsPath = "/apis/gateway.k8s.aws/v1/namespaces/default/loadbalancerconfigurations";
const targetsPath = "/apis/gateway.k8s.aws/v1/namespaces/default/targetgroupconfigurations";

export const configurationRef = (name: string) => ({ group: "gateway.k8s.aws", kind: "LoadBalancerConfiguration", name });

const classes: Readonly<Record<ClassName, object>> = {
  alb: { controllerName: "gateway.k8s.aws/alb" },
  nlb: { controllerName: "gateway.k8s.aws/nlb" },
  tuned: { controllerName: "gateway.k8s.aws/alb", parametersRef: { ...configurationRef("tuned"), namespace: "default" } },
  theirs: { controllerName: "example.com/theirs" },
};

const objectOf = (kind: string, name: string, spec: object, more: object = {}) => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind,
  metadata: { name, ...more },
  spec,
});

/** Of another controller, which looks after them by itself. */
const foreignGateway = objectOf(
  "Gateway",
  "theirs",
  { gatewayClassName: "theirs", listeners: [{ name: "http", protocol: "HTTP", port: 80 }] },
  { finalizers: ["example.com/theirs"] },
);
const foreignRoute = objectOf("HTTPRoute", "theirs", {
  parentRefs: [{ name: "theirs" }],
  rules: [{ backendRefs: [{ name: "web", port: 80 }] }],
});

export const pathOf = (kind: Kind) => `${gatewayApi}/namespaces/default/${plurals[kind]}`;

/** What a user says of an object. */
export async function write(
  scene: GatewaysScene,
  method: string,
  kind: Kind,
  name: string,
  spec: object,
  more: object = {},
): Promise<void> {
  if (method === "POST") await scene.say("user", method, pathOf(kind), objectOf(kind, name, spec, more));
  else await scene.say("user", method, `${pathOf(kind)}/${name}`, ...(method === "PATCH" ? [{ spec }] : []));
}

/** Everything that stands before the first Gateway. */
export async function prepare(scene: GatewaysScene, definitions: readonly Definition[], gateways: readonly string[]): Promise<void> {
  const isLate = ({ spec }: Definition) => [...scene.late].some((kind) => kind === spec.names.kind);
  await define(
    scene,
    definitions.filter((each) => !isLate(each)),
  );
  const nodeName = await addNode(scene);
  await scene.say("world", "POST", "/api/v1/namespaces", { metadata: { name: "other" } });
  const configuration = (kind: string, name: string, spec: object) => ({
    apiVersion: "gateway.k8s.aws/v1",
    kind,
    metadata: { name },
    spec,
  });
  for (const name of ["tuned", ...gateways])
    await scene.say("world", "POST", configurationsPath, configuration("LoadBalancerConfiguration", name, {}));
  await scene.say("world", "POST", targetsPath, configuration("TargetGroupConfiguration", "web", checkedEvery(15)));
  for (const name of Object.keys(classes)) await createClass(scene, name as ClassName);
  await grant(scene);
  await fillServices(scene, nodeName);
  await scene.say("world", "POST", `${gatewayApi}/namespaces/default/gateways`, foreignGateway);
  await scene.say("world", "POST", `${gatewayApi}/namespaces/default/httproutes`, foreignRoute);
}

const checkedEvery = (healthCheckInterval: number) => ({
  targetReference: { name: "web" },
  defaultConfiguration: { healthCheckConfig: { healthCheckInterval } },
});

async function createClass(scene: GatewaysScene, name: ClassName): Promise<void> {
  const object = { apiVersion: "gateway.networking.k8s.io/v1", kind: "GatewayClass", metadata: { name }, spec: classes[name] };
  await scene.say(scene.isOpen ? "admin" : "world", "POST", classesPath, object);
}

async function grant(scene: GatewaysScene): Promise<void> {
  const kinds = ["HTTPRoute", "GRPCRoute", "TCPRoute", "UDPRoute", "TLSRoute"];
  await scene.say(scene.isOpen ? "admin" : "world", "POST", grantsPath, {
    apiVersion: "gateway.networking.k8s.io/v1beta1",
    kind: "ReferenceGrant",
    metadata: { name: "routes" },
    spec: {
      from: kinds.map((kind) => ({ group: "gateway.networking.k8s.io", kind, namespace: "default" })),
      to: [{ group: "", kind: "Service" }],
    },
  });
}

export interface Definition {
  readonly spec: { readonly names: { readonly kind: string } };
}

/** Somebody installs what was not there at first. */
export function installLater(definitions: readonly Definition[]) {
  return async (scene: GatewaysScene, signal: AbortSignal): Promise<void> => {
    for (const kind of [...scene.late]) {
      await sleep(scene.world.clock, scene.chance.between(5_000, 300_000), signal).catch(() => {});
      await define(
        scene,
        definitions.filter(({ spec }) => spec.names.kind === kind),
      );
      scene.history.tell("admin", `installs the definition of ${kind}`);
      scene.late.delete(kind);
    }
  };
}

type Wait = (least: number, most: number) => Promise<void>;
type Deed = (scene: GatewaysScene, wait: Wait) => Promise<void>;

/** What those do who own classes, their parameters and the other namespace; nothing stays as bad as they have made it. */
const deeds: readonly Deed[] = [
  /** Nobody can delete a class that is used, but by force. */
  async function vanish(scene, wait) {
    const name = scene.chance.pick(["alb", "tuned", "nlb"] as const)!;
    await scene.say("admin", "DELETE", `${classesPath}/${name}`);
    await scene.say("admin", "PATCH", `${classesPath}/${name}`, { metadata: { finalizers: null } });
    await wait(5_000, 60_000);
    await createClass(scene, name);
  },
  async function tag(scene) {
    const cost = String(Math.floor(scene.chance.between(1, 100)));
    await scene.say("admin", "PATCH", `${configurationsPath}/tuned`, { spec: { tags: { cost } } });
  },
  async function spoil(scene, wait) {
    scene.change({ isTunedRight: false }, () => false);
    await scene.say("admin", "PATCH", `${configurationsPath}/tuned`, { spec: { defaultTargetGroupConfiguration: { name: "nowhere" } } });
    await wait(5_000, 60_000);
    await scene.say("admin", "PATCH", `${configurationsPath}/tuned`, { spec: { defaultTargetGroupConfiguration: null } });
    scene.change({ isTunedRight: true }, () => false);
  },
  async function revoke(scene, wait) {
    const isFar = ({ services }: { readonly services: readonly string[] }) => services.some((service) => homeOf(service)[0] === "other");
    scene.change({ isGranted: false }, isFar);
    await scene.say("admin", "DELETE", `${grantsPath}/routes`);
    await wait(5_000, 60_000);
    scene.change({ isGranted: true }, isFar);
    await grant(scene);
  },
  /** More often than AWS takes: routes to the Service are told, and keep what they have. */
  async function checkTooOften(scene, wait) {
    await scene.say("admin", "PATCH", `${targetsPath}/web`, { spec: checkedEvery(1) });
    await wait(5_000, 60_000);
    await scene.say("admin", "PATCH", `${targetsPath}/web`, { spec: checkedEvery(15) });
  },
  /** A webhook takes no bindings of a Service for a while. */
  async function refuseBindings(scene, wait) {
    const [, name] = homeOf(scene.chance.pick(scene.services)!);
    const status = scene.chance.pick([403, 422])!;
    const match = ({ method, url, body }: HttpRequest) =>
      method !== "GET" && url.pathname.includes("/targetgroupbindings") && String(body).includes(`"serviceRef":{"name":"${name}"`);
    scene.history.tell("admin", `takes no bindings of ${name}`);
    const allow = scene.cluster.faults.add({ match, effect: { kind: "refuse", status } });
    await wait(5_000, 60_000);
    allow();
  },
  async function checkOften(scene) {
    const spec = checkedEvery(Math.floor(scene.chance.between(10, 30)));
    await scene.say("admin", "PATCH", `${targetsPath}/web`, { spec });
  },
];

/** Until the signal aborts. */
export async function administrate(scene: GatewaysScene, signal: AbortSignal): Promise<void> {
  const { chance, world } = scene;
  const wait: Wait = (least, most) => sleep(world.clock, chance.between(least, most), signal).catch(() => {});
  while (!signal.aborted) {
    await wait(10_000, 80_000);
    await chance.pick(deeds)!(scene, wait);
  }
}
