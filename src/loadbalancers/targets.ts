/** The instances behind a load balancer, and the security groups by which they let its traffic in. */
import type { Refusal } from "../aws/apply.ts";
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import type { Instance } from "../aws/instance.ts";
import type { SecurityGroup } from "../aws/security-groups.ts";
import type { ClusterId } from "../identity/cluster-id.ts";
import { hasClusterTag } from "../identity/ownership.ts";
import type { ClusterScope } from "./inventory.ts";

/** Keeps a Node from behind every load balancer, whatever its value but a plain no. */
export const excludeLabel = "node.kubernetes.io/exclude-from-external-load-balancers";

/** Which groups an instance has and whose it is hardly changes. */
const instanceAgeMs = 10 * 60_000;
/** Whether one that did not run does now. */
const notRunningAgeMs = 30_000;

export interface Targets {
  /** Sorted ids of those that run. */
  readonly running: readonly string[];
  /** Those that AWS would refuse to register now; where they are registered they stay. */
  readonly notRunning: readonly string[];
  readonly instances: readonly Instance[];
  /** In another VPC than the load balancers: AWS takes none of these, and with one of them no other of its batch. */
  readonly elsewhere: readonly Instance[];
}

/** Where bindings say what the targets are, and their own controller registers them. */
export const noTargets: Targets = { running: [], notRunning: [], instances: [], elsewhere: [] };

/** The instances of these ids that are the cluster's. Ids that AWS does not know are nobody's. */
export async function targetsOf(ids: readonly string[], cloud: Cloud, { vpc, cluster }: ClusterScope, ask: Ask): Promise<Targets> {
  const found = await Promise.all(ids.map((id) => instanceOf(id, cloud, ask)));
  const own = found.flatMap((instance) => (instance && hasClusterTag(instance.tags, cluster) && !isGone(instance) ? [instance] : []));
  const isHere = (instance: Instance) => instance.vpc === undefined || instance.vpc === vpc;
  const instances = own.filter(isHere);
  const idsOf = (running: boolean) => instances.filter((each) => isRunning(each) === running).map(({ id }) => id);
  return {
    running: idsOf(true).toSorted(),
    notRunning: idsOf(false).toSorted(),
    instances,
    elsewhere: own.filter((each) => !isHere(each)),
  };
}

/** What AWS takes at this moment: what runs, and what is registered already. */
export function registrable({ running, notRunning }: Targets, registered: ReadonlySet<string>): string[] {
  return [...running, ...notRunning.filter((id) => registered.has(id))].toSorted();
}

/** Those of them that AWS did not refuse. */
export function accepted(ids: readonly string[], refused: readonly Refusal[]): string[] {
  return ids.filter((id) => !refused.some((refusal) => refusal.ids.includes(id)));
}

/** What is said of nodes that do not become targets. */
export function targetWarnings({ elsewhere }: Pick<Targets, "elsewhere">, refused: readonly Refusal[]): readonly string[] {
  const strangers = elsewhere.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(({ id, vpc }) => `${id} in ${vpc}`);
  const left = "not registered: a load balancer takes instances of its own VPC only";
  return [
    ...(strangers.length > 0 ? [`Nodes of another VPC are ${left}: ${few(strangers)}; move them, or label them ${excludeLabel}`] : []),
    ...refused.map(({ ids, error }) => `AWS refuses ${few(ids)} as targets: ${error.code}: ${error.detail}; they are retried`),
  ];
}

const maxNamed = 10;

/** A condition has room for a thousand letters. */
function few(names: readonly string[]): string {
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
  return `${names.slice(0, maxNamed).join(", ")}${more}`;
}

/** The node group of each instance, and what is unclear about it. */
export function nodeGroupsOf(
  instances: readonly Instance[],
  groups: readonly SecurityGroup[],
  cluster: ClusterId,
): { readonly ids: readonly string[]; readonly warnings: readonly string[] } {
  const byId = new Map(groups.map((group) => [group.id, group]));
  const ids = new Set<string>();
  const warnings = new Set<string>();
  for (const combination of new Map(instances.map((each) => [each.groups.toSorted().join(), each])).values()) {
    const choice = nodeGroupOf(combination, byId, cluster);
    if (choice.id !== undefined) ids.add(choice.id);
    if (choice.warning !== undefined) warnings.add(choice.warning);
  }
  return { ids: [...ids].toSorted(), warnings: [...warnings] };
}

function nodeGroupOf(
  { id, groups }: Instance,
  byId: ReadonlyMap<string, SecurityGroup>,
  cluster: ClusterId,
): { readonly id?: string; readonly warning?: string } {
  const tagged = groups.filter((group) => hasClusterTag(byId.get(group)?.tags ?? {}, cluster)).toSorted();
  if (tagged.length === 1) return { id: tagged[0] };
  if (tagged.length > 1) {
    const names = tagged.map((group) => `${group}(${byId.get(group)?.name})`).join(" ");
    return {
      id: tagged[0],
      warning: `Multiple tagged security groups found for instance ${id}; ensure only the k8s security group is tagged; the tagged groups were ${names}; rules are written to ${tagged[0]}`,
    };
  }
  if (groups.length <= 1) return { id: groups[0] };
  return { warning: `Multiple untagged security groups found for instance ${id}; ensure the k8s security group is tagged` };
}

async function instanceOf(id: string, cloud: Cloud, ask: Ask): Promise<Instance | undefined> {
  const lookup = await cloud.instances.lookup(id, { ...ask, maxAgeMs: instanceAgeMs });
  if (lookup.kind !== "found" || isRunning(lookup.instance)) return lookup.kind === "found" ? lookup.instance : undefined;
  const again = await cloud.instances.lookup(id, { ...ask, maxAgeMs: notRunningAgeMs });
  return again.kind === "found" ? again.instance : undefined;
}

const isRunning = ({ state }: Instance) => state === undefined || state === "running";
const isGone = ({ state }: Instance) => state === "terminated" || state === "shutting-down";
