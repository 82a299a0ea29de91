/** Rules of the default event bus as the API makes them: a pattern, and targets that get what it lets through. */
import { matchesPattern, readPattern } from "../../../aws/event-pattern.ts";
import { type Account, arn } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { mayDeliver } from "../sqs/delivery.ts";
import type { Table } from "../store.ts";
import { tokenPage } from "../token-pages.ts";
import type { BusAccount } from "./bus.ts";

/** Where a rule delivers to. */
export interface BusTarget {
  readonly Id: string;
  readonly Arn: string;
  /** The queue for what cannot be delivered. */
  readonly DeadLetterConfig?: { readonly Arn?: string };
}

/** A rule of the default bus. */
export interface BusRule {
  readonly name: string;
  readonly arn: string;
  /** As it was given. */
  readonly pattern: string;
  readonly state: "ENABLED" | "DISABLED";
  readonly description: string | undefined;
  readonly tags: Readonly<Record<string, string>>;
  readonly targets: readonly BusTarget[];
}

const BUS = "default";
/** AWS's quotas: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-quota.html */
const MAX_RULES = 300;
const MAX_TARGETS = 5;
const MAX_PAGE = 100;

/** The rules by name. */
export function busRules({ store }: BusAccount): Table<BusRule> {
  return store.table("events/bus-rules");
}

/**
 * The queues that get an event. One whose own policy does not let EventBridge send gets nothing: the dead-letter queue of the target gets it,
 * at once and under the same condition, or nobody is told. https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html
 */
export function queuesFor(account: BusAccount, event: Readonly<Record<string, unknown>>): readonly string[] {
  const matching = busRules(account)
    .values()
    .filter(({ state, pattern }) => state === "ENABLED" && isLetThrough(pattern, event));
  return matching.flatMap(({ targets, arn: ruleArn }) =>
    targets.flatMap(({ Arn, DeadLetterConfig }) => {
      const willing = [Arn, DeadLetterConfig?.Arn ?? ""].filter((queue) => mayDeliver(account.sqs, queue, "events.amazonaws.com", ruleArn));
      return willing.slice(0, 1);
    }),
  );
}

function isLetThrough(pattern: string, event: Readonly<Record<string, unknown>>): boolean {
  const verdict = matchesPattern(readPattern(pattern)!, event);
  if (verdict === undefined) throw new Error(`the simulated EventBridge does not model all operators of the pattern ${pattern}`);
  return verdict;
}

interface OnBus {
  readonly EventBusName?: string;
}

/** What PutRule takes. */
export interface RuleInput extends OnBus {
  readonly Name: string;
  readonly EventPattern?: string;
  readonly State?: string;
  readonly Description?: string;
  readonly Tags?: readonly { readonly Key: string; readonly Value: string }[];
}

/** Makes a rule, or replaces one of its name, whose targets and tags stay. */
export function putRule(account: Account, input: RuleInput): { readonly RuleArn: string } {
  const { Name: name, EventPattern: pattern, State: state = "ENABLED", Description: description } = input;
  checkBus(input);
  if (!/^[.\-_A-Za-z0-9]{1,64}$/.test(name)) throw invalid(`Value '${name}' at 'name' failed to satisfy constraint: [\\.\\-_A-Za-z0-9]+`);
  if (pattern === undefined) throw invalid("Parameter(s) EventPattern or ScheduleExpression must be specified.");
  if (state !== "ENABLED" && state !== "DISABLED") throw invalid(`Value '${state}' at 'state' failed to satisfy constraint.`);
  if (readPattern(pattern) === undefined) throw new ServiceError("InvalidEventPatternException", "Event pattern is not valid.");
  const rules = busRules(account);
  const current = rules.get(name);
  if (current === undefined && rules.values().length >= MAX_RULES) throw exceeded();
  const tags = current?.tags ?? Object.fromEntries((input.Tags ?? []).map(({ Key, Value }) => [Key, Value]));
  const ruleArn = arn(account, "events", `rule/${name}`);
  rules.put(name, { name, arn: ruleArn, pattern, state, description, tags, targets: current?.targets ?? [] });
  return { RuleArn: ruleArn };
}

export function describeRule(account: Account, input: OnBus & { readonly Name: string }) {
  const rule = findRule(account, input.Name, input);
  return {
    Name: rule.name,
    Arn: rule.arn,
    EventPattern: rule.pattern,
    State: rule.state,
    Description: rule.description,
    EventBusName: BUS,
  };
}

/** Adds targets; one of an id that is there is replaced. */
export function putTargets(account: Account, input: OnBus & { readonly Rule: string; readonly Targets: readonly BusTarget[] }) {
  const rule = findRule(account, input.Rule, input);
  const targets = new Map([...rule.targets, ...input.Targets].map((target) => [target.Id, target]));
  if (targets.size > MAX_TARGETS) throw exceeded();
  busRules(account).update(rule.name, { targets: [...targets.values()] });
  return { FailedEntryCount: 0, FailedEntries: [] };
}

interface Paged extends OnBus {
  readonly NextToken?: string;
  readonly Limit?: number;
}

export function listTargetsByRule(account: Account, input: Paged & { readonly Rule: string }) {
  const { targets } = findRule(account, input.Rule, input);
  const { items, next } = page(account, targets, ({ Id }) => Id, input);
  return { Targets: items, NextToken: next };
}

export function listRuleNamesByTarget(account: Account, input: Paged & { readonly TargetArn: string }) {
  checkBus(input);
  const rules = busRules(account)
    .values()
    .filter(({ targets }) => targets.some(({ Arn }) => Arn === input.TargetArn));
  const { items, next } = page(account, rules, ({ name }) => name, input);
  return { RuleNames: items.map(({ name }) => name), NextToken: next };
}

function page<T>(account: Account, records: readonly T[], keyOf: (record: T) => string, { NextToken: token, Limit: size }: Paged) {
  return tokenPage(account, records, keyOf, { token, size, maxSize: MAX_PAGE, refuse: invalid });
}

function findRule(account: Account, name: string, on: OnBus): BusRule {
  checkBus(on);
  const rule = busRules(account).get(name);
  if (rule === undefined) throw new ServiceError("ResourceNotFoundException", `Rule ${name} does not exist on EventBus ${BUS}.`);
  return rule;
}

function checkBus({ EventBusName: name = BUS }: OnBus): void {
  if (name !== BUS) throw new ServiceError("ResourceNotFoundException", `Event bus ${name} does not exist.`);
}

function invalid(message: string): ServiceError {
  return new ServiceError("ValidationException", message);
}

function exceeded(): ServiceError {
  return new ServiceError("LimitExceededException", "The requested resource exceeds the maximum number allowed.");
}
