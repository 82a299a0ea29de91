/** Nodes whose spot instance is about to go are marked for the platform, which drains and replaces them. A key is a Node. */
import type { Nodes } from "../../../identity/node-view.ts";
import { nodes as nodeResource } from "../../../kube/builtin.ts";
import type { KubeClient } from "../../../kube/client.ts";
import { watchSource } from "../../../kube/watch-source.ts";
import { type Controller, done } from "../../../runtime/controller.ts";
import type { Host } from "../../../runtime/host.ts";
import { getIfThere } from "../../context.ts";

const spotTaint = "aws-node-termination-handler/spot-itn";
const terminationLabel = "node.deckhouse.io/termination-in-progress";
const drainingAnnotation = "update.node.deckhouse.io/draining";
const drainedAnnotation = "update.node.deckhouse.io/drained";

interface Marked {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** What a Node with the taint lacks; undefined: nothing. A Node that is drained is not to be drained again. */
export function spotMarks({ labels = {}, annotations = {} }: Marked): object | undefined {
  const labelled = terminationLabel in labels;
  const drains = drainingAnnotation in annotations || drainedAnnotation in annotations;
  if (labelled && drains) return undefined;
  return {
    ...(!labelled && { labels: { [terminationLabel]: "true" } }),
    ...(!drains && { annotations: { [drainingAnnotation]: "aws-node-termination-handler" } }),
  };
}

export function isSpotNotified({ taints }: { readonly taints: readonly { readonly key?: string }[] }): boolean {
  return taints.some(({ key }) => key === spotTaint);
}

export function spotMarker({ host, kube, nodes }: { readonly host: Host; readonly kube: KubeClient; readonly nodes: Nodes }): Controller {
  return {
    name: "spot-nodes",
    concurrency: 10,
    sources: [watchSource(nodes, (_, after) => (after !== undefined && isSpotNotified(after) ? [after.metadata.name] : []))],
    async reconcile(name, signal) {
      const seen = nodes.get(name);
      if (seen === undefined || !isSpotNotified(seen)) return done;
      const node = await getIfThere(kube, nodeResource, { name }, signal);
      const marks = node && spotMarks(node.metadata);
      if (node === undefined || marks === undefined) return done;
      await kube.patch(nodeResource, { name }, { merge: { metadata: marks }, uid: node.metadata.uid }, { signal });
      host.log.info("marked a node whose spot instance is about to go", { node: name });
      return done;
    },
  };
}
