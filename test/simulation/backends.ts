/** A node and the Services behind load balancers, each with a pod: people move the pods, and delete Services and make them again. */
import { sleep } from "../../src/runtime/world.ts";
import { launchNodes } from "../../src/sandbox/cloud/network.ts";
import type { BalancersScene } from "./balancers-scene.ts";

/** Where Services are used; one outside of namespace `default` is named with its own. */
export interface BackedScene extends BalancersScene {
  readonly services: readonly string[];
  /** A Service is about to go, or to come back. */
  missed(service: string, isMissing: boolean): void;
}

/** Namespace and name of a Service. */
export function homeOf(service: string): readonly [string, string] {
  const [first = "", second] = service.split("/");
  return second === undefined ? ["default", first] : [first, second];
}

const pathOf = (service: string, plural: string) =>
  `${plural === "endpointslices" ? "/apis/discovery.k8s.io/v1" : "/api/v1"}/namespaces/${homeOf(service)[0]}/${plural}`;

/** What stands before the first user. */
export async function define(scene: BalancersScene, definitions: readonly object[]): Promise<void> {
  for (const definition of definitions)
    await scene.say("world", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
}

/** A node that is ready; its name. */
export async function addNode(scene: BalancersScene): Promise<string> {
  const { ec2 } = scene.cloud.account;
  const [node] = launchNodes(scene.cloud, scene.network, 1).map(({ id }) => ec2.instances.update(id, { state: "running" }));
  const nodeName = node!.privateDnsName;
  await scene.say("world", "POST", "/api/v1/nodes", {
    metadata: { name: nodeName },
    spec: { providerID: `aws:///${node!.zone}/${node!.id}` },
  });
  await scene.say("world", "PATCH", `/api/v1/nodes/${nodeName}/status`, { status: { conditions: [{ type: "Ready", status: "True" }] } });
  return nodeName;
}

/** A Service each, with one pod behind it. */
export async function fillServices(scene: BackedScene, nodeName: string): Promise<void> {
  for (const [i, service] of scene.services.entries()) await fill(scene, service, 20 + i, nodeName);
}

async function fill(scene: BackedScene, service: string, host: number, nodeName: string): Promise<void> {
  const [, name] = homeOf(service);
  await createService(scene, service);
  await scene.say("world", "POST", pathOf(service, "pods"), {
    metadata: { name: `${name}-1` },
    spec: { nodeName, containers: [{ name: "c", image: "c:1" }] },
  });
  await scene.say("world", "POST", pathOf(service, "endpointslices"), {
    metadata: { name: `${name}-1`, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ports: [{ name: "http", port: 8080, protocol: "TCP" }],
    endpoints: [],
  });
  await place(scene, service, `10.0.32.${host}`);
}

function createService(scene: BackedScene, service: string): Promise<unknown> {
  const [, name] = homeOf(service);
  return scene.say(scene.isOpen ? "operator" : "world", "POST", pathOf(service, "services"), {
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
  });
}

/** The pod of a Service answers at this address from now on. */
async function place(scene: BackedScene, service: string, address: string): Promise<void> {
  const [namespace, name] = homeOf(service);
  const { instances, interfaces } = scene.cloud.account.ec2;
  const [interfaceId = ""] = instances.values()[0]!.interfaceIds;
  interfaces.update(interfaceId, { privateAddresses: [...interfaces.get(interfaceId)!.privateAddresses, address] });
  scene.addresses.set(service, address);
  const who = scene.isOpen ? "operator" : "world";
  const conditions = [{ type: "ContainersReady", status: "True" }];
  await scene.say(who, "PATCH", `${pathOf(service, "pods")}/${name}-1/status`, { status: { podIP: address, conditions } });
  const targetRef = { kind: "Pod", namespace, name: `${name}-1` };
  await scene.say(who, "PATCH", `${pathOf(service, "endpointslices")}/${name}-1`, {
    endpoints: [{ addresses: [address], conditions: { ready: true }, targetRef }],
  });
}

/** Those who run the Services, until the signal aborts: pods move, and a Service is deleted and made again, under another UID. */
export async function operateServices(scene: BackedScene, signal: AbortSignal): Promise<void> {
  const { chance, world, services } = scene;
  const wait = (least: number, most: number) => sleep(world.clock, chance.between(least, most), signal).catch(() => {});
  for (let next = 40; !signal.aborted; next++) {
    await wait(10_000, 60_000);
    const service = chance.pick(services)!;
    if (chance.happens(0.5)) {
      await place(scene, service, `10.0.32.${next}`);
      continue;
    }
    scene.missed(service, true);
    await scene.say("operator", "DELETE", `${pathOf(service, "services")}/${homeOf(service)[1]}`);
    await wait(2_000, 60_000);
    scene.missed(service, false);
    await createService(scene, service);
  }
}
