/** Rules that stand for an Ingress which nobody understands at the moment: all that are nobody else's. Pure. */
import type { SeenApplication } from "../application/plan.ts";
import { leadsTo, type SeenRule, sameSettings } from "../application/plan-rules.ts";
import type { Tags, TargetGroup } from "../model.ts";
import { standsFor } from "../target-group-plan.ts";
import { type DraftRule, type Route, routesOf } from "./rules.ts";
import { type IngressView, keyOf } from "./view.ts";

/** One that stays as it is. */
export interface KeptRule extends DraftRule {
  readonly keeps: string;
  readonly tags: Tags;
}

export const isKeptRule = (rule: DraftRule): rule is KeptRule => "keeps" in rule;

/** An Ingress that is in the group, or that is about to leave it. */
export interface Claimant {
  readonly ingress: IngressView;
  readonly isUnderstood: boolean;
  /** What it asked for before, where that is remembered. */
  readonly former: readonly DraftRule[];
}

/**
 * Of the rules on a port those that no draft asks for and that are not known to be of somebody who is understood: by the target
 * group that they lead to, or, where they lead to none, by the hosts and paths that only those who are understood write.
 */
export function keptRules(
  port: number,
  drafts: readonly DraftRule[],
  groups: readonly TargetGroup[],
  seen: SeenApplication,
  members: readonly Claimant[],
): readonly KeptRule[] {
  const arnOf = (name: string) => {
    const group = groups.find((each) => each.name === name);
    return (group && seen.targetGroups.find((present) => standsFor(present, group))?.arn) ?? "";
  };
  const theirs = new Set(seen.targetGroups.filter(({ part = "" }) => ownerOf(part, members)?.isUnderstood).map(({ arn }) => arn));
  const [understood, others] = [true, false].map((isUnderstood) => {
    const some = members.filter((member) => member.isUnderstood === isUnderstood);
    return new Set(some.flatMap(({ ingress }) => routesOf(ingress).map(routeText)));
  }) as [Set<string>, Set<string>];
  const former = members.flatMap((member) => member.former);
  const isTheirs = (rule: SeenRule) => {
    if (former.some((draft) => sameSettings(draft, rule, arnOf))) return true;
    const to = leadsTo(rule);
    if (to.length > 0) return to.some((arn) => theirs.has(arn));
    const route = routeText(routeIn(rule));
    return understood.has(route) && !others.has(route);
  };
  const rules = seen.loadBalancer?.listeners.find((listener) => listener.port === port)?.rules ?? [];
  return rules
    .filter((rule) => !drafts.some((draft) => sameSettings(draft, rule, arnOf)) && !isTheirs(rule))
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
function ownerOf(part: string, members: readonly Claimant[]): Claimant | undefined {
  return members
    .filter(({ ingress }) => part.startsWith(`${keyOf(ingress)}-`))
    .toSorted((a, b) => keyOf(b.ingress).length - keyOf(a.ingress).length)[0];
}

const routeIn = ({ conditions }: SeenRule): Route => ({
  hosts: conditions.flatMap(({ HostHeaderConfig: host }) => [...(host?.Values ?? []), ...(host?.RegexValues ?? [])]),
  paths: conditions.flatMap(({ PathPatternConfig: path }) => [...(path?.Values ?? []), ...(path?.RegexValues ?? [])]),
});

const routeText = ({ hosts, paths }: Route) => JSON.stringify([hosts.toSorted(), paths.toSorted()]);
