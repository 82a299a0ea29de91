/** Leaves out rules that would never answer, or would send clients in circles, unless nobody knows what else they are for. Pure. */
import type { Condition, Redirect } from "../routing.ts";
import type { DraftRule } from "./rules.ts";
import { isKeptRule } from "./unclaimed.ts";

export interface ListenerFacts {
  readonly port: number;
  readonly protocol: string;
}

export function withoutUseless<R extends DraftRule>(rules: readonly R[], listener: ListenerFacts): readonly R[] {
  const kept: R[] = [];
  for (const rule of rules) {
    const isUseless = redirectsToItself(rule, listener) || kept.some((earlier) => covers(earlier, rule));
    if (isUseless && !isKeptRule(rule)) continue;
    kept.push(rule);
  }
  return kept;
}

const redirectOf = ({ actions }: DraftRule) => actions.find((action): action is Redirect => action.kind === "redirect");

function redirectsToItself(rule: DraftRule, { port, protocol }: ListenerFacts): boolean {
  const redirect = redirectOf(rule);
  if (redirect === undefined || rule.conditions.some((each) => each.field === "path-pattern" && each.match === "regex")) return false;
  const isNeutral = (value: string | undefined, placeholder: string, ...own: readonly string[]) =>
    value === undefined || value === placeholder || own.includes(value);
  return (
    isNeutral(redirect.host, "#{host}", ...valuesOf(rule, "host-header")) &&
    isNeutral(redirect.path, "/#{path}", ...valuesOf(rule, "path-pattern")) &&
    isNeutral(redirect.port, "#{port}", String(port)) &&
    isNeutral(redirect.protocol, "#{protocol}", protocol) &&
    isNeutral(redirect.query, "#{query}")
  );
}

/** Whether a redirect takes every request that a later rule would. Hosts by regular expression are opaque: they cover only themselves. */
function covers(earlier: DraftRule, later: DraftRule): boolean {
  if (redirectOf(earlier) === undefined) return false;
  if (earlier.conditions.some(({ field }) => field !== "host-header" && field !== "path-pattern")) return false;
  return coversField(earlier, later, "host-header") && coversField(earlier, later, "path-pattern");
}

function coversField(earlier: DraftRule, later: DraftRule, field: "host-header" | "path-pattern"): boolean {
  const [wide, narrow] = [conditionOf(earlier, field), conditionOf(later, field)];
  if (wide === undefined) return true;
  if (field === "path-pattern" && wide.match === "wildcard" && wide.values.includes("/*")) return true;
  return narrow !== undefined && narrow.match === wide.match && narrow.values.every((value) => wide.values.includes(value));
}

type Patterned = Extract<Condition, { readonly field: "host-header" | "path-pattern" }>;

const conditionOf = ({ conditions }: DraftRule, field: Patterned["field"]) =>
  conditions.find((each): each is Patterned => each.field === field);

const valuesOf = (rule: DraftRule, field: Patterned["field"]) => conditionOf(rule, field)?.values ?? [];
