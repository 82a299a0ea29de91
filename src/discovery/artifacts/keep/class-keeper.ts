/**
 * Writes the status of instance classes, and tells of those from which no machine can be made. The definitions come from the keeper and
 * from the node manager, in any order and at any time: both lists are read again and again instead of watched.
 */
import type { EventRecorder } from "../../../identity/event-reasons.ts";
import type { KubeClient } from "../../../kube/client.ts";
import { isApiError } from "../../../kube/errors.ts";
import { objectRef } from "../../../kube/event-recorder.ts";
import type { KubeObject, Resource, Stored } from "../../../kube/resource.ts";
import { again, type Controller, type Outcome } from "../../../runtime/controller.ts";
import { rethrowIfStopped } from "../../../runtime/gate.ts";
import type { Host } from "../../../runtime/host.ts";
import { discoveryKey, infrastructureKey } from "../../objects.ts";
import { readDiscovery } from "../../read-discovery.ts";
import type { DiscoveryData } from "../input.ts";
import { readDiscoveryData } from "../input.ts";
import { classProblems, consumersOf, statusChange } from "./class-status.ts";
import { only, type SecretInformer } from "./informers.ts";
import type { ArtifactsMetrics } from "./metrics.ts";
import { type InstanceClass, instanceClasses, nodeGroups } from "./resources.ts";

export interface ClassKeeperOptions {
  readonly host: Host;
  readonly kube: KubeClient;
  readonly recorder: EventRecorder;
  readonly configuration: SecretInformer;
  readonly discovery: SecretInformer;
  readonly metrics: ArtifactsMetrics;
}

const pauseMs = 10_000;

export function classKeeper(options: ClassKeeperOptions): Controller {
  return {
    name: "instance-classes",
    concurrency: 1,
    sources: [{ name: "start", start: async (enqueue) => enqueue("instance-classes") }],
    reconcile: (_, signal) => keepClasses(options, signal),
  };
}

async function keepClasses(
  { host, kube, recorder, configuration, discovery, metrics }: ClassKeeperOptions,
  signal: AbortSignal,
): Promise<Outcome> {
  const [classes, groups] = await Promise.all([listIfServed(kube, instanceClasses, signal), listIfServed(kube, nodeGroups, signal)]);
  // Without the definition of NodeGroups nobody says who uses a class: that is not the same as nobody.
  if (classes === undefined || groups === undefined) return again(pauseMs, "AWSInstanceClass or NodeGroup is not served yet");
  const consumers = consumersOf(groups);
  const provider = providerOf(only(configuration)?.data?.[infrastructureKey]);
  const discovered = readDiscovery(decoded(only(discovery)?.data?.[discoveryKey]));
  let invalid = 0;
  for (const each of classes) {
    const users = consumers.get(each.metadata.name) ?? [];
    await writeStatus({ host, kube }, each, statusChange(each as InstanceClass, users), signal);
    const problems = provider === undefined ? [] : classProblems(each.spec ?? {}, users, provider, discovered);
    if (problems.length === 0) continue;
    invalid++;
    recorder.record(objectRef(instanceClasses, each), "Warning", "InstanceClassInvalid", problems.join("; "));
  }
  metrics.invalidClasses(invalid);
  return again(pauseMs, "look at classes and groups again");
}

/** One class that cannot be written stops no other. */
async function writeStatus(
  { host, kube }: Pick<ClassKeeperOptions, "host" | "kube">,
  { metadata: { name, uid } }: Stored<InstanceClass>,
  status: InstanceClass["status"] | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (status === undefined) return;
  try {
    await kube.patch(instanceClasses, { name }, { merge: { status }, uid }, { signal });
  } catch (error) {
    rethrowIfStopped(error, signal);
    if (!isApiError(error, "not-found")) host.log.error("cannot write the status of an AWSInstanceClass", { instanceClass: name, error });
  }
}

async function listIfServed<T extends KubeObject>(
  kube: KubeClient,
  of: Resource<T>,
  signal: AbortSignal,
): Promise<readonly Stored<T>[] | undefined> {
  try {
    return (await kube.list(of, { signal })).items;
  } catch (error) {
    if (isApiError(error, "not-found")) return undefined;
    throw error;
  }
}

/** The infrastructure's output; what is wrong with it the keeper of the artifacts tells. */
function providerOf(data: string | undefined): DiscoveryData | undefined {
  return data === undefined ? undefined : readDiscoveryData(decoded(data) ?? "");
}

function decoded(value: string | undefined): string | undefined {
  return value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");
}
