/** Listeners and rules as they stand: what cannot be brought to what is asked for stays as it is. Pure. */
import type { Action } from "@aws-sdk/client-elastic-load-balancing-v2";
import { sameConditions } from "../application/conditions.ts";
import { leadsTo, type SeenRule } from "../application/plan-rules.ts";
import type { Forward, ListenerRule } from "../routing.ts";
import type { SeenTargetGroup } from "../target-group-plan.ts";
import type { AskedRule } from "./findings.ts";

export interface StandingListener {
  readonly port: number;
  readonly protocol: string;
  /** ARNs, the default one first. */
  readonly certificates: readonly string[];
  readonly actions: readonly Action[];
  /** None of a network load balancer. */
  readonly rules: readonly SeenRule[];
}

/** Target groups that it forwards to, by ARN. */
export const groupsBehind = ({ actions, rules }: StandingListener): readonly string[] => [{ actions }, ...rules].flatMap(leadsTo);

/** What a listener of a network load balancer does now. */
export function standingForward({ actions: [action] }: StandingListener): Forward {
  const { TargetGroupArn, ForwardConfig } = action ?? {};
  const groups = ForwardConfig?.TargetGroups ?? [{ TargetGroupArn }];
  return {
    kind: "forward",
    to: groups.map(({ TargetGroupArn: arn = "", Weight: weight }) => ({ arn, ...(weight !== undefined && { weight }) })),
  };
}

export type DraftRule = Omit<ListenerRule, "priority">;

/** A rule of a route that cannot be brought to what it asks for. */
export interface HeldRule {
  /** The route's key. */
  readonly route: string;
  readonly ruleIndex: number;
  /** What it asks for, as text. */
  readonly wish: string;
  /** How the parts of its target groups begin. */
  readonly partPrefix: string;
  /** How those begin that it may share with other routes. */
  readonly sharedPrefixes: readonly string[];
  readonly drafts: readonly Pick<DraftRule, "conditions">[];
}

export interface RulesThatStand {
  readonly standing: readonly SeenRule[];
  readonly targetGroups: readonly Pick<SeenTargetGroup, "arn" | "part">[];
  /** What was asked for last, as far as anybody remembers. */
  readonly former: readonly Omit<AskedRule, "port">[];
}

/**
 * Of the rules that stand those of a rule that is held: one that answers the same requests; one that was asked for by it before; and,
 * where nobody remembers, those that lead to the target groups of its route; of one that it shares, under a host name of its own.
 * What others ask for is theirs.
 */
export function standingFor(
  held: HeldRule,
  drafts: readonly DraftRule[],
  { standing, targetGroups, former }: RulesThatStand,
): readonly SeenRule[] {
  const startingWith = (prefixes: readonly string[]) =>
    new Set(targetGroups.filter(({ part = "" }) => prefixes.some((prefix) => part.startsWith(prefix))).map(({ arn }) => arn));
  const own = startingWith([held.partPrefix]);
  const shared = startingWith(held.sharedPrefixes);
  const its = formerOf(held, former);
  const isIts = (rule: SeenRule) => {
    if (held.drafts.some(({ conditions }) => sameConditions(conditions, rule.conditions))) return true;
    const asker = former.find(({ conditions }) => sameConditions(conditions, rule.conditions));
    if (asker) return its.includes(asker);
    const behind = leadsTo(rule);
    return behind.some((arn) => own.has(arn)) || (behind.some((arn) => shared.has(arn)) && held.drafts.some(hasHostOf(rule)));
  };
  return standing.filter((rule) => isIts(rule) && !drafts.some(({ conditions }) => sameConditions(conditions, rule.conditions)));
}

const hasHostOf =
  (rule: SeenRule) =>
  ({ conditions }: HeldRule["drafts"][number]): boolean =>
    sameConditions(
      conditions.filter(({ field }) => field === "host-header"),
      rule.conditions.filter(({ Field }) => Field === "host-header"),
    );

/** What it asked for before. One that asks for the same still is known by that: its place among its route's rules may be another now. */
export function formerOf<Rule extends Omit<AskedRule, "port">>(
  { route, ruleIndex, wish }: Pick<HeldRule, "route" | "ruleIndex" | "wish">,
  former: readonly Rule[],
): readonly Rule[] {
  const own = former.filter((each) => each.route === route);
  const same = own.filter(({ heldFor }) => heldFor === wish);
  return same.length > 0 ? same : own.filter((each) => each.ruleIndex === ruleIndex);
}

/** Puts rules that stay as they are between those that are asked for: before those that stand and that they come before now. */
export function withKept(
  drafts: readonly DraftRule[],
  kept: readonly SeenRule[],
  standing: readonly SeenRule[],
  placeOf: (rule: SeenRule) => number,
): readonly DraftRule[] {
  const placeNow = ({ keeps, conditions }: DraftRule) => {
    const present = standing.find((rule) => (keeps ? rule.arn === keeps : sameConditions(conditions, rule.conditions)));
    return present ? placeOf(present) : 0;
  };
  const all = [...drafts];
  for (const rule of new Set(kept.toSorted((a, b) => placeOf(a) - placeOf(b)))) {
    const at = all.findIndex((draft) => placeNow(draft) > placeOf(rule));
    all.splice(at < 0 ? all.length : at, 0, keptRule(rule));
  }
  return all;
}

const keptRule = ({ arn, tags }: SeenRule): DraftRule => ({
  keeps: arn,
  tags,
  conditions: [],
  actions: [],
  transforms: [],
  why: "what its route asks for now cannot be had",
});
