/**
 * The metadata labeller: tells nodes that have no metadata service how many network interfaces and other disks they have, by two
 * labels of their Node. A key is a Node.
 */
import type { Cloud } from "../../aws/cloud.ts";
import type { Instance } from "../../aws/instance.ts";
import { claimedInstance, type Nodes, type SeenNode } from "../../identity/node-view.ts";
import { nodes as nodeResource } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import { watchSource } from "../../kube/watch-source.ts";
import { again, type Controller, done, type Outcome } from "../../runtime/controller.ts";
import type { Host } from "../../runtime/host.ts";
import { nodeLabels } from "../names.ts";
import type { Volumes } from "../roles/parts.ts";

export interface NodeLabelsOptions {
  readonly host: Host;
  readonly kube: KubeClient;
  readonly cloud: Cloud;
  readonly nodes: Nodes;
  readonly volumes: Volumes;
}

/** The reference's. */
const period = { ms: 60 * 60_000, why: "interfaces and disks come and go" } as const;
const concurrency = 10;

export function nodeLabeller({ host, kube, cloud, nodes, volumes }: NodeLabelsOptions): Controller {
  return {
    name: "metadata-labeler",
    concurrency,
    sources: [
      watchSource(nodes, (before, after) => (after === undefined || before?.providerId === after.providerId ? [] : [after.metadata.name])),
      // Without all of them, disks of claims would be counted as others.
      watchSource(volumes, () => []),
    ],
    async reconcile(key, signal): Promise<Outcome> {
      const node = nodes.get(key);
      const id = node && claimedInstance(node);
      if (node === undefined || id === undefined) return done;
      const lookup = await cloud.instances.lookup(id, { cause: "metadata labeler", signal, urgency: "background" });
      // Nothing is said of a machine that nobody knows anything of: its own labels, if it has any, were true once.
      if (lookup.kind !== "found") return again(period.ms, "EC2 does not show the instance");
      const labels = labelsFor(lookup.instance, (volumeId) => volumes.by("disk", volumeId).length > 0);
      if (differs(node, labels)) await write(node, labels, kube, signal);
      host.log.v(4)?.info("counted interfaces and disks", { node: key, ...labels });
      return again(period.ms, period.why);
    },
  };
}

/** What a node is to be told of itself. Pure. */
export function labelsFor({ interfaces, disks, rootDevice }: Instance, isClaimed: (volumeId: string) => boolean): Record<string, string> {
  const others = disks.filter(({ name, volumeId }) => name !== rootDevice && !isClaimed(volumeId));
  return { [nodeLabels.interfaces]: String(interfaces.length || 1), [nodeLabels.volumes]: String(others.length) };
}

function differs({ metadata }: SeenNode, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).some(([key, value]) => metadata.labels[key] !== value);
}

async function write(
  { metadata: { name, uid } }: SeenNode,
  labels: Readonly<Record<string, string>>,
  kube: KubeClient,
  signal: AbortSignal,
) {
  try {
    await kube.patch(nodeResource, { name }, { strategic: { metadata: { labels } }, uid }, { signal });
  } catch (error) {
    // It has gone meanwhile.
    if (!isApiError(error, "not-found")) throw error;
  }
}
