/** What others do in the cluster: pods and nodes come and go, classes change, and the snapshot controller binds contents. */
import { KubeClient } from "../../src/kube/client.ts";
import { loadKubeConfig } from "../../src/kube/config/load.ts";
import { openGate } from "../../src/runtime/gate.ts";
import type { Transport } from "../../src/runtime/http.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import { sleep } from "../../src/runtime/world.ts";
import { terminate } from "../../src/sandbox/cloud/ec2/instance-lifecycle.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import type { Volume } from "../../src/sandbox/cloud/ec2/volumes/state.ts";
import { launchNodes } from "../../src/sandbox/cloud/network.ts";
import { snapshotDefinitions } from "../../src/sandbox/snapshot-controller.ts";
import { standInForVolumeControllers } from "../../src/sandbox/volume-controllers.ts";
import { driverName } from "../../src/volumes/names.ts";
import { handleOf } from "./roles-objects.ts";
import type { RolesScene } from "./roles-scene.ts";
import { attributesClasses, type ClaimWish, type ClassName, classes, waitsForPod } from "./roles-wish.ts";

const storage = "/apis/storage.k8s.io/v1";
const podsPath = "/api/v1/namespaces/default/pods";
const snapshotGroup = "/apis/snapshot.storage.k8s.io/v1";
const contentsPath = `${snapshotGroup}/volumesnapshotcontents`;
const zoneKey = "topology.kubernetes.io/zone";
const selectedNode = "volume.kubernetes.io/selected-node";
const snapshotPrefix = "snapshot.storage.kubernetes.io/";
const snapshotProtection = `${snapshotPrefix}volumesnapshot-bound-protection`;

/** Everything that stands before the first claim. */
export async function prepare(scene: RolesScene): Promise<void> {
  for (const definition of snapshotDefinitions)
    await scene.say("world", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  for (const machine of scene.machines) await join(scene, machine, machine.privateDnsName);
  for (const name of Object.keys(classes) as ClassName[]) if (name !== "late") await createClass(scene, name);
  for (const [name, iops] of Object.entries(attributesClasses)) {
    await scene.say("world", "POST", `${storage}/volumeattributesclasses`, { metadata: { name }, driverName, parameters: { iops } });
  }
  for (const [name, deletionPolicy, parameters] of [
    ["plain", "Delete", {}],
    ["quick", "Delete", { fastSnapshotRestoreAvailabilityZones: scene.machines[0]!.zone }],
  ] as const) {
    await scene.say("world", "POST", `${snapshotGroup}/volumesnapshotclasses`, {
      apiVersion: "snapshot.storage.k8s.io/v1",
      kind: "VolumeSnapshotClass",
      metadata: { name },
      driver: driverName,
      deletionPolicy,
      parameters,
    });
  }
  scene.open([await plantForeign(scene)]);
}

/** A disk without any mark, in a PersistentVolume that says that it is the driver's, and released. */
async function plantForeign(scene: RolesScene): Promise<string> {
  const { ec2, ids, time } = scene.cloud.account;
  const { zone, id: machine } = scene.machines[1]!;
  const root = ec2.volumes.values().find(({ attachments }) => attachments.some(({ instanceId }) => instanceId === machine))!;
  const disk: Volume = { ...root, id: ids.resource("vol"), zone, created: time.now(), attachments: [], tags: { Name: "accounts" } };
  ec2.volumes.put(disk.id, disk);
  await scene.say("world", "POST", "/api/v1/persistentvolumes", {
    metadata: { name: "theirs", annotations: { "pv.kubernetes.io/provisioned-by": driverName } },
    spec: {
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: "8Gi" },
      persistentVolumeReclaimPolicy: "Delete",
      csi: { driver: driverName, volumeHandle: disk.id },
      claimRef: { kind: "PersistentVolumeClaim", apiVersion: "v1", namespace: "default", name: "accounts", uid: "gone" },
    },
  });
  return disk.id;
}

