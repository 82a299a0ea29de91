/** Removes what a run has made, and looks until nothing of it is left. */
import { events, pods, services } from "../kube/builtin.ts";
import { isApiError } from "../kube/errors.ts";
import { messageOf } from "../runtime/message-of.ts";
import { balancerName } from "./balancers.ts";
import { deleteOwnGroup } from "./cases-services.ts";
import { type Context, eventually, expect, mark } from "./context.ts";

/** Resolves with what is left, and why it could not be removed; empty when nothing is. */
export async function cleanUp(context: Context): Promise<readonly string[]> {
  const { kube, namespace, made } = context;
  const problems: string[] = [];
  const attempt = async (what: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      problems.push(`${what}: ${messageOf(error)}`);
    }
  };
  for (const name of made.services.keys()) await attempt(`delete Service ${name}`, () => gone(kube.delete(services, { namespace, name })));
  for (const name of made.pods) {
    await attempt(`delete pod ${name}`, () => gone(kube.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 })));
  }
  await attempt("wait until the load balancers are gone", () => nothingOf(context, remaining));
  for (const id of made.groups) await attempt(`delete security group ${id}`, () => deleteOwnGroup(context, id));
  await attempt("look for what is left", () => nothingOf(context, async (run) => [...(await remaining(run)), ...(await ownGroups(run))]));
  return problems;
}

function nothingOf(context: Context, look: (context: Context) => Promise<readonly string[]>): Promise<void> {
  return eventually(context, async () => {
    const left = await look(context);
    expect(left.length === 0, `there are still ${left.join(", ")}`);
  });
}

async function gone(deletion: Promise<void>): Promise<void> {
  await deletion.catch((error: unknown) => {
    if (!(isApiError(error) && error.status === 404)) throw error;
  });
}

/** What the controllers made for this run, wherever it may be: objects, load balancers, target groups, groups and rules. */
async function remaining(context: Context): Promise<readonly string[]> {
  const { kube, cloud, namespace, run, vpc, ask, made } = context;
  const labelSelector = `${mark} in (${run},${run}-client)`;
  const names = new Set([...made.services.values()].map(balancerName));
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

async function ownGroups({ cloud, run, ask }: Context): Promise<readonly string[]> {
  const found = await cloud.securityGroups.list([{ name: `tag:${mark}`, values: [run] }], ask);
  return found.map(({ id, name }) => `security group ${name} (${id})`);
}

/** What the controllers told of this run's Services: the reasons of what failed, and the permissions that were missing. */
export async function warningsOf({ kube, namespace, run, ask }: Context): Promise<readonly string[]> {
  const { items } = await kube.list(events, { namespace, fieldSelector: "type=Warning", signal: ask.signal });
  const ours = items.filter(({ involvedObject }) => involvedObject.name?.startsWith(`e2e-${run}-`));
  return [...new Set(ours.map(({ involvedObject, reason, message }) => `${involvedObject.name}: ${reason}: ${message}`))];
}
