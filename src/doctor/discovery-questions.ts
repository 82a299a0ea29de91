/** What the cloud data discoverer needs in the cluster, and what it has found wrong with the account. */
import { configMaps } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import { type KubeObject, resource } from "../kube/resource.ts";
import { type ArtifactsFacts, askArtifacts, checkArtifacts } from "./artifacts-questions.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";
import type { Known } from "./picture.ts";

export interface DiscoveryFacts {
  /** Whether the platform serves the catalogue of instance types. */
  readonly servesCatalogs: boolean;
  /** What the conditions say is not allowed. */
  readonly unmet: readonly string[];
  /** What a node manager makes machines from. */
  readonly artifacts: ArtifactsFacts;
}

const catalogs = resource<KubeObject>({
  group: "deckhouse.io",
  version: "v1alpha1",
  plural: "instancetypescatalogs",
  kind: "InstanceTypesCatalog",
  namespaced: false,
});
const conditions = { namespace: "kube-system", name: "d8-cloud-provider-conditions" };

export async function askDiscovery(kube: KubeClient, signal: AbortSignal): Promise<DiscoveryFacts> {
  const [served, map, artifacts] = await Promise.all([
    ifServed(kube.list(catalogs, { limit: 1, signal })),
    ifServed(kube.get(configMaps, conditions, { signal })),
    askArtifacts(kube, signal),
  ]);
  return { servesCatalogs: served !== undefined, unmet: unmetIn(map?.data?.conditions), artifacts };
}

async function ifServed<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isApiError(error, "not-found")) return undefined;
    throw error;
  }
}

function unmetIn(text: string | undefined): readonly string[] {
  try {
    const list = JSON.parse(text ?? "null") as readonly { readonly message?: string; readonly ok?: boolean }[] | null;
    return (list ?? []).flatMap(({ message, ok: met }) => (met === false && message ? [message] : []));
  } catch {
    return [];
  }
}

export function checkDiscovery({ discovery }: { readonly discovery?: Known<DiscoveryFacts> }): readonly Finding[] {
  if (discovery === undefined) return [];
  if (!discovery.known) return [warning("discovery", discovery.why, "kubectl get instancetypescatalogs,configmap --namespace=kube-system")];
  const { servesCatalogs, unmet, artifacts } = discovery.value;
  const findings: Finding[] = [...checkArtifacts(artifacts)];
  if (!servesCatalogs) {
    const what = "InstanceTypesCatalog is not served: instance types cannot be published";
    findings.push(problem("discovery", what, "helm upgrade … --set cloudDataDiscoverer.catalogDefinition=true"));
  }
  for (const message of unmet) {
    findings.push(
      problem("discovery", `the account: ${message}`, "attach deploy/iam/discovery.json and deploy/iam/nodes.json to its role"),
    );
  }
  return findings.length > 0 ? findings : [ok("discovery", "the catalogue can be published, and every condition is met")];
}
