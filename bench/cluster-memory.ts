/**
 * What a whole cluster costs in one process: `fairlead cluster` with every program on, beside the reference's programs that it takes the
 * place of, each idle on the same real API server and simulated account.
 *
 *     node bench/cluster-memory.ts [seconds]      what each takes after so many seconds of idling
 *
 * csi-attacher and the liveness probe cannot be built here and count as nothing.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { bundle } from "../deploy/build/bundle.ts";
import { ingressClassParamsDefinition } from "../src/loadbalancers/ingress/crd.ts";
import { targetGroupBindingDefinition } from "../src/loadbalancers/targets/crd.ts";
import { realWorld } from "../src/runtime/world.ts";
import { createCloud } from "../src/sandbox/cloud/cloud.ts";
import { launchNodes, standardNetwork } from "../src/sandbox/cloud/network.ts";
import { serve } from "../src/sandbox/cloud/serve.ts";
import { createQueue } from "../src/sandbox/cloud/sqs/queues.ts";
import { obtainAssets } from "../src/sandbox/cluster/assets/assets.ts";
import { startCluster } from "../src/sandbox/cluster/real/cluster.ts";
import { applyManifest } from "../src/sandbox/manifests.ts";
import { TestCluster } from "../test/bed/cluster.ts";
import { apply } from "../test/bed/manifests.ts";
import { testHost } from "../test/bed/world.ts";
import { endpointFlag, placeFlags, webhookFlags } from "../test/referees/balancer-flags.ts";
import {
  referenceControllerManager,
  referenceLoadBalancerController,
  referenceTerminationHandler,
  referenceVolumeDriver,
} from "../test/referees/reference.ts";
import { sidecar, snapshotDefinitions } from "../test/referees/sidecars.ts";
import { startAsInPod } from "../test/referees/termination-handlers.ts";
import { nodeFlags } from "./bed/entrants.ts";
import { load, memoryOf } from "./bed/machine.ts";

const idleSeconds = Number(process.argv[2] ?? 60);
const clusterId = "bench";
const folder = await mkdtemp(join(tmpdir(), "fairlead-bench-"));
const host = testHost();
const say = (line: string) => console.error(line);
const cluster = await TestCluster.install(
  await startCluster({ world: host.world, assets: await obtainAssets({ world: host.world, say }) }),
  host,
);
const cloud = createCloud({ world: realWorld() });
const { vpcId, privateSubnetIds } = standardNetwork(cloud, { clusterId });
const { region } = cloud.account;
const served = await serve(cloud);
try {
  await bundle(folder);
  const program = join(folder, "fairlead.js");
  for (const { id, privateDnsName: name, zone } of launchNodes(cloud, { ...standardNetwork(cloud, { clusterId }) }, 3, "m5.large")) {
    cloud.account.ec2.instances.update(id, { state: "running" });
    await apply(cluster.admin, { apiVersion: "v1", kind: "Node", metadata: { name }, ...{ spec: { providerID: `aws:///${zone}/${id}` } } });
  }
  await applyManifest(cluster.admin, await readFile(await snapshotDefinitions(), "utf8"));
  for (const definition of [targetGroupBindingDefinition, ingressClassParamsDefinition]) await apply(cluster.admin, definition as never);
  const kubeconfig = await cluster.kubeconfigWith("bench", cluster.real.admin);
  const cloudConfig = join(folder, "cloud.conf");
  const overrides = `[ServiceOverride "1"]\nService=EC2\nRegion=${region}\nURL=${served.url}\nSigningRegion=${region}\n[ServiceOverride "2"]\nService=Elastic Load Balancing\nRegion=${region}\nURL=${served.url}\nSigningRegion=${region}\n`;
  await writeFile(
    cloudConfig,
    `[Global]\nRegion=${region}\nZone=${region}a\nVPC=${vpcId}\nSubnetID=${privateSubnetIds[0]}\nKubernetesClusterID=${clusterId}\n${overrides}`,
  );
  const aws = {
    AWS_ACCESS_KEY_ID: "AKIAREFERENCE",
    AWS_SECRET_ACCESS_KEY: "of-no-worth",
    AWS_REGION: region,
    AWS_EC2_METADATA_DISABLED: "true",
  };
  const environment = { ...aws, PATH: process.env.PATH ?? "", HOME: folder, AWS_EC2_ENDPOINT: served.url, AWS_ENDPOINT_URL: served.url };
  const socket = join(folder, "csi.sock");
  const place = placeFlags({ clusterName: clusterId, region, vpc: vpcId });
  const balancer = { "cluster-name": clusterId, "feature-gates": "IngressController=true" };
  const { QueueUrl } = createQueue(cloud.account.sqs, { QueueName: "interruptions" });
  const queue = new URL(new URL(QueueUrl!).pathname, served.url).href;
  const config = join(folder, "cluster.json");
  const file = {
    "controller-manager": { "configure-cloud-routes": false },
    "load-balancer-controller": balancer,
    "node-termination-handler": { "queue-url": QueueUrl },
    "ebs-csi-driver": { "k8s-tag-cluster-id": clusterId },
  };
  await writeFile(config, JSON.stringify(file));
  const sidecarFlags = [`--kubeconfig=${kubeconfig}`, `--csi-address=${socket}`];
  const entrants: Readonly<Record<string, readonly string[]>> = {
    "aws-cloud-controller-manager": [
      await referenceControllerManager(say),
      "--cloud-provider=aws",
      `--cloud-config=${cloudConfig}`,
      ...["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"].map((flag) => `--${flag}=${kubeconfig}`),
      "--bind-address=127.0.0.1",
      "--secure-port=0",
      "--configure-cloud-routes=false",
    ],
    "aws-load-balancer-controller": [
      await referenceLoadBalancerController(say),
      ...place,
      endpointFlag(served.url),
      `--kubeconfig=${kubeconfig}`,
      "--metrics-bind-addr=0",
      ...(await webhookFlags(cluster)),
    ],
    "aws-ebs-csi-driver": [await referenceVolumeDriver(say), "controller", `--endpoint=unix://${socket}`, "--batching=true"],
    "csi-provisioner": [await sidecar("csi-provisioner", say), ...sidecarFlags, "--feature-gates=Topology=true"],
    "csi-resizer": [await sidecar("csi-resizer", say), ...sidecarFlags],
    "csi-snapshotter": [await sidecar("csi-snapshotter", say), ...sidecarFlags],
  };
  console.log(`after ${idleSeconds} s of idling; load of the machine ${load().toFixed(1)}`);
  const { supervision, folder: logs } = cluster.real;
  const started = [];
  for (const [name, [command = "", ...args]] of Object.entries(entrants)) {
    started.push({ name, child: await supervision.start(command, args, { log: join(logs, `${name}.log`), folder, environment }) });
    // A sidecar that does not find its driver ends.
    if (name === "aws-ebs-csi-driver") await pause(5_000);
  }
  const command = [
    await referenceTerminationHandler(say),
    "--enable-sqs-termination-draining",
    `--queue-url=${queue}`,
    "--node-name=bench",
  ];
  const inPod = { name: "node-termination-handler", user: "reference-handler", command, environment: { ...aws, AWS_ENDPOINT: served.url } };
  started.push({ name: inPod.name, child: await startAsInPod(cluster, inPod) });
  await pause(idleSeconds * 1_000);
  const sum = { residentMb: 0, ownMb: 0 };
  for (const { name, child } of started) {
    if (child.ended !== undefined)
      throw new Error(`${name} has ended:\n${(await readFile(join(logs, `${name}.log`), "utf8")).slice(-2_000)}`);
    const { residentMb, ownMb } = await memoryOf(child.pid);
    sum.residentMb += residentMb;
    sum.ownMb += ownMb;
    console.log(name, JSON.stringify({ residentMb, ownMb }));
    child.signal("SIGKILL");
  }
  console.log("the reference's programs together", JSON.stringify(sum));
  const log = join(folder, "cluster.log");
  const flags = [...(await nodeFlags(program)), program, "cluster", `--config=${config}`, `--kubeconfig=${kubeconfig}`];
  const child = await supervision.start(process.execPath, [...flags, `--cloud-config=${cloudConfig}`, "--secure-port=0"], {
    log,
    folder,
    environment,
  });
  await pause(idleSeconds * 1_000);
  const said = await readFile(log, "utf8");
  if (child.ended !== undefined) throw new Error(`fairlead cluster has ended:\n${said.slice(-3_000)}`);
  console.log(
    "fairlead cluster",
    JSON.stringify(await memoryOf(child.pid)),
    [...said.matchAll(/Started \\"([\w-]+)\\"/g)].map(([, name]) => name).join(" "),
  );
  if (process.env.VERBOSE) console.log(said);
  child.signal("SIGKILL");
} finally {
  await served.close();
  await cluster.close();
  await cluster.real.stop();
  await rm(folder, { recursive: true, force: true });
}
