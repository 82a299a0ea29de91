/** A real API server and a simulated account, with the CSI project's sidecars or the built-in roles at work in them. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { KubeClient } from "../../../src/kube/client.ts";
import { realWorld } from "../../../src/runtime/world.ts";
import { type Cloud, createCloud } from "../../../src/sandbox/cloud/cloud.ts";
import type { Instance } from "../../../src/sandbox/cloud/ec2/state.ts";
import { launchNodes, standardNetwork } from "../../../src/sandbox/cloud/network.ts";
import { serve } from "../../../src/sandbox/cloud/serve.ts";
import { obtainAssets } from "../../../src/sandbox/cluster/assets/assets.ts";
import { startCluster } from "../../../src/sandbox/cluster/real/cluster.ts";
import { applyManifest } from "../../../src/sandbox/manifests.ts";
import { standInForVolumeControllers } from "../../../src/sandbox/volume-controllers.ts";
import { volumeAttachments } from "../../../src/volumes/storage-resources.ts";
import { booted } from "../../bed/booted.ts";
import { TestCluster } from "../../bed/cluster.ts";
import { eventually } from "../../bed/eventually.ts";
import { apply } from "../../bed/manifests.ts";
import { mainFile, startProcess } from "../../bed/process.ts";
import { testHost } from "../../bed/world.ts";
import { type Sidecar, sidecar, snapshotDefinitions } from "../sidecars.ts";

const clusterId = "referee";
export const driver = "ebs.csi.aws.com";
/** How many times faster than EC2 the simulated one is. */
const speed = 20;
/** A claim takes seconds, and minutes on a machine that is busy. */
export const limitMs = 4 * 60_000;

export interface SidecarWorld {
  readonly kube: KubeClient;
  readonly aws: Cloud;
  readonly nodes: readonly Instance[];
  /** The ends of the logs, for the message of a failure. */
  logs(): Promise<string>;
}

interface Place {
  readonly cluster: TestCluster;
  readonly kubeconfig: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly logFiles: string[];
  /** Aborts with the test. */
  readonly signal: AbortSignal;
}

/** Starts what serves the claims. Snapshots are bound by the snapshot controller in either case. */
export type Starter = (place: Place) => Promise<void>;

export async function sidecarWorld(t: TestContext, start: Starter): Promise<SidecarWorld> {
  const host = testHost();
  const assets = await obtainAssets({ world: host.world, say: (line) => process.stderr.write(`${line}\n`) });
  // The provisioner and the resizer that can be built read classes of attributes in the form from before 1.34.
  const flags = ["--runtime-config=storage.k8s.io/v1beta1/volumeattributesclasses=true"];
  const cluster = await TestCluster.install(await startCluster({ world: host.world, assets, flags }), host);
  const over = new AbortController();
  const aws = createCloud({ world: realWorld(), settings: { speed } });
  const served = await serve(aws);
  t.after(async () => {
    over.abort();
    await served.close();
    await cluster.close();
    await cluster.real.stop();
  });
  const nodes = launchNodes(aws, standardNetwork(aws, { clusterId }), 4, "m5.large");
  await booted(aws, nodes);
  const kube = cluster.admin;
  await applyManifest(kube, await readFile(await snapshotDefinitions(), "utf8"));
  await eventually(async () => assert.ok(await kube.raw("/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents")), limitMs);
  for (const node of nodes) await register(kube, node);
  const place: Place = {
    cluster,
    kubeconfig: await cluster.kubeconfigWith("referee", cluster.real.admin),
    environment: {
      AWS_REGION: aws.account.region,
      AWS_EC2_ENDPOINT: served.url,
      AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
      AWS_SECRET_ACCESS_KEY: "secret",
      AWS_EC2_METADATA_DISABLED: "true",
    },
    logFiles: [],
    signal: over.signal,
  };
  await startSidecar(place, "snapshot-controller");
  await start(place);
  void standInForVolumeControllers({ kube, lookEveryMs: 500, complain: () => {} }, over.signal);
  return {
    kube,
    aws,
    nodes,
    async logs() {
      const texts = await Promise.all(place.logFiles.map(async (file) => `${file}\n${(await readFile(file, "utf8")).slice(-3_000)}`));
      return texts.join("\n");
    },
  };
}