async function join(scene: RolesScene, { id, zone }: Instance, name: string): Promise<void> {
  const who = scene.isOpen ? "kubelet" : "world";
  const labels = { [zoneKey]: zone, [`topology.${driverName}/zone`]: zone, "kubernetes.io/os": "linux" };
  await scene.say(who, "POST", "/api/v1/nodes", { metadata: { name, labels }, spec: { providerID: `aws:///${zone}/${id}` } });
  const drivers = [{ name: driverName, nodeID: id, topologyKeys: Object.keys(labels), allocatable: { count: 25 } }];
  await scene.say(who, "POST", `${storage}/csinodes`, { metadata: { name }, spec: { drivers } });
}

async function createClass(scene: RolesScene, name: ClassName, parameters?: object): Promise<void> {
  const zone = scene.machines[1]!.zone;
  const allowedTopologies = [{ matchLabelExpressions: [{ key: zoneKey, values: [zone] }] }];
  await scene.say(scene.isOpen ? "admin" : "world", "POST", `${storage}/storageclasses`, {
    metadata: { name },
    provisioner: driverName,
    allowVolumeExpansion: true,
    ...(name === "zoned" && { allowedTopologies }),
    ...classes[name],
    ...(parameters && { parameters }),
  });
}

/** Those who own the classes, until the signal aborts: one comes late, and one is made anew with other parameters. */
export async function administrate(scene: RolesScene, signal: AbortSignal): Promise<void> {
  const { chance, world, objects } = scene;
  while (!signal.aborted) {
    await sleep(world.clock, chance.between(10_000, 90_000), signal).catch(() => {});
    if (objects.class("late") === undefined) await createClass(scene, "late");
    await scene.say("admin", "DELETE", `${storage}/storageclasses/moody`);
    await sleep(world.clock, chance.between(0, 10_000), signal).catch(() => {});
    await createClass(scene, "moody", { type: chance.pick(["gp2", "gp3"]) });
  }
}

/** In two of three worlds a machine is lost, and in some of them another one comes under its name. */
export async function loseMachines(scene: RolesScene, signal: AbortSignal): Promise<void> {
  const { chance, world, cloud, history } = scene;
  const [lost] = scene.machines;
  const wait = (least: number, most: number) => sleep(world.clock, chance.between(least, most), signal).catch(() => {});
  if (chance.happens(0.33)) return;
  await wait(20_000, 240_000);
  history.tell("AWS", `${lost!.id} is terminated`);
  terminate(cloud.account.ec2, cloud.account.ec2.instances.get(lost!.id)!);
  await wait(5_000, 60_000);
  const name = lost!.privateDnsName;
  await scene.say("nodes", "DELETE", `/api/v1/nodes/${name}`);
  await scene.say("nodes", "DELETE", `${storage}/csinodes/${name}`);
  if (chance.happens(0.5)) return;
  await wait(5_000, 30_000);
  const [next] = launchNodes(cloud, scene.network, 1);
  await join(scene, scene.run(next!.id), name);
}

/** Kubernetes and its snapshot controller, until the signal aborts. */
export async function runCluster(scene: RolesScene, signal: AbortSignal): Promise<void> {
  const { world, history, cluster } = scene;
  const send: Transport = async (request) => {
    const answer = await cluster.send(request);
    const body = request.body === undefined ? "" : String(request.body);
    if (request.method !== "GET") history.tell("kubernetes", `${request.method} ${request.url.pathname} ${body} → ${answer.status}`);
    return answer;
  };
  const kube = new KubeClient({
    host: { world, log: silentLog, metrics: newRegistry() },
    config: await loadKubeConfig(world, { master: "http://cluster" }),
    gate: openGate(),
    userAgent: "kubernetes",
    connect: () => ({ send, close: async () => {} }),
  });
  const complain = (message: string, error: unknown) => history.broken("Kubernetes does its part", `${message}: ${error}`);
  const binding = standInForVolumeControllers({ kube, lookEveryMs: 1_500, complain }, signal);
  while (!signal.aborted) {
    for (const wish of scene.claims.values()) await runPod(scene, wish);
    await bindSnapshots(scene);
    await sleep(world.clock, 2_000, signal).catch(() => {});
  }
  await binding;
}

