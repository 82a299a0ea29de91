/** Fairlead in the sandbox, installed as an operator does it: with the manifests that we ship. */
import { join } from "node:path";
import type { CanonicalName } from "../commands/controller-manager/controller-names.ts";
import type { KubeClient } from "../kube/client.ts";
import type { World } from "../runtime/world.ts";
import type { Cloud } from "./cloud/cloud.ts";
import type { Network } from "./cloud/network.ts";
import type { Supervision } from "./cluster/real/supervision.ts";
import type { SandboxCluster } from "./cluster.ts";
import { gatewayApiDefinitions } from "./definitions.ts";
import { podNetwork } from "./kube-controller-manager.ts";
import { accountToken, apply, applyManifest } from "./manifests.ts";
import { NodeHandlers } from "./node-handlers.ts";
import type { Observer } from "./observer.ts";
import { balancerFile, handlerRolesFile, mainFile, queueHandlerRolesFile, rolesFile } from "./program-files.ts";
import { Replicas } from "./replicas.ts";
import { clusterName, fairleadFlags, keys, region } from "./settings.ts";
import { StepLog } from "./steps.ts";
import { startVolumeDriver, type VolumeDriverOptions, type VolumeObjects } from "./volume-driver.ts";

/** What an operator does for the termination handler: its roles, from the manifest that we ship, when the first one is started. */
export function handlersOf({
  kube,
  cluster,
  awsUrl,
  ...rest
}: Pick<Installation, "world" | "supervision" | "folder" | "cluster" | "kube" | "awsUrl"> & { readonly cloud: Cloud }) {
  const { world, folder } = rest;
  return new NodeHandlers({
    ...rest,
    kubeconfig: async (mode) => {
      const manifest = Buffer.from(await world.files.read(mode === "queue" ? queueHandlerRolesFile : handlerRolesFile)).toString("utf8");
      await applyManifest(kube, manifest, ["DaemonSet", "Deployment", "PodDisruptionBudget"]);
      return cluster.kubeconfig(await accountToken(kube, "kube-system", "fairlead-node-termination-handler"));
    },
    environment: { PATH: world.environment.PATH ?? "", HOME: folder },
    aws: environmentOf({ world, folder, awsUrl }),
  });
}

export interface Installation {
  readonly world: World;
  readonly supervision: Supervision;
  readonly folder: string;
  readonly cluster: SandboxCluster;
  readonly kube: KubeClient;
  readonly observer: Observer;
  readonly network: Network;
  readonly awsUrl: string;
  readonly controllers: ReadonlySet<CanonicalName>;
}

/** In the folder of the sandbox. */
export const cloudConfigFile = "cloud.conf";

/** What an operator does: applies the manifests we ship, writes the cloud config, and deploys two replicas. */
export async function installFairlead(installation: Installation): Promise<Replicas> {
  const { world, supervision, folder, cluster, kube, observer, network, controllers } = installation;
  const manifest = await world.files.read(rolesFile);
  await applyManifest(kube, Buffer.from(manifest).toString("utf8"));
  const token = await accountToken(kube, "kube-system", "fairlead-controller-manager");
  const cloudConfig = join(folder, cloudConfigFile);
  await world.files.write(cloudConfig, cloudConfigText(network.vpcId, network.privateSubnetIds[0]!), 0o600);
  return new Replicas({
    world,
    supervision,
    folder,
    server: cluster.server,
    kubeconfig: (server) => cluster.kubeconfig(token, server),
    flags: [`--cloud-config=${cloudConfig}`, ...fairleadFlags(podNetwork, controllers)],
    environment: environmentOf(installation),
    holder: () => observer.holder(),
  });
}

/** The load balancer controller: one process, under its own roles, and not scheduled since it runs beside the cluster. Returns its steps. */
export async function startBalancerProgram(
  installation: Omit<Installation, "observer" | "controllers">,
  signal: AbortSignal,
): Promise<StepLog> {
  const { world, supervision, folder, cluster, kube, network } = installation;
  const manifest = Buffer.from(await world.files.read(balancerFile)).toString("utf8");
  for (const definition of gatewayApiDefinitions) await apply(kube, definition);
  await applyManifest(kube, manifest, ["Deployment", "PodDisruptionBudget"]);
  const token = await accountToken(kube, "kube-system", "fairlead-load-balancer-controller");
  const kubeconfig = join(folder, "fairlead-balancers.kubeconfig");
  await world.files.write(kubeconfig, cluster.kubeconfig(token), 0o600);
  const flags = [
    `--kubeconfig=${kubeconfig}`,
    `--cluster-name=${clusterName}`,
    `--aws-region=${region}`,
    `--aws-vpc-id=${network.vpcId}`,
    // There is one of it, and nobody scrapes or probes it.
    "--enable-leader-election=false",
    "--metrics-bind-addr=0",
    "--health-probe-bind-addr=0",
    // As much faster as the cloud is.
    "--targetgroupbinding-requeue-duration=1s",
  ];
  const log = join(folder, "fairlead-balancers.log");
  const options = { log, folder, environment: environmentOf(installation) };
  await supervision.start(process.execPath, [mainFile, "load-balancer-controller", ...flags], options);
  const steps = new StepLog("balancers");
  void steps.follow(log, world.clock, signal);
  return steps;
}

/** The driver of volumes, under its own roles. */
export function startVolumes(
  installation: Omit<Installation, "network" | "controllers"> & Pick<VolumeDriverOptions, "complain">,
  signal: AbortSignal,
): Promise<VolumeObjects> {
  const { world, supervision, folder, cluster, kube, observer, complain } = installation;
  const kubeconfig = async () => cluster.kubeconfig(await accountToken(kube, "kube-system", "fairlead-ebs-csi-controller"));
  const environment = { ...environmentOf(installation), AWS_REGION: region };
  return startVolumeDriver({ world, supervision, folder, kube, nodes: observer.nodes, kubeconfig, environment, complain }, signal);
}

/** What Fairlead's processes find AWS by. */
function environmentOf({ world, folder, awsUrl }: Pick<Installation, "world" | "folder" | "awsUrl">): Readonly<Record<string, string>> {
  return {
    PATH: world.environment.PATH ?? "",
    HOME: folder,
    AWS_ENDPOINT_URL: awsUrl,
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_ACCESS_KEY_ID: keys.fairlead,
    AWS_SECRET_ACCESS_KEY: keys.secret,
  };
}

/** As an operator writes it who runs the controllers outside the cluster's machines. */
function cloudConfigText(vpc: string, subnet: string): string {
  return `[Global]\nRegion = ${region}\nVPC = ${vpc}\nSubnetID = ${subnet}\nKubernetesClusterID = ${clusterName}\n`;
}