async function register(kube: KubeClient, { id, privateDnsName: name, zone }: Instance): Promise<void> {
  const labels = { "topology.kubernetes.io/zone": zone, [`topology.${driver}/zone`]: zone, "kubernetes.io/os": "linux" };
  await apply(kube, { apiVersion: "v1", kind: "Node", metadata: { name, labels }, ...{ spec: { providerID: `aws:///${zone}/${id}` } } });
  const drivers = [{ name: driver, nodeID: id, topologyKeys: Object.keys(labels), allocatable: { count: 25 } }];
  await apply(kube, { apiVersion: "storage.k8s.io/v1", kind: "CSINode", metadata: { name }, ...{ spec: { drivers } } });
}

/** The driver alone, and the sidecars that call it. csi-attacher cannot be built here; a stand-in marks volumes as attached. */
export const startSidecars: Starter = async (place) => {
  const { cluster, environment } = place;
  const { supervision, folder } = cluster.real;
  const socket = join(folder, "csi.sock");
  const args = ["ebs-csi-driver", "controller", `--endpoint=unix://${socket}`, `--k8s-tag-cluster-id=${clusterId}`];
  const process = await startProcess(supervision, folder, "driver", mainFile, args, { environment });
  place.logFiles.push(join(folder, "driver.log"));
  await process.says(/serves CSI/, limitMs);
  const address = `--csi-address=${socket}`;
  // The arguments of the chart of the reference.
  await startSidecar(
    place,
    "csi-provisioner",
    address,
    "--timeout=60s",
    "--feature-gates=Topology=true,VolumeAttributesClass=true",
    "--extra-create-metadata",
    "--default-fstype=ext4",
  );
  await startSidecar(
    place,
    "csi-resizer",
    address,
    "--timeout=60s",
    "--feature-gates=VolumeAttributesClass=true",
    "--extra-modify-metadata",
    "--handle-volume-inuse-error=false",
  );
  await startSidecar(place, "csi-snapshotter", address, "--timeout=60s", "--extra-create-metadata");
  standInForAttacher(cluster.admin, place.signal);
};

/** The driver with the built-in roles. */
export const startRoles: Starter = async (place) => {
  const { cluster, kubeconfig, environment } = place;
  const { supervision, folder } = cluster.real;
  const flags = ["--built-in-roles", "--default-fstype=ext4", `--kubeconfig=${kubeconfig}`, `--k8s-tag-cluster-id=${clusterId}`];
  await startProcess(supervision, folder, "roles", mainFile, ["ebs-csi-driver", "controller", ...flags], { environment });
  place.logFiles.push(join(folder, "roles.log"));
};

/** Starts it, and again whenever it ends: a sidecar that does not reach its driver at once leaves the rest to kubelet. */
async function startSidecar(place: Place, name: Sidecar, ...args: readonly string[]): Promise<void> {
  const { cluster, kubeconfig, logFiles, signal } = place;
  const { supervision, folder } = cluster.real;
  const log = join(folder, `${name}.log`);
  logFiles.push(log);
  const program = await sidecar(name);
  const start = () =>
    supervision.start(program, [`--kubeconfig=${kubeconfig}`, "--v=4", ...args], { log, folder, environment: { HOME: folder } });
  const first = await start();
  const keepRunning = async () => {
    for (let running = first; !signal.aborted; running = await start()) await running.exit();
  };
  void keepRunning().catch(() => {});
}

/** Says of every attachment that it is there: then the stand-in for kubelet grows file systems. */
function standInForAttacher(kube: KubeClient, signal: AbortSignal): void {
  const look = async () => {
    for (const { metadata, status } of (await kube.list(volumeAttachments)).items) {
      if (status?.attached) continue;
      await kube.patch(volumeAttachments, { name: metadata.name, subresource: "status" }, { merge: { status: { attached: true } } });
    }
  };
  const timer = setInterval(() => void look().catch(() => {}), 500);
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}
