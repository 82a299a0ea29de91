/** Which target groups are a Service's own. */
import type { TargetGroup } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Ask } from "../aws/ask.ts";
import type { Inventory } from "./inventory.ts";
import { isNumberedTargetGroup, targetGroupPrefix } from "./names.ts";
import { carriesService } from "./service/find.ts";

type ServiceRef = { readonly namespace: string; readonly name: string; readonly uid: string };

/** Those whose names may be a Service's, and that no other load balancer uses: names of other Services may begin the same. */
export async function namedTargetGroups(
  service: ServiceRef,
  loadBalancer: string | undefined,
  inventory: Inventory,
  maxAgeMs: number,
  ask: Ask,
): Promise<TargetGroup[]> {
  const prefix = targetGroupPrefix(service);
  const all = await inventory.targetGroups.all(maxAgeMs, ask, `${service.namespace}/${service.name}`);
  return all.filter((group) => {
    const { TargetGroupName: name = "", LoadBalancerArns: users = [] } = group;
    if (isNumberedTargetGroup(name, service.uid)) return true;
    return name.startsWith(prefix) && (users.length === 0 || isBehind(group, loadBalancer));
  });
}

/** Those of them that carry its tags: only these are ever deleted. */
export async function marked<G extends { readonly TargetGroupArn?: string }>(
  groups: readonly G[],
  service: ServiceRef,
  inventory: Inventory,
  ask: Ask,
): Promise<G[]> {
  const verdicts = await Promise.all(
    groups.map(async ({ TargetGroupArn: arn = "" }) => {
      const tags = await inventory.cloud.loadBalancers.tags(arn, ask);
      return tags !== undefined && carriesService(tags, service, inventory);
    }),
  );
  return groups.filter((_, i) => verdicts[i]);
}

/** Whether a load balancer forwards to a target group. */
export function isBehind({ LoadBalancerArns: users = [] }: TargetGroup, loadBalancer: string | undefined): boolean {
  return loadBalancer !== undefined && users.includes(loadBalancer);
}

/**
 * Those that a plan may be about: what its load balancer forwards to, and what was left by a step that did not finish.
 * The tags of what is in use are not read for every look; a plan that would delete one asks for them.
 */
export async function plannedTargetGroups(
  service: ServiceRef,
  loadBalancer: string | undefined,
  inventory: Inventory,
  maxAgeMs: number,
  ask: Ask,
): Promise<TargetGroup[]> {
  const named = await namedTargetGroups(service, loadBalancer, inventory, maxAgeMs, ask);
  const unused = named.filter(({ LoadBalancerArns: users = [] }) => users.length === 0);
  return [...named.filter((group) => isBehind(group, loadBalancer)), ...(await marked(unused, service, inventory, ask))];
}
