/** Those who live in the world: users who come and go with Nodes, kubelets, and somebody curious who asks AWS all day. */
import { isAwsError } from "../../src/aws/errors.ts";
import { bodyText } from "../../src/runtime/http.ts";
import { sleep, TimedOut } from "../../src/runtime/world.ts";
import { terminate } from "../../src/sandbox/cloud/ec2/instance-lifecycle.ts";
import { launchNodes } from "../../src/sandbox/cloud/network.ts";
import { annotation, namespace } from "./keeper.ts";
import type { Replica } from "./replica.ts";
import type { Scene } from "./scene.ts";

const maxNodes = 8;
const teams = ["red", "green", "blue"];

/** Users and kubelets, until the signal aborts. They reach the API directly: their own trouble is not what is tested. */
export async function live(scene: Scene, signal: AbortSignal): Promise<void> {
  const { chance, world } = scene;
  const deeds: readonly (() => Promise<void>)[] = [
    () => join(scene),
    () => join(scene),
    () => changeTeam(scene),
    () => leaveTeam(scene),
    () => depart(scene),
    () => meddle(scene),
    () => heartbeat(scene),
    () => heartbeat(scene),
  ];
  while (!signal.aborted) {
    await chance.pick(deeds)!();
    await sleep(world.clock, chance.between(100, 6000), signal).catch(() => {});
  }
}

async function join(scene: Scene): Promise<void> {
  const { chance, cloud, network } = scene;
  const names = new Set(scene.cluster.objects("nodes").map(({ metadata }) => metadata.name));
  if (names.size >= maxNodes) return;
  const name = `node-${Math.floor(chance.between(1, maxNodes + 1))}`;
  if (names.has(name)) return;
  const [instance] = launchNodes(cloud, network, 1);
  const annotations = chance.happens(0.8) ? { [annotation]: chance.pick(teams)! } : {};
  await say(scene, "kubelet", "POST", "/api/v1/nodes", {
    metadata: { name, annotations },
    spec: { providerID: `aws:///${instance!.zone}/${instance!.id}` },
  });
}

async function changeTeam(scene: Scene): Promise<void> {
  const node = scene.chance.pick(scene.cluster.objects("nodes"));
  if (node === undefined) return;
  const metadata = { annotations: { [annotation]: scene.chance.pick(teams)! } };
  await say(scene, "user", "PATCH", `/api/v1/nodes/${node.metadata.name}`, { metadata });
}

async function leaveTeam(scene: Scene): Promise<void> {
  const node = scene.chance.pick(scene.cluster.objects("nodes"));
  if (node !== undefined) await say(scene, "user", "PATCH", `/api/v1/nodes/${node.metadata.name}`, { metadata: { annotations: null } });
}

async function depart(scene: Scene): Promise<void> {
  const { chance, cloud, history } = scene;
  const node = chance.pick(scene.cluster.objects("nodes"));
  if (node === undefined) return;
  const id = String((node.spec as { providerID?: string }).providerID)
    .split("/")
    .at(-1)!;
  await say(scene, "user", "DELETE", `/api/v1/nodes/${node.metadata.name}`);
  const instance = cloud.account.ec2.instances.get(id);
  if (instance !== undefined && chance.happens(0.5)) {
    terminate(cloud.account.ec2, instance);
    history.tell("user", `terminates ${id}`);
  }
}

/** A user deletes a record that is not theirs. */
async function meddle(scene: Scene): Promise<void> {
  const records = scene.cluster.objects("configmaps").filter(({ metadata }) => metadata.namespace === namespace);
  const record = scene.chance.pick(records);
  if (record !== undefined) await say(scene, "user", "DELETE", `/api/v1/namespaces/${namespace}/configmaps/${record.metadata.name}`);
}

async function heartbeat(scene: Scene): Promise<void> {
  const node = scene.chance.pick(scene.cluster.objects("nodes"));
  if (node === undefined) return;
  const lastHeartbeatTime = `${new Date(scene.world.clock.now()).toISOString().slice(0, 19)}Z`;
  const status = { conditions: [{ type: "Ready", status: "True", lastHeartbeatTime }] };
  await say(scene, "kubelet", "PATCH", `/api/v1/nodes/${node.metadata.name}/status`, { status }, "strategic-merge-patch");
}

async function say(scene: Scene, who: string, method: string, path: string, body?: object, patch = "merge-patch"): Promise<void> {
  const answer = await scene.cluster.send({
    method,
    url: new URL(path, "http://embedded"),
    headers: { "content-type": method === "PATCH" ? `application/${patch}+json` : "application/json", "user-agent": who },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await bodyText(answer);
  scene.history.tell(who, `${method} ${path} ${body === undefined ? "" : JSON.stringify(body)} → ${answer.status}`);
}

/**
 * Asks each replica's AWS kit about a handful of instances at the same moment, some of which never were. Whatever the
 * faults, an answer may fail to come; it may never be a wrong one, and nobody's bad id may become somebody else's error.
 */
export async function askAround(scene: Scene, replicas: () => readonly Replica[], signal: AbortSignal): Promise<void> {
  const { chance, world } = scene;
  while (!signal.aborted) {
    for (const replica of replicas()) {
      if (!replica.machine.alive || !chance.happens(0.7)) continue;
      const known = scene.cloud.account.ec2.instances.values().map(({ id }) => id);
      const ids = new Set([chance.pick(known), chance.pick(known), chance.pick(known), "i-00000000000000bad", "i-00000000000000dad"]);
      for (const id of ids) if (id !== undefined && chance.happens(0.7)) void askOne(scene, replica, id, signal);
    }
    await sleep(world.clock, chance.between(3000, 15_000), signal).catch(() => {});
  }
}

async function askOne(scene: Scene, replica: Replica, id: string, signal: AbortSignal): Promise<void> {
  const exists = scene.cloud.account.ec2.instances.get(id) !== undefined;
  const rule = "each asker gets the answer to its own question";
  try {
    const { kind } = await replica.cloud.instances.lookup(id, { cause: "curiosity", signal });
    if ((kind === "found") !== exists) scene.history.broken(rule, `${id} ${exists ? "exists" : "never was"}, but was answered as ${kind}`);
  } catch (error) {
    if (signal.aborted || error instanceof TimedOut) return;
    if (isAwsError(error, "not-found", "invalid")) scene.history.broken(rule, `asked for ${id}, was told: ${(error as Error).message}`);
  }
}
