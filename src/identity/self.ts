/** Where this process runs: on an instance of the cluster, or elsewhere, as a hosted control plane does. */
import type { Ask } from "../aws/ask.ts";
import type { Clouds } from "../aws/cloud.ts";
import type { Instance } from "../aws/instance.ts";
import type { AwsSettings } from "../aws/settings.ts";
import { type ClusterId, configuredClusterId, discoverClusterId } from "./cluster-id.ts";

export interface Self {
  /** Undefined when the process runs on no instance of the cluster. */
  readonly instance: Instance | undefined;
  readonly nodeName: string;
  readonly vpc: string | undefined;
  readonly subnet: string | undefined;
  readonly cluster: ClusterId;
}

/** It could not be found out where this process runs. It may pass: whoever needs to know asks again. */
export class SelfUnknown extends Error {
  override readonly name = "SelfUnknown";
}

/** The node name that stands for a process outside the cluster. */
const remoteNodeName = "master-dummy";

/**
 * Finds out where this process runs and which cluster it serves. With VPC, cluster id and subnet or role configured
 * nothing is asked; otherwise one metadata request and one DescribeInstances answer both questions.
 */
export async function identifySelf(settings: AwsSettings, clouds: Clouds, ask: Ask): Promise<Self> {
  const placed =
    settings.vpc || settings.vpcTags === undefined ? settings : { ...settings, vpc: await vpcOf(settings.vpcTags, clouds, ask) };
  return configuredSelf(placed) ?? selfOn(placed, await ownInstance(clouds, ask));
}

/** The one VPC that has these tags. */
async function vpcOf(tags: Readonly<Record<string, string>>, clouds: Clouds, ask: Ask): Promise<string> {
  const cloud = await clouds.home(ask.signal);
  const [vpc, ...more] = await cloud.vpcs.tagged(tags, ask);
  if (vpc !== undefined && more.length === 0) return vpc;
  const wanted = Object.entries(tags).map((pair) => pair.join("="));
  const found = vpc === undefined ? "no VPC has" : `several VPCs have (${[vpc, ...more].join(", ")})`;
  throw new SelfUnknown(`${found} the tags ${wanted.join(", ")} in ${cloud.region}`);
}

/** What is known without asking anybody; undefined when the settings do not say all of it. */
export function configuredSelf(settings: AwsSettings): Self | undefined {
  const cluster = configuredClusterId(settings);
  const isPlaced = settings.subnetId || settings.roleArn || settings.runsAnywhere;
  if (!(settings.vpc || settings.anyVpc) || !isPlaced || cluster === undefined) return undefined;
  return { instance: undefined, nodeName: remoteNodeName, vpc: settings.vpc, subnet: settings.subnetId, cluster };
}

/** A process that acts on its own node alone: it needs no permission to ask EC2 about itself, and marks nothing as the cluster's. */
export function selfOnNode(settings: AwsSettings, nodeName: string): Self {
  const cluster = configuredClusterId(settings) ?? { id: "", legacy: false };
  return { instance: undefined, nodeName, vpc: settings.vpc, subnet: settings.subnetId, cluster };
}

/** What a process on this instance would find. */
export function selfOn(settings: AwsSettings, instance: Instance): Self {
  return {
    instance,
    nodeName: instance.privateDnsName ?? "",
    vpc: settings.vpc || instance.vpc,
    subnet: settings.subnetId || instance.subnet,
    cluster: configuredClusterId(settings) ?? discoverClusterId(instance.tags),
  };
}

const configureInstead =
  "To run outside the cluster's instances, or without the metadata service, set VPC, SubnetID and KubernetesClusterID in the [Global] section of the cloud config.";

async function ownInstance(clouds: Clouds, ask: Ask): Promise<Instance> {
  let id: string;
  try {
    id = await clouds.metadata.instanceId(ask.signal);
  } catch (cause) {
    throw new SelfUnknown(`error fetching instance-id from ec2 metadata service: ${(cause as Error).message}. ${configureInstead}`, {
      cause,
    });
  }
  const cloud = await clouds.home(ask.signal);
  const lookup = await cloud.instances.lookup(id, ask).catch((cause: unknown) => {
    throw new SelfUnknown(`error finding instance ${id}: ${JSON.stringify((cause as Error).message)}`, { cause });
  });
  if (lookup.kind !== "found") throw new SelfUnknown(`error finding instance ${id}: "instance not found" in ${cloud.region}`);
  return lookup.instance;
}
