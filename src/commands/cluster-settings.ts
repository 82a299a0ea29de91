/** Which cluster a command looks at, as kubectl finds it, and what the cluster itself tells of its account. */
import { regionOfZone } from "../aws/regions.ts";
import { claimOf, type NodeView, nodeView } from "../identity/node-view.ts";
import { configMaps, nodes, pods } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import { flag } from "../runtime/flags.ts";
import { string } from "../runtime/flags-kinds.ts";
import type { Host } from "../runtime/host.ts";
import { type CloudConfig, readCloudConfig } from "./controller-manager/cloud-config.ts";
import { loadCloudConfig } from "./controller-manager/load-cloud-config.ts";
import { controllerSelectors, type FileSource, hostConfigOf, type Installation, installationOf } from "./installation.ts";

/** The flags by which every command that looks at a cluster finds it. */
export const clusterFlags = {
  kubeconfig: flag(
    string,
    "",
    "Path of a kubeconfig file. Empty: the files of $KUBECONFIG, else ~/.kube/config, else the pod's service account.",
  ),
  context: flag(string, "", "Context of the kubeconfig to use. Empty: the current one."),
  "cloud-config": flag(string, "", "The cloud config file that the controllers are given. Empty: found from the cluster."),
};

/** What a command goes by. */
export interface ClusterSettings {
  readonly config: CloudConfig;
  /** The Nodes, where they were read for this. */
  readonly nodes: readonly NodeView[];
  readonly installation: Installation | undefined;
  /** What the user should know about how this was found. */
  readonly notes: readonly string[];
}

/**
 * The settings of the file, if one is given. For whatever is not in it, a person's command asks the cluster: how its
 * controllers were started, and in which region its Nodes are. In a pod nothing is asked, because what is to be found there
 * is what the controllers find.
 */
export async function findSettings(
  host: Host,
  kube: KubeClient,
  given: { readonly "cloud-config": string; readonly "strict-cloud-config": boolean },
  signal: AbortSignal,
): Promise<ClusterSettings> {
  const file = given["cloud-config"] === "" ? undefined : await loadCloudConfig(host, given);
  if (!kube.config.fromFile) {
    return { config: file ?? (await loadCloudConfig(host, given)), nodes: [], installation: undefined, notes: [] };
  }
  const [seen, installations] = await Promise.all([nodesOf(kube, signal), findInstallations(kube, signal)]);
  const [installation] = installations;
  const { config, notes } = file === undefined ? await configOf(kube, installation, signal) : { config: file, notes: [] };
  const unread = installation?.unreadConfig;
  const hostNote = `pod ${installation?.pod} is given --config=${unread}, which cannot be read from here: what that file sets for the controller manager is not known`;
  const spaces = [...new Set(installations.map(namespaceOf))];
  const spacesNote = `pods that call themselves controller managers run in ${spaces.join(" and ")}: the settings are those of pod ${installation?.pod}`;
  const { zone, region } = config.aws;
  const found = zone || region ? undefined : (installation?.region ?? regionOfNodes(seen));
  return {
    config: found === undefined ? config : { ...config, aws: { ...config.aws, region: found } },
    nodes: seen,
    installation,
    notes: [...notes, ...(unread === undefined ? [] : [hostNote]), ...(spaces.length > 1 ? [spacesNote] : [])],
  };
}

/** The region that all Nodes are in; undefined when they do not agree, or none says. */
export function regionOfNodes(views: readonly NodeView[]): string | undefined {
  const regions = new Set(views.map(regionOfNode).filter((region) => region !== undefined));
  return regions.size === 1 ? [...regions][0] : undefined;
}

function regionOfNode(node: NodeView): string | undefined {
  const claim = claimOf(node);
  if (claim.kind === "foreign") return undefined;
  const { labels } = node.metadata;
  const zone = ("zone" in claim ? claim.zone : undefined) ?? labels["topology.kubernetes.io/zone"];
  try {
    if (zone !== undefined) return regionOfZone(zone);
    return labels["topology.kubernetes.io/region"] ?? regionOfName(node.metadata.name);
  } catch {
    // A zone that is none of AWS.
    return undefined;
  }
}

/** A Node that nobody has initialised yet still has its machine's private DNS name. */
function regionOfName(name: string): string | undefined {
  if (name.endsWith(".ec2.internal")) return "us-east-1";
  return /\.([a-z]{2,}(?:-[a-z]+)+-\d+)\.compute\.internal$/.exec(name)?.[1];
}

async function nodesOf(kube: KubeClient, signal: AbortSignal): Promise<readonly NodeView[]> {
  const listed = await unlessRefused(kube.list(nodes, { signal }));
  return listed?.items.map(nodeView) ?? [];
}

/**
 * How every controller manager that runs as a pod was started: ours first, then the reference's. Those of kube-system come
 * before all others: labels are not proof, and whoever may create pods in some namespace must not say where AWS is.
 */
export async function findInstallations(kube: KubeClient, signal: AbortSignal): Promise<readonly Installation[]> {
  const listed = await Promise.all(controllerSelectors.map((labelSelector) => unlessRefused(kube.list(pods, { labelSelector, signal }))));
  const running = listed.flatMap((list) => list?.items ?? []).filter(({ status }) => !isOver.has(status?.phase ?? ""));
  const found = running.map(async (pod) => {
    const source = hostConfigOf(pod);
    const text = source && (await textOf(kube, source, signal));
    const installation = installationOf(pod, text);
    return installation && { ...installation, ...(source && text === undefined && { unreadConfig: source.path }) };
  });
  const known = (await Promise.all(found)).filter((installation) => installation !== undefined);
  const isSystem = (installation: Installation) => namespaceOf(installation) === "kube-system";
  return [...known.filter(isSystem), ...known.filter((installation) => !isSystem(installation))];
}

function namespaceOf({ pod }: Installation): string {
  return pod.split("/", 1)[0]!;
}

const isOver: ReadonlySet<string> = new Set(["Succeeded", "Failed"]);

async function configOf(kube: KubeClient, installation: Installation | undefined, signal: AbortSignal) {
  const nothing = readCloudConfig(new Uint8Array()).config;
  const source = installation?.cloudConfig;
  if (source === undefined) return { config: nothing, notes: [] };
  const text = await textOf(kube, source, signal);
  if (text !== undefined) return { config: readCloudConfig(Buffer.from(text)).config, notes: [] };
  const note = `the controllers of pod ${installation?.pod} are given --cloud-config=${source.path}, which cannot be read from here: give the same file with --cloud-config`;
  return { config: nothing, notes: [note] };
}

/** The content of a file that lies in a ConfigMap which may be read. */
async function textOf(kube: KubeClient, source: FileSource, signal: AbortSignal): Promise<string | undefined> {
  if (source.kind !== "config map") return undefined;
  const stored = await unlessRefused(kube.get(configMaps, { namespace: source.namespace, name: source.name }, { signal }));
  return stored?.data?.[source.key];
}

/** Whoever may not read something goes without. A server that does not answer is another matter: nothing would work. */
async function unlessRefused<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isApiError(error, "forbidden", "not-found")) return undefined;
    throw error;
  }
}
