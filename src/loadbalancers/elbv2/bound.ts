/** Kinds whose target groups are filled by bindings: which targets are in them, and what those let in, is written by others. */
import type { Ask } from "../../aws/ask.ts";
import type { Inventory } from "../inventory.ts";
import type { TargetGroup } from "../model.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import { type SeenTargetGroup, standsFor } from "../target-group-plan.ts";
import { withoutStrangers } from "../target-groups.ts";

interface Grouped {
  readonly targetGroups: readonly TargetGroup[];
}

interface SeenGrouped {
  readonly targetGroups: readonly SeenTargetGroup[];
}

export const filledByBindings = {
  withTargets: <Model>(model: Model) => model,
  registered: () => new Set<string>(),
  planTargets: () => [],
  afterParts: <View extends SeenGrouped>(model: Grouped, seen: View, made: ReadonlyMap<string, string>): View => ({
    ...seen,
    targetGroups: model.targetGroups.map((group) => {
      const present = seen.targetGroups.find((each) => standsFor(each, group));
      return {
        ...group,
        arn: present?.arn ?? made.get(`target group ${group.name}`) ?? "",
        name: present?.name ?? group.name,
        targets: [],
      };
    }),
  }),
  refreshTargets: async <View>(_name: string, seen: View) => seen,
  afterTargets: <View>(seen: View) => seen,
  touchTargets() {},

  ruleMarks: () => ({ descriptions: [], sources: [] }),
  ruleSources: async () => ({ ownGroups: [], subnetCidrs: [] }),
  usage: async () => ({ ports: [], sources: [] }),
};

/** The view without target groups that a plan would delete and that do not carry the owner's marks. */
export async function withoutStrangeGroups<View extends SeenGrouped>(
  seen: View,
  unwanted: readonly SeenTargetGroup[],
  owner: LoadBalancerOwner,
  inventory: Inventory,
  ask: Ask,
): Promise<View> {
  return { ...seen, targetGroups: await withoutStrangers(seen.targetGroups, (group) => unwanted.includes(group), owner, inventory, ask) };
}
