/** Rules that stand for an Ingress which nobody understands at the moment: all that are nobody else's. Pure. */
import type { SeenApplication } from "../application/plan.ts";
import { leadsTo, sameSettings } from "../application/plan-rules.ts";
import type { Tags, TargetGroup } from "../model.ts";
import { standsFor } from "../target-group-plan.ts";
import type { DraftRule } from "./rules.ts";

/** One that stays as it is. */
export interface KeptRule extends DraftRule {
  readonly keeps: string;
  readonly tags: Tags;
}

export const isKeptRule = (rule: DraftRule): rule is KeptRule => "keeps" in rule;

/** Of the rules on a port those that no draft asks for and that lead to no target group of those who are understood. */
export function keptRules(
  port: number,
  drafts: readonly DraftRule[],
  groups: readonly TargetGroup[],
  seen: SeenApplication,
  members: readonly { readonly key: string; readonly isUnderstood: boolean }[],
): readonly KeptRule[] {
  const arnOf = (name: string) => {
    const group = groups.find((each) => each.name === name);
    return (group && seen.targetGroups.find((present) => standsFor(present, group))?.arn) ?? "";
  };
  const theirs = new Set(seen.targetGroups.filter(({ part = "" }) => ownerOf(part, members)?.isUnderstood).map(({ arn }) => arn));
  const rules = seen.loadBalancer?.listeners.find((listener) => listener.port === port)?.rules ?? [];
  return rules
    .filter((rule) => !drafts.some((draft) => sameSettings(draft, rule, arnOf)) && !leadsTo(rule).some((arn) => theirs.has(arn)))
    .toSorted((a, b) => a.priority - b.priority)
    .map(({ arn, tags }) => ({
      keeps: arn,
      tags,
      conditions: [],
      actions: [],
      transforms: [],
      why: "it belongs to an Ingress that cannot be read",
    }));
}

/** The Ingress whose target group it is. Where the names of two fit, the longer one is meant. */
function ownerOf<M extends { readonly key: string }>(part: string, members: readonly M[]): M | undefined {
  return members.filter(({ key }) => part.startsWith(`${key}-`)).toSorted((a, b) => b.key.length - a.key.length)[0];
}
