/** The targets of a load balancer that is otherwise left as it is. */
import type { Refusal } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import { classicInstances } from "../classic/observe.ts";
import type { SeenClassic } from "../classic/plan.ts";
import { type Inventory, reconcileAges } from "../inventory.ts";
import { seeTargetGroup } from "../network/observe.ts";
import type { SeenNetwork } from "../network/plan.ts";
import { isBehind, marked, namedTargetGroups } from "../target-groups.ts";
import type { Targets } from "../targets.ts";
import type { Found } from "./find.ts";
import { registeredIn, registrable, registrableIn } from "./survey.ts";

/** What somebody else has put behind it is none of ours. */
export async function targetsBehind(
  lb: Found,
  service: { readonly namespace: string; readonly name: string; readonly uid: string },
  inventory: Inventory,
  ask: Ask,
): Promise<SeenClassic | SeenNetwork> {
  if (lb.kind === "classic") return { loadBalancer: { ...nothingElse, instances: classicInstances(lb.description) } };
  const named = await namedTargetGroups(service, lb.arn, inventory, reconcileAges.presentMs, ask);
  const used = named.filter((group) => isBehind(group, lb.arn));
  const own = await marked(used, service, inventory, ask);
  const { loadBalancers } = inventory.cloud;
  return {
    targetGroups: await Promise.all(
      own.map(async (group) => seeTargetGroup(group, await loadBalancers.targetHealth(group.TargetGroupArn ?? "", ask), {})),
    ),
  };
}

/** The same after its targets were brought to these, but for those that AWS refused. */
export function withTargets(seen: SeenClassic | SeenNetwork, targets: Targets, refused: readonly Refusal[]): SeenClassic | SeenNetwork {
  const taken = (ids: readonly string[]) => ids.filter((id) => !refused.some((refusal) => refusal.ids.includes(id)));
  if ("targetGroups" in seen) {
    const targetGroups = seen.targetGroups.map((group) => ({
      ...group,
      targets: taken(registrableIn(group, targets)).map((id) => ({ id, port: group.port })),
    }));
    return { ...seen, targetGroups };
  }
  const instances = taken(registrable(targets, registeredIn(seen)));
  return { ...seen, loadBalancer: { ...(seen.loadBalancer ?? nothingElse), instances } };
}

/** Of a classic load balancer whose targets alone are of interest. */
const nothingElse: NonNullable<SeenClassic["loadBalancer"]> = {
  subnets: [],
  securityGroups: [],
  listeners: [],
  instances: [],
  attributes: { accessLog: { enabled: false }, connectionDraining: { enabled: false }, idleTimeout: 60, crossZone: false },
  policies: { names: [], backends: {} },
};
