/** Gathers the picture: reads only, and what cannot be read is noted instead of thrown. */
import type { Ask } from "../aws/ask.ts";
import type { Cloud, Clouds } from "../aws/cloud.ts";
import { isAwsError } from "../aws/errors.ts";
import { rulesTo } from "../aws/event-rules.ts";
import { getCallerIdentity } from "../aws/identity-actions.ts";
import type { Tags } from "../aws/instance.ts";
import type { InstanceLookup } from "../aws/instances.ts";
import { tableIdsIn } from "../aws/route-tables.ts";
import type { AwsSettings } from "../aws/settings.ts";
import { type ClusterId, configuredClusterId, discoverClusterId } from "../identity/cluster-id.ts";
import { claimedInstance, claimOf, type NodeView, nodeView } from "../identity/node-view.ts";
import { hasClusterTag } from "../identity/ownership.ts";
import { nodes as nodeResource } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import type { World } from "../runtime/world.ts";
import { type AccessNeed, hostLeaseNeeds } from "./access.ts";
import { askPermissions } from "./ask-permissions.ts";
import { askBalancer } from "./balancer-questions.ts";
import { askAccess, askLease, askRole, askVersion } from "./cluster-questions.ts";
import { askControlPlane } from "./control-plane.ts";
import { askDiscovery } from "./discovery-questions.ts";
import { askGateways } from "./gateway-questions.ts";
import { askIngress } from "./ingress-questions.ts";
import { groupsOf, queueOf } from "./interruption-questions.ts";
import { metadataOf, subnetsOf } from "./network-questions.ts";
import type { Feature } from "./permissions.ts";
import { type ControllerPod, type Known, liveInstances, type Picture, type ProgramAccess, valueIn } from "./picture.ts";
import type { Samples } from "./probes.ts";
import { type ChosenProgram, programsWith } from "./programs.ts";
import type { ReadOnly } from "./read-only.ts";
import { subjectOf } from "./subject.ts";
import { askVolumes, type JudgeClass } from "./volume-questions.ts";

export interface Examination {
  readonly world: World;
  readonly kube: KubeClient;
  readonly clouds: Clouds;
  /** What `clouds` speaks through. */
  readonly way: ReadOnly;
  readonly settings: AwsSettings;
  readonly features: readonly Feature[];
  /** The service account that a program runs as, `namespace/name`; undefined for what runs as the machine itself. */
  readonly accountOf: (program: ChosenProgram) => string | undefined;
  /** Where the programs run. */
  readonly namespace: string;
  /** `--role-arn`: whose permissions to look at. */
  readonly roleArn: string | undefined;
  /** Whether this runs where the controllers do. */
  readonly asControllers: boolean;
  /** Reads the pods of controller managers. */
  readonly controllers: () => Promise<readonly ControllerPod[]>;
  /** The class of the load balancer controller that runs in the cluster. */
  readonly loadBalancerClass: () => Promise<string>;
  /** Why the driver of volumes would refuse a class. */
  readonly judgeClass: JudgeClass;
  readonly hostNetwork: boolean;
  /** Of the termination handler; empty: none. */
  readonly queueUrl: string;
  readonly signal: AbortSignal;
}

