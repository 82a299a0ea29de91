/** The cluster that Ingresses live in: a node, classes, Services and their pods, which people delete, make again and move. */
import { sleep } from "../../src/runtime/world.ts";
import { launchNodes } from "../../src/sandbox/cloud/network.ts";
import type { IngressesScene } from "./ingresses-scene.ts";

const classesPath = "/apis/networking.k8s.io/v1/ingressclasses";
const servicesPath = "/api/v1/namespaces/default/services";
const podsPath = "/api/v1/namespaces/default/pods";
const slicesPath = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
export const paramsPath = "/apis/elbv2.k8s.aws/v1beta1/ingressclassparams";

const parameters = { apiGroup: "elbv2.k8s.aws", kind: "IngressClassParams", name: "tuned" };
const classes = {
  alb: { controller: "ingress.k8s.aws/alb" },
  tuned: { controller: "ingress.k8s.aws/alb", parameters },
  theirs: { controller: "example.com/theirs" },
} as const;

/** Everything that stands before the first Ingress. */
export async function prepare(scene: IngressesScene, definitions: readonly object[]): Promise<void> {
  for (const definition of definitions)
    await scene.say("world", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  const { ec2 } = scene.cloud.account;
  const [node] = launchNodes(scene.cloud, scene.network, 1).map(({ id }) => ec2.instances.update(id, { state: "running" }));
  const nodeName = node!.privateDnsName;
  await scene.say("world", "POST", "/api/v1/nodes", {
    metadata: { name: nodeName },
    spec: { providerID: `aws:///${node!.zone}/${node!.id}` },
  });
  await scene.say("world", "PATCH", `/api/v1/nodes/${nodeName}/status`, { status: { conditions: [{ type: "Ready", status: "True" }] } });
  await scene.say("world", "POST", paramsPath, {
    apiVersion: "elbv2.k8s.aws/v1beta1",
    kind: "IngressClassParams",
    metadata: { name: "tuned" },
    spec: { group: { name: scene.around.tunedGroup } },
  });
  for (const name of Object.keys(classes)) await createClass(scene, name as keyof typeof classes);
  for (const [i, service] of scene.services.entries()) await fill(scene, service, 20 + i, nodeName);
}

export async function createClass(scene: IngressesScene, name: keyof typeof classes): Promise<void> {
  await scene.say(scene.isOpen ? "admin" : "world", "POST", classesPath, { metadata: { name }, spec: classes[name] });
}

export async function deleteClass(scene: IngressesScene, name: keyof typeof classes): Promise<void> {
  await scene.say("admin", "DELETE", `${classesPath}/${name}`);
}

/** A Service with one pod behind it. */
async function fill(scene: IngressesScene, service: string, host: number, nodeName: string): Promise<void> {
  await createService(scene, service);
  await scene.say("world", "POST", podsPath, {
    metadata: { name: `${service}-1` },
    spec: { nodeName, containers: [{ name: "c", image: "c:1" }] },
  });
  await scene.say("world", "POST", slicesPath, {
    metadata: { name: `${service}-1`, labels: { "kubernetes.io/service-name": service } },
    addressType: "IPv4",
    ports: [{ name: "http", port: 8080, protocol: "TCP" }],
    endpoints: [],
  });
  await place(scene, service, `10.0.32.${host}`);
}

function createService(scene: IngressesScene, service: string): Promise<unknown> {
  return scene.say(scene.isOpen ? "operator" : "world", "POST", servicesPath, {
    metadata: { name: service },
    spec: { selector: { app: service }, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
  });
}

/** The pod of a Service answers at this address from now on. */
async function place(scene: IngressesScene, service: string, address: string): Promise<void> {
  const { instances, interfaces } = scene.cloud.account.ec2;
  const [interfaceId = ""] = instances.values()[0]!.interfaceIds;
  interfaces.update(interfaceId, { privateAddresses: [...interfaces.get(interfaceId)!.privateAddresses, address] });
  scene.addresses.set(service, address);
  const who = scene.isOpen ? "operator" : "world";
  const conditions = [{ type: "ContainersReady", status: "True" }];
  await scene.say(who, "PATCH", `${podsPath}/${service}-1/status`, { status: { podIP: address, conditions } });
  const targetRef = { kind: "Pod", namespace: "default", name: `${service}-1` };
  await scene.say(who, "PATCH", `${slicesPath}/${service}-1`, {
    endpoints: [{ addresses: [address], conditions: { ready: true }, targetRef }],
  });
}

/** Those who run the Services, until the signal aborts: pods move, and a Service is deleted and made again, under another UID. */
export async function operateServices(scene: IngressesScene, signal: AbortSignal): Promise<void> {
  const { chance, world, services } = scene;
  const wait = (least: number, most: number) => sleep(world.clock, chance.between(least, most), signal).catch(() => {});
  for (let next = 40; !signal.aborted; next++) {
    await wait(10_000, 60_000);
    const service = chance.pick(services)!;
    if (chance.happens(0.5)) {
      await place(scene, service, `10.0.32.${next}`);
      continue;
    }
    scene.change({ missing: new Set([service]) }, ({ services: named }) => named.includes(service));
    await scene.say("operator", "DELETE", `${servicesPath}/${service}`);
    await wait(2_000, 60_000);
    scene.change({ missing: new Set() }, ({ services: named }) => named.includes(service));
    await createService(scene, service);
  }
}

/** Those who own the classes, until the signal aborts: one is gone for a while, and the parameters of another change. */
export async function administrate(scene: IngressesScene, signal: AbortSignal): Promise<void> {
  const { chance, world } = scene;
  const wait = (least: number, most: number) => sleep(world.clock, chance.between(least, most), signal).catch(() => {});
  while (!signal.aborted) {
    await wait(20_000, 120_000);
    const deed = chance.pick(["vanishes", "regroups", "tags"] as const)!;
    const name = chance.pick(["alb", "tuned"] as const)!;
    if (deed === "vanishes") {
      await deleteClass(scene, name);
      await wait(5_000, 60_000);
      await createClass(scene, name);
    } else if (deed === "regroups") {
      const tunedGroup = chance.pick(["shop", "ops"])!;
      scene.change({ tunedGroup }, ({ className }) => className === "tuned");
      await scene.say("admin", "PATCH", `${paramsPath}/tuned`, { spec: { group: { name: tunedGroup } } });
    } else {
      const value = String(Math.floor(chance.between(1, 100)));
      await scene.say("admin", "PATCH", `${paramsPath}/tuned`, { spec: { tags: [{ key: "cost", value }] } });
    }
  }
}
