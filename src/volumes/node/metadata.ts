/** Where a node learns what it is: from the instance metadata service, or from its Node object. */
import type { Metadata } from "../../aws/metadata.ts";
import type { Node } from "../../kube/types.ts";
import type { Log } from "../../runtime/log.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { type Clock, sleep } from "../../runtime/world.ts";
import { nodeLabels } from "../names.ts";
import type { NodeFacts } from "./context.ts";

export const metadataSources = ["imds", "kubernetes", "metadata-labeler"] as const;
export type MetadataSource = (typeof metadataSources)[number];

export interface MetadataOptions {
  readonly sources: readonly MetadataSource[];
  readonly metadata: Metadata;
  /** Reads the Node object of this machine; undefined when there is no client for it. */
  readonly node: ((signal: AbortSignal) => Promise<Node>) | undefined;
  /** `CSI_NODE_NAME`. */
  readonly nodeName: string | undefined;
  /** `AWS_REGION`, which goes before what the sources say. */
  readonly region: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** No source knows the node. Says why, of each. */
export class NoMetadata extends Error {
  override readonly name = "NoMetadata";
}

/** Labels that the labeller, and SageMaker, put on Nodes. */
const labels = {
  ...nodeLabels,
  sageMakerInterfaces: "sagemaker.amazonaws.com/num-eni-attachments",
  sageMakerVolumes: "sagemaker.amazonaws.com/num-block-device-mappings",
} as const;

/** The facts from the first source that has them, and how to look again. */
export async function nodeFacts(options: MetadataOptions, signal: AbortSignal): Promise<(signal: AbortSignal) => Promise<NodeFacts>> {
  const reasons: string[] = [];
  for (const source of options.sources) {
    try {
      const read = readers[source];
      let latest = inRegion(await read(options, signal), options.region);
      options.log.info("knows its node", { source, ...latest });
      return async (again) => {
        // A Node's labels tell nothing new; what cannot be read now was read before.
        if (source === "kubernetes") return latest;
        try {
          latest = inRegion(await read(options, again), options.region);
        } catch (error) {
          options.log.warn("facts of the node are not refreshed", { source, error });
        }
        return latest;
      };
    } catch (error) {
      signal.throwIfAborted();
      reasons.push(`${source}: ${messageOf(error)}`);
    }
  }
  throw new NoMetadata(`all specified --metadata-sources ${options.sources.join(",")} are unavailable: ${reasons.join("; ")}`);
}

type Reader = (options: MetadataOptions, signal: AbortSignal) => Promise<NodeFacts>;

const readers: Readonly<Record<MetadataSource, Reader>> = {
  async imds({ metadata, nodeName }, signal) {
    if (nodeName?.startsWith("hyperpod-")) throw new Error("nodes of HyperPod have no instance metadata service");
    const text = await metadata.get("dynamic/instance-identity/document", signal);
    const document = JSON.parse(text ?? "{}") as Partial<Record<"instanceId" | "instanceType" | "region" | "availabilityZone", string>>;
    const need = (name: keyof typeof document) => document[name] || missing(`the instance identity document names no ${name}`);
    const [macs, mappings, outpost] = await Promise.all([
      metadata.get("meta-data/network/interfaces/macs/", signal),
      metadata.get("meta-data/block-device-mapping/", signal),
      metadata.get("meta-data/outpost-arn", signal),
    ]);
    return {
      instanceId: need("instanceId"),
      instanceType: need("instanceType"),
      region: need("region"),
      zone: need("availabilityZone"),
      networkInterfaces: countMacs(macs ?? ""),
      otherVolumes: (mappings ?? "").split(/\s+/).filter((name) => name.startsWith("ebs")).length,
      outpostArn: outpost?.trim() || undefined,
    };
  },
  async kubernetes(options, signal) {
    const node = await readNode(options, signal);
    return { ...factsOfNode(node), ...(countsOfSageMaker(node) ?? { networkInterfaces: 1, otherVolumes: 0 }) };
  },
  async "metadata-labeler"(options, signal) {
    for (let delay = 1_000, waited = 0; ; delay *= 1.5) {
      const node = await readNode(options, signal);
      const counts = countsOfSageMaker(node) ?? countsOf(node, labels.interfaces, labels.volumes);
      if (counts !== undefined) return { ...factsOfNode(node), ...counts };
      if (waited + delay > 5_000) return missing(`the Node lacks the labels ${labels.interfaces} and ${labels.volumes}`);
      await sleep(options.clock, delay, signal);
      waited += delay;
    }
  },
};

/** Addresses may come glued together, or with odd line ends. */
export function countMacs(text: string): number {
  return text.match(/([0-9a-f]{2}:){5}[0-9a-f]{2}/gi)?.length ?? 0;
}

async function readNode({ node, nodeName }: MetadataOptions, signal: AbortSignal): Promise<Node> {
  if (!nodeName) return missing("CSI_NODE_NAME is not set");
  if (node === undefined) return missing("there is no Kubernetes client");
  return node(signal);
}

function factsOfNode(node: Node): Omit<NodeFacts, "networkInterfaces" | "otherVolumes"> {
  const label = (key: string) => node.metadata?.labels?.[key] || missing(`the Node has no label ${key}`);
  const providerId = node.spec?.providerID ?? "";
  const instanceId = /s\.i-[a-z0-9]+|(hyperpod-[a-z0-9]+-)?i-[a-z0-9]+$/.exec(providerId)?.[0];
  return {
    instanceId: instanceId ?? missing(`the Node's provider ID ${JSON.stringify(providerId)} names no instance`),
    instanceType: label("node.kubernetes.io/instance-type").replace(/^ml\./, ""),
    region: label("topology.kubernetes.io/region"),
    zone: label("topology.kubernetes.io/zone"),
    outpostArn: undefined,
  };
}

type Counts = Pick<NodeFacts, "networkInterfaces" | "otherVolumes">;

function countsOfSageMaker(node: Node): Counts | undefined {
  return countsOf(node, labels.sageMakerInterfaces, labels.sageMakerVolumes);
}

function countsOf(node: Node, interfacesKey: string, volumesKey: string): Counts | undefined {
  const [networkInterfaces, otherVolumes] = [interfacesKey, volumesKey].map((key) => {
    const text = node.metadata?.labels?.[key] ?? "";
    return /^\d+$/.test(text) ? Number(text) : undefined;
  });
  return networkInterfaces === undefined || otherVolumes === undefined ? undefined : { networkInterfaces, otherVolumes };
}

function inRegion(facts: NodeFacts, region: string | undefined): NodeFacts {
  return region ? { ...facts, region } : facts;
}

function missing(why: string): never {
  throw new Error(why);
}
