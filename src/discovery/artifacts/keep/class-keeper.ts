/**
 * Writes the status of instance classes, and tells of those from which no machine can be made. The definitions come from the keeper and
 * from the node manager, in any order and at any time: both lists are read again and again instead of watched.
 */
import type { EventRecorder } from "../../../identity/event-reasons.ts";
import type { KubeClient } from "../../../kube/client.ts";
import { isApiError } from "../../../kube/errors.ts";
import { objectRef } from "../../../kube/event-recorder.ts";
import type { KubeObject, Resource, Stored } from "../../../kube/resource.ts";
import { again, type Controller } from "../../../runtime/controller.ts";
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
/** An API server forgets Events after an hour. */
const tellAgainMs = 30 * 60_000;

/** What was told of a class, and when. */
type Told = ReadonlyMap<string, { readonly problem: string; readonly at: number }>;

export function classKeeper(options: ClassKeeperOptions): Controller {
  let told: Told = new Map();
  return {
    name: "instance-classes",
    concurrency: 1,
    sources: [{ name: "start", start: async (enqueue) => enqueue("instance-classes") }],
    async reconcile(_, signal) {
      const problems = await keepClasses(options, signal);
      if (problems === undefined) return again(pauseMs, "AWSInstanceClass or NodeGroup is not served yet");
      told = tell(options, problems, told);
      return again(pauseMs, "look at classes and groups again");
    },
  };
}

interface InvalidClass {
  readonly of: Stored<InstanceClass>;
  readonly problem: string;
}

/** Tells of problems that are new, and of the others from time to time. */
function tell({ host, recorder, metrics }: ClassKeeperOptions, problems: readonly InvalidClass[], told: Told): Told {
  const now = host.world.clock.monotonic();
  metrics.invalidClasses(problems.length);
  return new Map(
    problems.map(({ of, problem }) => {
      const before = told.get(of.metadata.uid);
      if (before?.problem === problem && now < before.at + tellAgainMs) return [of.metadata.uid, before];
      recorder.record(objectRef(instanceClasses, of), "Warning", "InstanceClassInvalid", problem);
      return [of.metadata.uid, { problem, at: now }];
    }),
  );
}

/** Writes every status, and gives the classes from which no machine can be made; undefined: nobody knows. */
async function keepClasses(
  { host, kube, configuration, discovery }: ClassKeeperOptions,
  signal: AbortSignal,
): Promise<readonly InvalidClass[] | undefined> {
  const [classes, groups] = await Promise.all([listIfServed(kube, instanceClasses, signal), listIfServed(kube, nodeGroups, signal)]);
  // Without the definition of NodeGroups nobody says who uses a class: that is not the same as nobody.
  if (classes === undefined || groups === undefined) return undefined;
  const consumers = consumersOf(groups);
  const provider = providerOf(only(configuration)?.data?.[infrastructureKey]);
  const discovered = readDiscovery(decoded(only(discovery)?.data?.[discoveryKey]));
  const invalid: InvalidClass[] = [];
  for (const each of classes) {
    const users = consumers.get(each.metadata.name) ?? [];
    await writeStatus({ host, kube }, each, statusChange(each as InstanceClass, users), signal);
    const problems = provider === undefined ? [] : classProblems(each.spec ?? {}, users, provider, discovered);
    if (problems.length > 0) invalid.push({ of: each, problem: problems.join("; ") });
  }
  return invalid;
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