/** The workload and its scheduler: a pod where its claim can be. */
async function runPod(scene: RolesScene, { name, className, hasPod, seat }: ClaimWish): Promise<void> {
  const { objects } = scene;
  const pod = objects.pod(name);
  const claim = objects.claim(name);
  const volume = objects.volume(claim?.spec.volumeName ?? "");
  const zone =
    volume === undefined
      ? className === "zoned"
        ? scene.machines[1]!.zone
        : scene.machine(claim?.metadata.annotations?.[selectedNode] ?? "")?.zone
      : scene.disk(volume)?.zone;
  const isWaiting = claim === undefined || (volume === undefined && !waitsForPod(className));
  const fit = isWaiting ? [] : scene.liveNodes().filter((node) => zone === undefined || node.zone === zone);
  const place = hasPod ? fit[seat % fit.length]?.name : undefined;
  if (pod !== undefined && pod.spec.nodeName !== place) {
    await scene.say("kubelet", "DELETE", `${podsPath}/${name}?gracePeriodSeconds=0`);
  } else if (pod === undefined && place !== undefined && claim?.metadata.deletionTimestamp === undefined) {
    const volumes = [{ name: "v", persistentVolumeClaim: { claimName: name } }];
    await scene.say("scheduler", "POST", podsPath, {
      metadata: { name },
      spec: { nodeName: place, containers: [{ name: "c", image: "i" }], volumes },
    });
  }
}

/** The snapshot controller: a content for each VolumeSnapshot, which goes with it. */
async function bindSnapshots(scene: RolesScene): Promise<void> {
  const { objects } = scene;
  const who = "snapshots";
  for (const { metadata, spec, status } of objects.snapshots()) {
    const content = objects.content(`snapcontent-${metadata.uid}`);
    const path = `${snapshotGroup}/namespaces/default/volumesnapshots/${metadata.name}`;
    if (metadata.deletionTimestamp !== undefined) {
      await letGo(scene, `snapcontent-${metadata.uid}`);
      if (content === undefined) await scene.say(who, "PATCH", path, { metadata: { finalizers: [] } });
    } else if (content === undefined) {
      const volume = objects.volume(objects.claim(spec.source.persistentVolumeClaimName)?.spec.volumeName ?? "");
      if (volume === undefined) continue;
      await scene.say(who, "PATCH", path, { metadata: { finalizers: [snapshotProtection] } });
      await scene.say(who, "POST", contentsPath, {
        apiVersion: "snapshot.storage.k8s.io/v1",
        kind: "VolumeSnapshotContent",
        metadata: { name: `snapcontent-${metadata.uid}`, finalizers: [`${snapshotPrefix}volumesnapshotcontent-bound-protection`] },
        spec: {
          driver: driverName,
          deletionPolicy: "Delete",
          volumeSnapshotClassName: spec.volumeSnapshotClassName,
          source: { volumeHandle: handleOf(volume.spec) },
          volumeSnapshotRef: { name: metadata.name, namespace: "default", uid: metadata.uid },
        },
      });
    } else if (content.status?.readyToUse && !status?.readyToUse) {
      const bound = { boundVolumeSnapshotContentName: content.metadata.name, readyToUse: true };
      await scene.say(who, "PATCH", `${path}/status`, { status: bound });
    }
  }
}

async function letGo(scene: RolesScene, name: string): Promise<void> {
  const content = scene.objects.content(name);
  if (content === undefined || content.metadata.deletionTimestamp !== undefined) return;
  const annotations = { [`${snapshotPrefix}volumesnapshot-being-deleted`]: "yes" };
  await scene.say("snapshots", "PATCH", `${contentsPath}/${name}`, { metadata: { annotations } });
  await scene.say("snapshots", "DELETE", `${contentsPath}/${name}`);
}
