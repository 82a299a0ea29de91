/** Those who live in the nodes' world: instances that come and go, kubelets that report, users who delete things. */
import { sleep } from "../../src/runtime/world.ts";
import { terminate } from "../../src/sandbox/cloud/ec2/instance-lifecycle.ts";
import { launchNodes } from "../../src/sandbox/cloud/network.ts";
import { freePodCidr } from "./nodes-routes.ts";
import { type Introduction, type Kubelet, type NodesScene, uninitialized } from "./nodes-scene.ts";

const maxKubelets = 6;

/** Users, until the signal aborts. They reach the API directly: their own trouble is not what is tested. */
export async function live(scene: NodesScene, signal: AbortSignal): Promise<void> {
  const { chance, world } = scene;
  const deeds: readonly (() => void | Promise<void>)[] = [
    () => arrive(scene),
    () => arrive(scene),
    () => arrive(scene),
    () => stop(scene),
    () => start(scene),
    () => end(scene),
    () => silence(scene),
    () => silence(scene),
    () => readdress(scene),
    () => deleteNode(scene),
  ];
  while (!signal.aborted) {
    await chance.pick(deeds)!();
    await sleep(world.clock, chance.between(500, 12_000), signal).catch(() => {});
  }
}

/** Kubelets report every few seconds for as long as the world lasts; what does not report is said to be unknown. */
export async function report(scene: NodesScene, signal: AbortSignal): Promise<void> {
  const { world } = scene;
  while (!signal.aborted) {
    for (const kubelet of [...scene.kubelets.values()]) await reportOne(scene, kubelet);
    await sleep(world.clock, 5_000, signal).catch(() => {});
  }
}

async function reportOne(scene: NodesScene, kubelet: Kubelet): Promise<void> {
  const { name } = kubelet;
  const instance = scene.instanceOf(kubelet);
  const node = scene.nodes().find(({ metadata }) => metadata.name === name);
  const runs = instance?.state === "running";
  if (node === undefined) {
    if (runs) await register(scene, kubelet);
    else if (instance === undefined || instance.state === "terminated") scene.kubelets.delete(name);
    return;
  }
  const status = runs && scene.world.clock.monotonic() >= kubelet.silentUntil ? "True" : "Unknown";
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready")?.status;
  if (ready === status) return;
  await scene.say("kubelet", "PATCH", `/api/v1/nodes/${name}/status`, { status: { conditions: [{ type: "Ready", status }] } });
}

async function register(scene: NodesScene, { name, instanceId, by, labels }: Kubelet): Promise<void> {
  const { zone, interfaceIds } = scene.instances.get(instanceId)!;
  const [ip] = scene.cloud.account.ec2.interfaces.get(interfaceIds[0]!)!.privateAddresses;
  // What kube-controller-manager would do a moment later.
  const podCIDR = freePodCidr(scene.nodes());
  await scene.say("kubelet", "POST", "/api/v1/nodes", {
    metadata: { name, labels },
    spec: {
      podCIDR,
      podCIDRs: [podCIDR],
      taints: [{ key: uninitialized, value: "true", effect: "NoSchedule" }],
      ...(by === "provider ID" && { providerID: `aws:///${zone}/${instanceId}` }),
    },
    status: { conditions: [], ...(by === "address" && { addresses: [{ type: "InternalIP", address: ip }] }) },
  });
}

function arrive(scene: NodesScene): void {
  const { chance, cloud, network, kubelets } = scene;
  if (kubelets.size >= maxKubelets) return;
  const by = chance.pick<Introduction>(["provider ID", "provider ID", "DNS name", "address"])!;
  // A name may be used again by another machine, once its Node is gone.
  const name = `worker-${Math.floor(chance.between(1, maxKubelets + 1))}`;
  if (by !== "DNS name" && (kubelets.has(name) || scene.nodes().some(({ metadata }) => metadata.name === name))) return;
  const [instance] = launchNodes(cloud, network, 1, chance.happens(0.2) ? "p5.48xlarge" : "m5.large");
  const labels = { pool: chance.pick(["a", "b"])! };
  const kubelet = { name: by === "DNS name" ? instance!.privateDnsName : name, instanceId: instance!.id, by, labels, silentUntil: 0 };
  kubelets.set(kubelet.name, kubelet);
  scene.history.tell("user", `launches ${instance!.id} for ${kubelet.name}, known by its ${by}`);
}

function pick(scene: NodesScene, ...states: readonly string[]): Kubelet | undefined {
  const mortal = [...scene.kubelets.values()].filter(({ steady }) => !steady);
  return scene.chance.pick(mortal.filter((kubelet) => states.includes(scene.instanceOf(kubelet)?.state ?? "")));
}

function stop(scene: NodesScene): void {
  const kubelet = pick(scene, "running");
  if (kubelet === undefined) return;
  scene.instances.update(kubelet.instanceId, { state: "stopped" });
  scene.history.tell("user", `stops ${kubelet.instanceId}`);
}

function start(scene: NodesScene): void {
  const kubelet = pick(scene, "stopped");
  if (kubelet === undefined) return;
  scene.instances.update(kubelet.instanceId, { state: "running" });
  scene.history.tell("user", `starts ${kubelet.instanceId}`);
}

/** Terminated instances are shown for an hour; some are forgotten sooner, and then only misses tell. */
function end(scene: NodesScene): void {
  const { chance, cloud, history } = scene;
  const kubelet = pick(scene, "running", "stopped", "pending");
  const instance = kubelet && scene.instanceOf(kubelet);
  if (instance === undefined) return;
  terminate(cloud.account.ec2, instance);
  history.tell("user", `terminates ${instance.id}`);
  if (chance.happens(0.3)) scene.world.clock.after(60_000, () => scene.instances.delete(instance.id));
}

/** Alive, but nobody hears of it. */
function silence(scene: NodesScene): void {
  const { chance, world, history } = scene;
  const kubelet = pick(scene, "running");
  if (kubelet === undefined) return;
  kubelet.silentUntil = world.clock.monotonic() + chance.between(10_000, 400_000);
  history.tell("faults", `nobody hears of ${kubelet.name}`);
}

function readdress(scene: NodesScene): void {
  const kubelet = pick(scene, "running");
  const instance = kubelet && scene.instanceOf(kubelet);
  const networkInterface = instance && scene.cloud.account.ec2.interfaces.get(instance.interfaceIds[0]!);
  if (networkInterface === undefined || networkInterface.privateAddresses.length > 3) return;
  const host = Math.floor(scene.chance.between(200, 250));
  const address = networkInterface.privateAddresses[0]!.replace(/\d+$/, String(host));
  if (networkInterface.privateAddresses.includes(address)) return;
  scene.cloud.account.ec2.interfaces.update(networkInterface.id, { privateAddresses: [...networkInterface.privateAddresses, address] });
  scene.history.tell("user", `gives ${instance!.id} the address ${address}`);
}

async function deleteNode(scene: NodesScene): Promise<void> {
  const node = scene.chance.pick(scene.nodes().filter(({ metadata }) => !scene.kubelets.get(metadata.name)?.steady));
  if (node !== undefined) await scene.say("user", "DELETE", `/api/v1/nodes/${node.metadata.name}`);
}