/** Looks at everything there is to look at. Rejects only when the signal aborts. */
export async function observe(examination: Examination): Promise<Picture> {
  const { world, kube, clouds, way, settings, features, namespace, signal, hostNetwork, queueUrl } = examination;
  const programs = programsWith(features).map((program) => ({ ...program, account: examination.accountOf(program) }));
  const ask: Ask = { cause: "doctor", signal, urgency: "user", maxAgeMs: 60_000 };
  const note = <T>(work: () => Promise<T>) => noted(work, signal);
  const pods = note(() => examination.controllers());
  const [nodes, access, server, lease, controllers, controlPlane, annotated, cloud] = await Promise.all([
    note(async () => (await kube.list(nodeResource, { signal })).items.map(nodeView)),
    note(async () => {
      const running = valueIn(await pods) ?? [];
      return (await Promise.all(programs.map((program) => accessOf(program, running, kube, signal)))).flat();
    }),
    note(() => askVersion(kube, signal)),
    note(() => askLease(kube, world.clock.now(), signal)),
    pods,
    note(() => askControlPlane(kube, signal)),
    note(() => Promise.all(programs.map(({ account }) => account && askRole(kube, account, signal)))),
    note(() => clouds.home(signal)),
  ]);
  const ingress = features.includes("ingresses") ? await note(() => askIngress(kube, signal)) : undefined;
  const servesTargets = features.includes("target-group-bindings") || features.includes("class-services");
  const balancer = servesTargets
    ? await note(async () => askBalancer(kube, await examination.loadBalancerClass(), world.clock.now(), signal))
    : undefined;
  const gateways = servesTargets || features.includes("ingresses") ? await note(() => askGateways(kube, signal)) : undefined;
  const volumes = features.includes("volumes") ? await note(() => askVolumes(kube, examination.judgeClass, signal)) : undefined;
  const discovery = features.includes("discovery") ? await note(() => askDiscovery(kube, signal)) : undefined;
  const caller = await onto(cloud, (home) =>
    note(async () => ({ arn: (await home.call(getCallerIdentity, {}, ask)).Arn ?? "", region: home.region })),
  );
  const here = caller.known ? cloud : caller;
  const instances = await onto(here, (home) => note(() => lookUp(home, valueIn(nodes) ?? [], ask)));
  const cluster = await onto(here, (home) => note(() => clusterOf(settings, clouds, home, instances, ask)));
  const base = {
    features,
    caller,
    cluster,
    nodes,
    instances,
    access,
    namespace,
    server,
    lease,
    controllers,
    controlPlane,
    hostNetwork,
    ...(ingress && { ingress }),
    ...(balancer && { balancer }),
    ...(gateways && { gateways }),
    ...(volumes && { volumes }),
    ...(discovery && { discovery }),
  };
  const vpc = settings.vpc ?? valueIn(instances)?.values().find(isFound)?.instance.vpc;
  const inVpc = vpc === undefined ? [] : [{ name: "vpc-id", values: [vpc] }];
  const located = <T>(read: (home: Cloud) => Promise<T>): Promise<Known<T>> =>
    vpc === undefined ? Promise.resolve(missing("the VPC is not known")) : onto(here, (home) => note(() => read(home)));
  const [routeTables, groups, metadata] = await Promise.all([
    located((home) => home.routeTables.list(inVpc, ask)),
    located((home) => home.securityGroups.list(inVpc, ask)),
    onto(here, (home) => note(() => metadataOf(home, valueIn(nodes) ?? [], ask))),
  ]);
  const interruptions = features.includes("interruptions") && queueUrl !== "";
  const heard = <T>(read: (home: Cloud) => Promise<T>): Promise<Known<T>> =>
    interruptions ? onto(here, (home) => note(() => read(home))) : Promise.resolve(missing("no queue is given"));
  const [queue, scalingGroups] = await Promise.all([
    heard((home) => queueOf(home, queueUrl, ask)),
    heard((home) =>
      groupsOf(
        home,
        [...(valueIn(instances)?.values() ?? [])].filter(isFound).map(({ instance }) => instance),
        ask,
      ),
    ),
  ]);
  const rules = await onto(queue, ({ arn }) => heard((home) => rulesTo(home, arn, ask)));
  const subnets = await onto(routeTables, (tables) => located((home) => subnetsOf(home, vpc ?? "", tables, ask)));
  const seen = {
    ...base,
    vpc,
    routeTables,
    routeTableIds: tableIdsIn(settings.routeTableId),
    groups,
    subnets,
    metadata,
    queueUrl,
    queue,
    rules,
    scalingGroups,
    now: world.clock.now(),
  };
  const samples = samplesOf({ ...seen, permissions: missing("not asked for yet"), skewMs: undefined });
  const subjectFor = (index: number) =>
    subjectOf({
      caller: valueIn(caller)!,
      roleArn: examination.roleArn ?? (valueIn(annotated)?.[index] || undefined),
      asControllers: examination.asControllers || settings.roleArn !== undefined,
      instanceIds: new Set(valueIn(instances)?.keys()),
    });
  const permissions = await onto(here, (home) =>
    note(() => {
      const asked = programs.map((program, index) => ({ features: program.features, subject: subjectFor(index) }));
      // Programs that run as the same principal are one question.
      const alike = [...Map.groupBy(asked, ({ subject }) => `${subject.kind} ${subject.arn}`).values()];
      const questions = alike.map((each) => ({ subject: each[0]!.subject, features: each.flatMap((program) => program.features) }));
      return Promise.all(questions.map((question) => askPermissions({ cloud: home, clouds, ...question, samples, ask })));
    }),
  );
  return { ...seen, permissions, skewMs: way.skewMs() };
}

