/** Removes what a run has made, and looks until nothing of it is left. */
import type { SecurityGroup } from "../aws/security-groups.ts";
import { events, pods, services } from "../kube/builtin.ts";
import type { KubeObject, Resource, Stored } from "../kube/resource.ts";
import { messageOf } from "../runtime/message-of.ts";
import { balancerName } from "./balancers.ts";
import { deleteOwnGroup } from "./cases-services.ts";
import { type Context, eventually, expect, gone, mark } from "./context.ts";
import { bindings, claims, ingresses, listIfServed, persistentVolumes, snapshotClasses, snapshots, storageClasses } from "./resources.ts";

/** What the suite makes in its namespace; controllers remove things in AWS when it is deleted. */
const namespaced: readonly Resource<KubeObject>[] = [ingresses, services, pods, snapshots, claims];
/** What it makes outside of any; nothing hangs on it. */
const classes: readonly Resource<KubeObject>[] = [storageClasses, snapshotClasses];

/** Resolves with what is left, and why it could not be removed; empty when nothing is. */
export async function cleanUp(context: Context): Promise<readonly string[]> {
  const problems: string[] = [];
  const attempt = async (what: string, work: () => Promise<void>) => {
    try {
      await eventually(context, work);
      return true;
    } catch (error) {
      problems.push(`${what}: ${messageOf(error)}`);
      return false;
    }
  };
  for (const [what, undo] of [...context.undo]) {
    if (await attempt(`put back ${what}`, () => undo(context))) context.undo.delete(what);
  }
  await attempt("delete the objects", () => deleteObjects(context));
  await attempt("wait for the controllers", async () => {
    const left = await remaining(context);
    expect(left.length === 0, `there are still ${left.join(", ")}`);
  });
  await attempt("delete the classes", async () => {
    for (const of of classes) for (const { metadata } of await ours(context, of)) await deleted(context, of, metadata);
  });
  await attempt("delete the security groups", async () => {
    for (const { id } of await ownGroups(context)) await deleteOwnGroup(context, id);
  });
  const left = await whatIsLeft(context).catch((error: unknown) => [`it cannot be told what is left: ${messageOf(error)}`]);
  const all = [...left, ...[...context.undo.keys()].map((what) => `not put back: ${what}`)];
  return all.length === 0 ? [] : [...all, ...problems];
}

/** Everything of this run, in the cluster and in AWS. */
export async function whatIsLeft(context: Context): Promise<readonly string[]> {
  const lists = await Promise.all(classes.map((of) => ours(context, of)));
  return [
    ...(await remaining(context)),
    ...lists.flatMap((list, index) => list.map(({ metadata }) => `${classes[index]!.kind} ${metadata.name}`)),
    ...(await ownGroups(context)).map(({ id, name }) => `security group ${name} (${id})`),
  ];
}

/** Objects with the label of this run: also what was made by a request whose answer was lost. */
async function ours<T extends KubeObject>({ kube, namespace, run, ask }: Context, of: Resource<T>): Promise<readonly Stored<T>[]> {
  const labelSelector = `${mark} in (${run},${run}-client)`;
  return (await listIfServed(kube, of, { ...(of.namespaced && { namespace }), labelSelector, signal: ask.signal })) ?? [];
}

/** What is refused for one object keeps none of the others. */
async function deleteObjects(context: Context): Promise<void> {
  const refused: unknown[] = [];
  for (const of of namespaced) {
    for (const { metadata } of await ours(context, of)) {
      if (of.kind === services.kind) context.made.set(metadata.name, metadata.uid);
      await deleted(context, of, metadata).catch((error: unknown) => refused.push(error));
    }
  }
  if (refused.length > 0) throw refused[0];
}

/** This incarnation and no other. Pods of nodes that no longer answer would stay for ever: they are not waited for. */
function deleted(
  { kube, namespace, ask }: Context,
  of: Resource<KubeObject>,
  { name, uid }: Stored<KubeObject>["metadata"],
): Promise<void> {
  const how = { uid, signal: ask.signal, ...(of.kind === pods.kind && { gracePeriodSeconds: 0 }) };
  return gone(kube.delete(of, { name, ...(of.namespaced && { namespace }) }, how));
}

