/**
 * The EBS CSI driver as its Deployment runs it, with the roles of the sidecars inside, and stand-ins for what Kubernetes itself does
 * for volumes.
 */
import { join } from "node:path";
import { nodes } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import { type Informer, informer, type Trimmed } from "../kube/informer.ts";
import type { Node, PersistentVolumeClaim } from "../kube/types.ts";
import { sleep, type World } from "../runtime/world.ts";
import { driverName } from "../volumes/names.ts";
import { claims, csiNodes, type VolumeSnapshot, volumeSnapshots } from "../volumes/storage-resources.ts";
import type { Supervision } from "./cluster/real/supervision.ts";
import { apply, applyManifest } from "./manifests.ts";
import { mainFile, volumesFile } from "./program-files.ts";
import { clusterName } from "./settings.ts";
import { snapshotDefinitions, standInForSnapshotController } from "./snapshot-controller.ts";
import { standInForVolumeControllers } from "./volume-controllers.ts";

export interface VolumeDriverOptions {
  readonly world: World;
  readonly supervision: Supervision;
  readonly folder: string;
  readonly kube: KubeClient;
  /** Every one of them has the driver's node part, as far as others can see. */
  readonly nodes: Informer<Trimmed<Node>>;
  /** Of the controller's service account, once that is there. */
  readonly kubeconfig: () => Promise<string>;
  readonly environment: Readonly<Record<string, string>>;
  readonly complain: (message: string, error: unknown) => void;
}

/** What users of volumes see. */
export interface VolumeObjects {
  readonly claims: Informer<Trimmed<PersistentVolumeClaim>>;
  readonly snapshots: Informer<Trimmed<VolumeSnapshot>>;
}

const lookEveryMs = 500;

/** Installs the driver from the manifest that we ship, starts its controller, and looks after the rest until the signal aborts. */
export async function startVolumeDriver(options: VolumeDriverOptions, signal: AbortSignal): Promise<VolumeObjects> {
  const { world, supervision, folder, kube, environment, complain } = options;
  const manifest = Buffer.from(await world.files.read(volumesFile)).toString("utf8");
  await applyManifest(kube, manifest, ["DaemonSet", "Deployment", "PodDisruptionBudget"]);
  for (const definition of snapshotDefinitions) await apply(kube, definition);
  const kubeconfig = join(folder, "fairlead-volumes.kubeconfig");
  await world.files.write(kubeconfig, await options.kubeconfig(), 0o600);
  const flags = [
    "--built-in-roles",
    `--k8s-tag-cluster-id=${clusterName}`,
    `--kubeconfig=${kubeconfig}`,
    // As much faster as the cloud is.
    "--modify-volume-request-handler-timeout=100ms",
  ];
  const log = join(folder, "fairlead-volumes.log");
  await supervision.start(process.execPath, [mainFile, "ebs-csi-driver", "controller", ...flags], { log, folder, environment });
  const objects = { claims: informer({ client: kube, of: claims }), snapshots: informer({ client: kube, of: volumeSnapshots }) };
  for (const each of Object.values(objects)) void each.run(signal);
  void standInForVolumeControllers({ kube, lookEveryMs, complain }, signal);
  void standInForSnapshotController({ kube, lookEveryMs, complain }, signal);
  void registerDriver(options, signal);
  return objects;
}

/** What the driver's node part and kubelet do when it starts on a machine, and the garbage collector when its Node is gone. */
async function registerDriver({ kube, nodes: seen, complain }: VolumeDriverOptions, signal: AbortSignal): Promise<void> {
  /** Names of Nodes with a CSINode, and their UIDs. */
  const registered = new Map<string, string>();
  const look = async () => {
    for (const name of registered.keys()) {
      if (seen.get(name)?.metadata.uid === registered.get(name)) continue;
      await kube.delete(csiNodes, { name }, { signal }).catch(unlessNotFound);
      registered.delete(name);
    }
    for (const node of seen.list()) {
      const { name, uid } = node.metadata;
      if (registered.has(name) || !(await register(kube, node, signal))) continue;
      registered.set(name, uid);
    }
  };
  while (!signal.aborted) {
    await look().catch((error: unknown) => {
      if (!signal.aborted) complain("the driver was not registered on a node", error);
    });
    await sleep(kube.host.world.clock, lookEveryMs, signal).catch(() => {});
  }
}

/** Whether it could be: the cloud has to have its say on the Node first. */
async function register(
  kube: KubeClient,
  { metadata, spec }: ReturnType<VolumeDriverOptions["nodes"]["list"]>[number],
  signal: AbortSignal,
): Promise<boolean> {
  const { name, labels = {} } = metadata;
  const zone = labels[zoneLabel];
  const nodeID = spec?.providerID?.split("/").at(-1);
  if (zone === undefined || !nodeID) return false;
  const own = { [`topology.${driverName}/zone`]: zone };
  await kube.patch(nodes, { name }, { merge: { metadata: { labels: own } } }, { signal });
  const drivers = [{ name: driverName, nodeID, topologyKeys: [zoneLabel, ...Object.keys(own)], allocatable: { count: 25 } }];
  await kube.create(csiNodes, { metadata: { name }, spec: { drivers } }, { signal });
  return true;
}

const zoneLabel = "topology.kubernetes.io/zone";

function unlessNotFound(error: unknown): void {
  if (!isApiError(error, "not-found")) throw error;
}