/** What one program may do in the cluster; the lease of a process that hosts the controller manager is asked for with it. */
async function accessOf(
  { name, account, access, features }: ChosenProgram,
  pods: readonly ControllerPod[],
  kube: KubeClient,
  signal: AbortSignal,
): Promise<readonly ProgramAccess[]> {
  if (account === undefined || access.length === 0) return [];
  const isNeeded = (need: AccessNeed) => need.features?.some((feature) => features.includes(feature)) ?? true;
  const more = name === "controller-manager" ? pods.flatMap(hostLeaseNeeds) : [];
  return [{ account, answers: await askAccess(kube, account, [...access.filter(isNeeded), ...more], signal) }];
}

async function noted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<Known<T>> {
  try {
    return { known: true, value: await work() };
  } catch (error) {
    signal.throwIfAborted();
    return { known: false, why: (error as Error).message, kind: isAwsError(error, "denied") ? "denied" : "failed" };
  }
}

/** The next question, if the one it builds on was answered. */
async function onto<A, B>(known: Known<A>, next: (value: A) => Promise<Known<B>>): Promise<Known<B>> {
  return known.known ? await next(known.value) : { ...known, kind: "missing" };
}

function missing(why: string): Known<never> {
  return { known: false, why, kind: "missing" };
}

/** The instances that Nodes claim, and those by whose name a new Node goes. */
async function lookUp(cloud: Cloud, nodes: readonly NodeView[], ask: Ask): Promise<ReadonlyMap<string, InstanceLookup>> {
  const ids = [...new Set(nodes.flatMap((node) => claimedInstance(node) ?? []))];
  const fresh = nodes.filter((node) => claimOf(node).kind === "none").map(({ metadata }) => metadata.name);
  const [claimed, named] = await Promise.all([
    Promise.all(ids.map(async (id) => [id, await cloud.instances.lookup(id, ask)] as const)),
    Promise.all(fresh.map((name) => cloud.instances.lookupBy("private-dns-name", name, ask))),
  ]);
  const found = named.flat().map((instance) => [instance.id, { kind: "found", instance }] as const);
  return new Map<string, InstanceLookup>([...found, ...claimed]);
}

/**
 * As the controller manager would find it: configured, or by the tags of the machine it runs on, which is one of the
 * cluster's. The doctor may run elsewhere in AWS: where that is tells nothing while there are machines of the cluster.
 */
async function clusterOf(
  settings: AwsSettings,
  clouds: Clouds,
  cloud: Cloud,
  instances: Known<ReadonlyMap<string, InstanceLookup>>,
  ask: Ask,
): Promise<ClusterId> {
  const configured = configuredClusterId(settings);
  if (configured !== undefined) return configured;
  const own = await clouds.metadata.instanceId(ask.signal).catch(() => "");
  const known = valueIn(instances);
  const lookup = known?.get(own) ?? known?.values().find(isFound) ?? (await cloud.instances.lookup(own, ask));
  if (lookup.kind !== "found") throw new Error("no instance of the cluster is known whose tags could be read");
  return discoverClusterId(lookup.instance.tags);
}

function isFound(lookup: InstanceLookup): lookup is Extract<InstanceLookup, { kind: "found" }> {
  return lookup.kind === "found";
}

/** Things of the cluster to try calls on. */
function samplesOf(picture: Picture): Samples {
  const [instance] = liveInstances(picture);
  const cluster = valueIn(picture.cluster) ?? { id: "unknown", legacy: false };
  const ours = <T extends { readonly id: string; readonly tags: Tags }>(known: Known<readonly T[]>) =>
    valueIn(known)?.find(({ tags }) => hasClusterTag(tags, cluster))?.id;
  const { arn = "", region = "us-east-1" } = valueIn(picture.caller) ?? {};
  return {
    instance: instance?.id ?? "i-0123456789abcdef0",
    networkInterface: instance?.interfaces[0]?.id ?? "eni-0123456789abcdef0",
    securityGroup: ours(picture.groups) ?? instance?.groups[0] ?? "sg-0123456789abcdef0",
    routeTable: picture.routeTableIds[0] ?? ours(picture.routeTables) ?? "rtb-0123456789abcdef0",
    vpc: picture.vpc ?? "vpc-0123456789abcdef0",
    region,
    account: arn.split(":")[4] ?? "",
    clusterId: cluster.id,
  };
}
