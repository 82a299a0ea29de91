/** How the targets of target groups do. */
import type { Ask } from "../../aws/ask.ts";
import type { Inventory } from "../inventory.ts";
import type { BackendHealth } from "../kind.ts";
import type { SeenTargetGroup } from "../target-group-plan.ts";

export async function healthOf(
  groups: readonly SeenTargetGroup[],
  where: (group: SeenTargetGroup) => string,
  { cloud }: Inventory,
  ask: Ask,
): Promise<BackendHealth[]> {
  const healths = await Promise.all(groups.map(({ arn }) => cloud.loadBalancers.targetHealth(arn, ask)));
  return groups.map((group, i) => ({
    where: where(group),
    targets: healths[i]!.map(({ Target: target, TargetHealth: is }) => ({
      id: target?.Id ?? "",
      healthy: is?.State === "healthy",
      state: is?.State ?? "",
      why: [is?.Reason, is?.Description].filter(Boolean).join(" "),
    })),
  }));
}
