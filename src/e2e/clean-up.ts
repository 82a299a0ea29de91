/** Removes what a run has made, and looks until nothing of it is left. */
import type { SecurityGroup } from "../aws/security-groups.ts";
import { events, pods, services } from "../kube/builtin.ts";
import { isApiError } from "../kube/errors.ts";
import { messageOf } from "../runtime/message-of.ts";
import { balancerName } from "./balancers.ts";
import { deleteOwnGroup } from "./cases-services.ts";
import { type Context, eventually, expect, mark } from "./context.ts";

/** Resolves with what is left, and why it could not be removed; empty when nothing is. */
export async function cleanUp(context: Context): Promise<readonly string[]> {
  const problems: string[] = [];
  const attempt = async (what: string, work: () => Promise<void>) => {
    try {
      await eventually(context, work);
    } catch (error) {
      problems.push(`${what}: ${messageOf(error)}`);
    }
  };
  await attempt("delete the objects", () => deleteObjects(context));
  await attempt("wait for the controllers", () => nothingOf(remaining(context)));
  await attempt("delete the security groups", async () => {
    for (const { id } of await ownGroups(context)) await deleteOwnGroup(context, id);
  });
  const look = async () => [
    ...(await remaining(context)),
    ...(await ownGroups(context)).map(({ id, name }) => `security group ${name} (${id})`),
  ];
  const left = await look().catch((error: unknown) => [`it cannot be told what is left: ${messageOf(error)}`]);
  return left.length === 0 ? [] : [...left, ...problems];
}

/** Everything with the label of this run: also what was made by a request whose answer was lost. */
async function deleteObjects({ kube, namespace, run, ask, made }: Context): Promise<void> {
  const { signal } = ask;
  const { items: ours } = await kube.list(services, { namespace, labelSelector: labelOf(run), signal });
  for (const { metadata } of ours) {
    made.set(metadata.name, metadata.uid);
    await gone(kube.delete(services, { namespace, name: metadata.name }, { uid: metadata.uid, signal }));
  }
  const { items: started } = await kube.list(pods, { namespace, labelSelector: labelOf(run), signal });
  for (const { metadata } of started) {
    await gone(kube.delete(pods, { namespace, name: metadata.name }, { uid: metadata.uid, gracePeriodSeconds: 0, signal }));
  }
}

function labelOf(run: string): string {
  return `${mark} in (${run},${run}-client)`;
}

async function nothingOf(looked: Promise<readonly string[]>): Promise<void> {
  const left = await looked;
  expect(left.length === 0, `there are still ${left.join(", ")}`);
}

async function gone(deletion: Promise<void>): Promise<void> {
  await deletion.catch((error: unknown) => {
    if (!(isApiError(error) && error.status === 404)) throw error;
  });
}

/** What the controllers made for this run, wherever it may be: objects, load balancers, target groups, groups and rules. */
async function remaining(context: Context): Promise<readonly string[]> {
  const { kube, cloud, namespace, run, vpc, ask, made } = context;
  const labelSelector = labelOf(run);
  const names = new Set([...made.values()].map(balancerName));
  const isOurs = (name = "") => names.has(name);
  const [serviceList, podList, classic, balancers, groups, securityGroups] = await Promise.all([
    kube.list(services, { namespace, labelSelector, signal: ask.signal }),
    kube.list(pods, { namespace, labelSelector, signal: ask.signal }),
    cloud.classicLoadBalancers.list(ask),
    cloud.loadBalancers.list(ask),
    cloud.loadBalancers.targetGroups(ask),
    cloud.securityGroups.list([{ name: "vpc-id", values: [vpc] }], ask),
  ]);
  const mentions = (texts: readonly string[]) => texts.some((text) => [...names].some((name) => text.includes(name)));
  return [
    ...serviceList.items.map(({ metadata }) => `Service ${metadata.name}`),
    ...podList.items.map(({ metadata }) => `pod ${metadata.name}`),
    ...classic
      .filter(({ LoadBalancerName }) => isOurs(LoadBalancerName))
      .map(({ LoadBalancerName }) => `load balancer ${LoadBalancerName}`),
    ...balancers
      .filter(({ LoadBalancerName }) => isOurs(LoadBalancerName))
      .map(({ LoadBalancerName }) => `load balancer ${LoadBalancerName}`),
    ...groups
      .filter(({ TargetGroupName = "" }) => TargetGroupName.includes(`-e2e${run}-`))
      .map(({ TargetGroupName }) => `target group ${TargetGroupName}`),
    ...securityGroups.filter(({ name }) => mentions([name])).map(({ id, name }) => `security group ${name} (${id})`),
    ...securityGroups.filter(({ descriptions }) => mentions(descriptions)).map(({ id }) => `rules in security group ${id}`),
  ];
}

/** Security groups that the suite made itself. */
function ownGroups({ cloud, run, ask }: Context): Promise<readonly SecurityGroup[]> {
  return cloud.securityGroups.list([{ name: `tag:${mark}`, values: [run] }], ask);
}

/** What the controllers told of this run's Services: the reasons of what failed, and the permissions that were missing. */
export async function warningsOf({ kube, namespace, run, ask }: Context): Promise<readonly string[]> {
  const { items } = await kube.list(events, { namespace, fieldSelector: "type=Warning", signal: ask.signal });
  const ours = items.filter(({ involvedObject }) => involvedObject.name?.startsWith(`e2e-${run}-`));
  return [...new Set(ours.map(({ involvedObject, reason, message }) => `${involvedObject.name}: ${reason}: ${message}`))];
}
