/** The cluster that Gateways live in: classes, configurations and grants, which people delete, make again and change. */
import { sleep } from "../../src/runtime/world.ts";
import { addNode, define, fillServices, homeOf } from "./backends.ts";
import type { GatewaysScene } from "./gateways-scene.ts";
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

/** Everything that stands before the first Gateway. */
export async function prepare(scene: GatewaysScene, definitions: readonly object[], gateways: readonly string[]): Promise<void> {
  await define(scene, definitions);
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
  const kinds = ["HTTPRoute", "TCPRoute", "UDPRoute", "TLSRoute"];
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
