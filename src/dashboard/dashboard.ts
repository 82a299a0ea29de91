/** The dashboard of a cluster: its page, what the page is told, and what it may ask. It changes nothing. */
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import type { Tags } from "../aws/instance.ts";
import { clusterTagPrefix } from "../identity/cluster-id.ts";
import { clusterTagFilter, isOwned } from "../identity/ownership.ts";
import type { Self } from "../identity/self.ts";
import type { KubeClient } from "../kube/client.ts";
import { isOfCluster } from "../loadbalancers/controller-names.ts";
import type { World } from "../runtime/world.ts";
import { tagKeys } from "../volumes/names.ts";
import { pageFiles } from "./page-files.ts";
import { type Answer, type DashboardServing, serveDashboard } from "./serving.ts";
import { type Endpoint, Watching } from "./watching.ts";

export interface DashboardOptions {
  readonly world: World;
  /** The cluster and its account, read-only. */
  readonly live: {
    readonly kube: KubeClient;
    readonly cloud: Cloud;
    readonly self: Self;
    /** The `--cluster-name` of the controllers. */
    readonly clusterName: string;
    readonly ask: Ask;
  };
  /** What to do about a Warning, by its reason. */
  readonly remedies: ReadonlyMap<string, string>;
  /** 0 picks a free one. */
  readonly port: number;
  endpoints(): readonly Endpoint[];
  /** Runs `fairlead plan` with these words; `manifest` is the text that `-f` reads. Resolves with what it prints. */
  plan(words: readonly string[], manifest: string | undefined, signal: AbortSignal): Promise<string>;
}

export interface Dashboard extends DashboardServing {
  /** Rejects when it can go on no longer. */
  readonly ended: Promise<void>;
}

/** The Leases of the programs, under the names they have unless told otherwise. */
const leaseNames = [
  "cloud-controller-manager",
  "aws-load-balancer-controller-leader",
  "aws-node-termination-handler",
  "ebs-csi-aws-com",
  "fairlead-cluster",
];

/** Serves until the signal aborts. */
export async function openDashboard(options: DashboardOptions, signal: AbortSignal): Promise<Dashboard> {
  const { world, live, port, endpoints, remedies } = options;
  const { kube, cloud, self, clusterName, ask } = live;
  const { id } = self.cluster;
  const isNamed = (tags: Tags, name: string) => isOfCluster(tags, name) || tags[tagKeys.clusterName] === name;
  const isOurs = (tags: Tags) =>
    isOwned(tags, self.cluster) || tags[clusterTagPrefix + id] !== undefined || [id, clusterName].some((name) => isNamed(tags, name));
  const scope = { vpc: self.vpc ?? "", ofCluster: clusterTagFilter(self.cluster), isOurs };
  const leases = { namespace: "kube-system", names: leaseNames };
  const watching = new Watching({ world, kube, cloud, scope, ask, endpoints, leases, remedies });
  const serving = await serveDashboard({
    random: world.random,
    port,
    files: await pageFiles(),
    stream: (until) => watching.stream(until),
    ask: (path, input, until) => answer(options, watching, path, input, until),
  });
  return { ...serving, ended: watching.run(signal) };
}

const planned = /^(service|ingress|gateway)\//;

async function answer(
  { plan }: DashboardOptions,
  watching: Watching,
  path: string,
  input: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Answer> {
  switch (path) {
    case "/open":
      await watching.open(input.id ?? "");
      return { status: 200, value: {} };
    case "/plan": {
      const { object = "", manifest } = input;
      if (manifest !== undefined) return { status: 200, value: { text: await plan(["-f", pasted], manifest, signal) } };
      if (object !== "" && !planned.test(object)) {
        return { status: 200, value: { problem: `there is no plan for ${object}: choose a Service, an Ingress or a Gateway on the map` } };
      }
      return { status: 200, value: { text: await plan(object === "" ? ["-A"] : [object], undefined, signal) } };
    }
    default:
      return { status: 404, value: { problem: "there is nothing here" } };
  }
}

/** The name under which the manifest of the page is read. */
export const pasted = "the manifest";
