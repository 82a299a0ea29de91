/** Rules of EventBridge, as far as they bring notices of interruptions to a queue. */
import type { Ask } from "./ask.ts";
import type { Cloud } from "./cloud.ts";
import { isAwsError } from "./errors.ts";
import { type EventPattern, matchesPattern, readPattern } from "./event-pattern.ts";
import { describeRule, listRuleNamesByTarget } from "./events-actions.ts";
import { type HeardKind, samplesOf } from "./interruption-rules.ts";

export interface EventRule {
  readonly name: string;
  /** Undefined for a rule that goes by a schedule. */
  readonly pattern: EventPattern | undefined;
  readonly enabled: boolean;
}

/** The rules of the default bus that deliver to a target. */
export async function rulesTo(cloud: Cloud, targetArn: string, ask: Ask): Promise<readonly EventRule[]> {
  const names: string[] = [];
  let token: string | undefined;
  do {
    const page = await cloud.call(listRuleNamesByTarget, { TargetArn: targetArn, ...(token !== undefined && { NextToken: token }) }, ask);
    names.push(...(page.RuleNames ?? []));
    token = page.NextToken;
  } while (token !== undefined);
  const rules = await Promise.all(names.map((name) => ruleNamed(cloud, name, ask)));
  return rules.filter((rule) => rule !== undefined);
}

/** The rule of a name; undefined when there is none. */
export async function ruleNamed(cloud: Cloud, name: string, ask: Ask): Promise<EventRule | undefined> {
  try {
    const { EventPattern: pattern = "", State } = await cloud.call(describeRule, { Name: name }, ask);
    return { name, pattern: readPattern(pattern), enabled: State !== "DISABLED" };
  } catch (error) {
    if (isAwsError(error) && error.code === "ResourceNotFoundException") return undefined;
    throw error;
  }
}

/** How much of the notices of a kind rules pass on together, and which of them do. */
export interface Coverage {
  readonly share: "all" | "some" | "none";
  readonly by: readonly string[];
}

/** What rules pass on of a kind. One whose pattern cannot be told is given the benefit of the doubt. */
export function coverageOf(rules: readonly EventRule[], kind: HeardKind): Coverage {
  const samples = samplesOf(kind);
  const passing = rules
    .map(({ name, pattern, enabled }) => ({
      name,
      passed: enabled && pattern !== undefined ? samples.filter((sample) => matchesPattern(pattern, sample) !== false) : [],
    }))
    .filter(({ passed }) => passed.length > 0);
  const passed = new Set(passing.flatMap((rule) => rule.passed));
  return {
    share: passed.size === 0 ? "none" : passed.size < samples.length ? "some" : "all",
    by: passing.map(({ name }) => name),
  };
}
