/** A cluster and its AWS account as commands look at them: read-only, once, with what the controllers would go by. */
import type { Ask } from "../aws/ask.ts";
import { type Cloud, Clouds } from "../aws/cloud.ts";
import { awsSockets } from "../aws/sockets.ts";
import { claimedInstance, type NodeView, nodeView, type SeenNode } from "../identity/node-view.ts";
import { configuredSelf, identifySelf, type Self, selfOn } from "../identity/self.ts";
import { nodes, services } from "../kube/builtin.ts";
import { KubeClient } from "../kube/client.ts";
import { discoverKubeConfig } from "../kube/config/load.ts";
import type { Connect } from "../kube/connections.ts";
import type { Stored } from "../kube/resource.ts";
import type { Service } from "../kube/types.ts";
import { Inventory } from "../loadbalancers/inventory.ts";
import type { SurveyParts } from "../loadbalancers/service/survey.ts";
import { type SeenService, serviceState } from "../loadbalancers/service-state.ts";
import { build } from "../process/build.ts";
import { agentOf } from "../process/clients.ts";
import { type FlagValues, flag, undecided } from "../runtime/flags.ts";
import { bool, string } from "../runtime/flags-kinds.ts";
import { dryRunGate, type WriteGate } from "../runtime/gate.ts";
import type { Transport } from "../runtime/http.ts";
import { silentLog } from "../runtime/log.ts";
import { newRegistry } from "../runtime/metrics.ts";
import type { World } from "../runtime/world.ts";
import { clusterFlags, findSettings } from "./cluster-settings.ts";
import type { CloudConfig } from "./controller-manager/cloud-config.ts";
import { loadBalancerSettings } from "./controller-manager/load-balancer-settings.ts";

/** The flags that say which cluster and which account. */
export const liveFlags = {
  ...clusterFlags,
  master: flag(string, "", "Address of the API server; overrides the kubeconfig's."),
  namespace: flag(string, "", "Namespace of Services that are named without one. Empty: that of the context, else default.", {
    shorthand: "n",
  }),
  "strict-cloud-config": flag(bool, false, "Refuse a cloud config with unknown keys."),
  "cluster-name": undecided(string, "found from the cluster, else kubernetes", "The --cluster-name of the controllers."),
  "cluster-cidr": flag(string, "", "The --cluster-cidr of the controllers, for routes. Empty: found from the cluster."),
  help: flag(bool, false, "Print this.", { shorthand: "h" }),
};

/** How the cluster and AWS are reached; sockets unless told otherwise. */
export interface Network {
  readonly aws?: Transport;
  readonly kube?: Connect;
}

/** What a command looks at. */
export interface Live extends SurveyParts {
  readonly kube: KubeClient;
  readonly cloud: Cloud;
  readonly all: readonly SeenService[];
  readonly stored: readonly Stored<Service>[];
  readonly self: Self;
  readonly config: CloudConfig;
  readonly clusterName: string;
  /** As `--cluster-cidr` is written; empty when it is not known. */
  readonly clusterCidr: string;
  /** Of objects that are named without one. */
  readonly namespace: string;
  /** What the user should know about what was gone by. */
  readonly notes: readonly string[];
  readonly ask: Ask;
  close(): Promise<void>;
}

/** The user has to say more, or something else. */
export class NotPossible extends Error {
  override readonly name = "NotPossible";
}

/** Opens both, and reads all Services and Nodes. Whatever would write is stopped by the gate, unless another is given. */
export async function openLive(
  flags: FlagValues<typeof liveFlags>,
  world: World,
  cause: string,
  signal: AbortSignal,
  network: Network = {},
  gate: WriteGate = dryRunGate(() => {}),
): Promise<Live> {
  const host = { world, log: silentLog, metrics: newRegistry() };
  const { kubeconfig, context, master } = flags;
  const config = await discoverKubeConfig(world, { kubeconfig, context, master });
  const kube = new KubeClient({ host, config, gate, userAgent: agentOf(cause), ...(network.kube && { connect: network.kube }) });
  const found = await findSettings(host, kube, flags, signal);
  const { config: cloudConfig, installation } = found;
  const sockets = network.aws === undefined ? awsSockets(world) : undefined;
  const transport = network.aws ?? sockets!.send;
  const clouds = new Clouds({ host, transport, gate, settings: cloudConfig.aws, version: build.version });
  const ask: Ask = { cause, signal, urgency: "user" };
  const cloud = await clouds.home(signal);
  const clusterName = flags["cluster-name"] ?? installation?.clusterName ?? "kubernetes";
  const self = await selfOf(cloudConfig, found.nodes, clouds, ask);
  if (self.vpc === undefined) throw new NotPossible("the VPC of the cluster is not known: set VPC in the cloud config");
  const [listed, seenNodes] = await Promise.all([kube.list(services, { signal }), kube.list(nodes, { signal })]);
  const views: readonly SeenNode[] = seenNodes.items.map(nodeView);
  const scope = { vpc: self.vpc, cluster: self.cluster, ...(self.subnet && { ownSubnetId: self.subnet }) };
  return {
    kube,
    cloud,
    self,
    config: cloudConfig,
    clusterName,
    clusterCidr: flags["cluster-cidr"] || (installation?.clusterCidr ?? ""),
    namespace: flags.namespace || (config.namespace ?? "default"),
    notes: found.notes,
    ask,
    stored: listed.items,
    all: listed.items.map(serviceState),
    nodes: { list: () => views },
    inventory: new Inventory(cloud, world.clock, scope),
    settings: loadBalancerSettings(cloudConfig, clusterName, self.cluster.id),
    async close() {
      await Promise.all([kube.close(), sockets?.close()]);
    },
  };
}

/**
 * What the controllers find out about themselves on their own machine: configured, or read from a machine of the cluster,
 * a control plane's if there is one. Only where no Node leads to a machine is it this process's own.
 */
async function selfOf({ aws }: CloudConfig, views: readonly NodeView[], clouds: Clouds, ask: Ask): Promise<Self> {
  const configured = configuredSelf(aws);
  if (configured !== undefined) return configured;
  const cloud = await clouds.home(ask.signal);
  const candidates = [...views.filter(isControlPlane), ...views.filter((node) => !isControlPlane(node))].flatMap(
    (node) => claimedInstance(node) ?? [],
  );
  for (const id of candidates.slice(0, maxLookups)) {
    const lookup = await cloud.instances.lookup(id, ask);
    if (lookup.kind === "found") return selfOn(aws, lookup.instance);
  }
  return identifySelf(aws, clouds, ask);
}

/** Nodes whose machines are gone are few; where these all are, the next would be too. */
const maxLookups = 5;

function isControlPlane({ metadata }: NodeView): boolean {
  return metadata.labels["node-role.kubernetes.io/control-plane"] !== undefined;
}

/** `service/web`, `svc/shop/web` or `web`: namespace and name. */
export function serviceNamed(word: string, namespace: string): { readonly namespace: string; readonly name: string } {
  const parts = word.replace(/^(services?|svc)\//, "").split("/");
  const [first = "", second] = parts;
  if (parts.length > 2 || first === "" || second === "")
    throw new NotPossible(`${JSON.stringify(word)} names no Service: write service/NAME`);
  return second === undefined ? { namespace, name: first } : { namespace: first, name: second };
}