/** What stands as long as the controllers have not done their part: objects, load balancers, target groups, groups and rules, disks. */
async function remaining(context: Context): Promise<readonly string[]> {
  const { cloud, run, vpc, ask, made } = context;
  const names = new Set([...made.values()].map(balancerName));
  // Other names begin with "k8s-", then come eight characters of the namespace and eight of the name: those of "e2e-RUN-…".
  const isOurs = (name = "") => names.has(name) || name.includes(`-e2e${run}`);
  const [objects, bound, volumes, classic, balancers, groups, securityGroups, disks, copies] = await Promise.all([
    Promise.all(namespaced.map((of) => ours(context, of))),
    boundTargets(context),
    volumesOfClaims(context),
    cloud.classicLoadBalancers.list(ask),
    cloud.loadBalancers.list(ask),
    cloud.loadBalancers.targetGroups(ask),
    cloud.securityGroups.list([{ name: "vpc-id", values: [vpc] }], ask),
    cloud.volumes.tagged(mark, run, ask),
    cloud.snapshots.tagged(mark, run, ask),
  ]);
  const mentions = (texts: readonly string[]) => texts.some((text) => [...names].some((name) => text.includes(name)));
  return [
    ...objects.flatMap((list, index) => list.map(({ metadata }) => `${namespaced[index]!.kind} ${metadata.name}`)),
    ...bound,
    ...volumes,
    ...[...classic, ...balancers]
      .filter(({ LoadBalancerName }) => isOurs(LoadBalancerName))
      .map(({ LoadBalancerName }) => `load balancer ${LoadBalancerName}`),
    ...groups.filter(({ TargetGroupName }) => isOurs(TargetGroupName)).map(({ TargetGroupName }) => `target group ${TargetGroupName}`),
    ...securityGroups.filter(({ name }) => isOurs(name) || mentions([name])).map(({ id, name }) => `security group ${name} (${id})`),
    ...securityGroups.filter(({ descriptions }) => mentions(descriptions)).map(({ id }) => `rules in security group ${id}`),
    ...disks.filter(({ state }) => !/^delet/.test(state)).map(({ id }) => `disk ${id}`),
    ...copies.map(({ id }) => `snapshot ${id}`),
  ];
}

async function boundTargets({ kube, namespace, run, ask }: Context): Promise<readonly string[]> {
  const found = (await listIfServed(kube, bindings, { namespace, signal: ask.signal })) ?? [];
  return found.filter(({ metadata }) => metadata.name.includes(`-e2e${run}`)).map(({ metadata }) => `TargetGroupBinding ${metadata.name}`);
}

async function volumesOfClaims({ kube, namespace, run, ask }: Context): Promise<readonly string[]> {
  const { items } = await kube.list(persistentVolumes, { signal: ask.signal });
  const isOurs = ({ spec }: (typeof items)[number]) =>
    spec?.claimRef?.namespace === namespace && spec.claimRef.name?.startsWith(`e2e-${run}-`);
  return items.filter(isOurs).map(({ metadata }) => `PersistentVolume ${metadata.name}`);
}

/** Security groups that the suite made itself. */
function ownGroups({ cloud, run, vpc, ask }: Context): Promise<readonly SecurityGroup[]> {
  const filters = [
    { name: `tag:${mark}`, values: [run] },
    { name: "group-name", values: [`e2e-${run}-*`] },
    { name: "vpc-id", values: [vpc] },
  ];
  return cloud.securityGroups.list(filters, ask);
}

/** What the controllers told of this run's objects: the reasons of what failed, and the permissions that were missing. */
export async function warningsOf({ kube, namespace, run, ask }: Context): Promise<readonly string[]> {
  const { items } = await kube.list(events, { namespace, fieldSelector: "type=Warning", signal: ask.signal });
  const told = items.filter(({ involvedObject }) => involvedObject.name?.startsWith(`e2e-${run}-`));
  return [...new Set(told.map(({ involvedObject, reason, message }) => `${involvedObject.name}: ${reason}: ${message}`))];
}
