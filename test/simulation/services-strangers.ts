/** Machines that become Nodes and never targets: in another VPC, or of a kind that a network load balancer does not take. */
import { sleep } from "../../src/runtime/world.ts";
import { launchNodes } from "../../src/sandbox/cloud/network.ts";
import type { ServicesScene } from "./services-scene.ts";

/** Refused by network load balancers and taken by classic ones. */
export const refusedType = "m3.large";

/** They come and go until the signal aborts; in every third history there are none. */
export async function bringStrangers(scene: ServicesScene, signal: AbortSignal): Promise<void> {
  const { chance, world } = scene;
  if (chance.happens(0.33)) return;
  while (!signal.aborted) {
    await sleep(world.clock, chance.between(5_000, 90_000), signal).catch(() => {});
    if (signal.aborted) return;
    const [name] = scene.strangers;
    if (name !== undefined) await leave(scene, name);
    else if (chance.happens(0.6)) await arrive(scene);
    else launchOld(scene);
  }
}

async function arrive(scene: ServicesScene): Promise<void> {
  const [machine] = launchNodes(scene.cloud, scene.elsewhere, 1);
  const { id, zone } = scene.instances.update(machine!.id, { state: "running" });
  const name = `stranger-${id}`;
  scene.strangers.add(name);
  const labels = { pool: scene.chance.pick(["a", "b"])! };
  await scene.say("user", "POST", "/api/v1/nodes", { metadata: { name, labels }, spec: { providerID: `aws:///${zone}/${id}` } });
}

async function leave(scene: ServicesScene, name: string): Promise<void> {
  scene.strangers.delete(name);
  await scene.say("user", "DELETE", `/api/v1/nodes/${name}`);
}

/** One of the cluster's own. Nobody needs more than one of them. */
function launchOld(scene: ServicesScene): void {
  const { kubelets, cloud, network, history } = scene;
  const name = "worker-old";
  if (kubelets.has(name) || scene.nodes().some(({ metadata }) => metadata.name === name)) return;
  const [machine] = launchNodes(cloud, network, 1);
  scene.instances.update(machine!.id, { type: refusedType });
  kubelets.set(name, { name, instanceId: machine!.id, by: "provider ID", labels: { pool: "a" }, silentUntil: 0 });
  history.tell("user", `launches ${machine!.id}, of an old type, for ${name}`);
}
