/** Which target groups are a Service's own. */
import type { TargetGroup } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Ask } from "../../aws/ask.ts";
import { targetGroupPrefix } from "../names.ts";
import type { Inventory } from "../observe.ts";
import { carriesService } from "./find.ts";

/** Those its load balancer uses, and those that carry its tags and are used by none: left by a step that did not finish. */
export async function ownTargetGroups(
  service: { readonly namespace: string; readonly name: string },
  loadBalancer: string | undefined,
  inventory: Inventory,
  maxAgeMs: number,
  ask: Ask,
): Promise<readonly TargetGroup[]> {
  const prefix = targetGroupPrefix(service);
  const all = await inventory.targetGroups.all(maxAgeMs, ask, `${service.namespace}/${service.name}`);
  const candidates = all.filter(({ TargetGroupName = "" }) => TargetGroupName.startsWith(prefix));
  const own = await Promise.all(
    candidates.map(async (group) => {
      const { LoadBalancerArns: users = [], TargetGroupArn: arn = "" } = group;
      if (users.length > 0) return loadBalancer !== undefined && users.includes(loadBalancer);
      const tags = await inventory.cloud.loadBalancers.tags(arn, ask);
      return tags !== undefined && carriesService(tags, service, inventory);
    }),
  );
  return candidates.filter((_, i) => own[i]);
}
