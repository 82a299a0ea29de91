/** Rules of listeners: in the order of their priorities, the first whose conditions are met decides. */
import {
  CreateRule$,
  type CreateRuleInput,
  type CreateRuleOutput,
  DeleteRule$,
  type DeleteRuleInput,
  DescribeRules$,
  type DescribeRulesInput,
  type DescribeRulesOutput,
  ModifyRule$,
  type ModifyRuleInput,
  type ModifyRuleOutput,
  type Rule as RuleAnswer,
  SetRulePriorities$,
  type SetRulePrioritiesInput,
  type SetRulePrioritiesOutput,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { markerPage } from "../balancing/pages.ts";
import { needsAddTags, withTags } from "../balancing/tags.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { checkedActions, needsUserPool, shownActions } from "./actions.ts";
import { checkedConditions } from "./conditions.ts";
import {
  checkArn,
  defaultRuleArn,
  type Elbv2,
  type Listener,
  listenerAt,
  listenersOf,
  loadBalancerAt,
  type Rule,
  rulesOf,
} from "./state.ts";
import { put } from "./target-health.ts";
import { checkedTransforms } from "./transforms.ts";
import { unmodelled } from "./types.ts";

const MAX_PRIORITY = 50_000;

/** The operations on rules. */
export function ruleOperations(elbv2: Elbv2): Operations {
  return [
    write<CreateRuleInput, CreateRuleOutput>(
      CreateRule$,
      (input) => ({ Rules: [describe(createRule(elbv2, input))] }),
      (input) => [...needsAddTags(input), ...needsUserPool(input.Actions)],
    ),
    write<ModifyRuleInput, ModifyRuleOutput>(
      ModifyRule$,
      (input) => ({ Rules: [describe(modifyRule(elbv2, input))] }),
      (input) => needsUserPool(input.Actions),
    ),
    write<SetRulePrioritiesInput, SetRulePrioritiesOutput>(SetRulePriorities$, (input) => ({
      Rules: setPriorities(elbv2, input).map(describe),
    })),
    write<DeleteRuleInput, object>(DeleteRule$, (input) => {
      elbv2.rules.delete(changeable(elbv2, input.RuleArn, "deleted").arn);
      return {};
    }),
    read<DescribeRulesInput, DescribeRulesOutput>(DescribeRules$, (input) => {
      const { items, NextMarker } = markerPage(elbv2.account, asked(elbv2, input), placeOf, input);
      return { Rules: [...items], NextMarker };
    }),
  ];
}

function asked(elbv2: Elbv2, { ListenerArn: owner, RuleArns: arns = [] }: DescribeRulesInput): readonly RuleAnswer[] {
  if ((owner !== undefined) === arns.length > 0) {
    throw new ServiceError("ValidationError", "You must specify either listener rule ARNs or a listener ARN");
  }
  if (owner !== undefined) {
    const listener = listenerAt(elbv2, owner);
    return [...rulesOf(elbv2, listener.arn).map(describe), describeDefault(listener)];
  }
  return [...new Set(arns)].map((arn) => {
    const rule = elbv2.rules.get(checkArn(arn, "listener-rule"));
    if (rule !== undefined) return describe(rule);
    const listener = listenerOfDefault(elbv2, arn);
    if (listener === undefined) throw notFound(arn);
    return describeDefault(listener);
  });
}

/** Rules are told in the order in which they are evaluated, the default one last. */
function placeOf({ Priority = "", RuleArn = "" }: RuleAnswer): string {
  return Priority === "default" ? `default ${RuleArn}` : `${Priority.padStart(6, "0")} ${RuleArn}`;
}

function createRule(elbv2: Elbv2, input: CreateRuleInput): Rule {
  const listener = listenerAt(elbv2, input.ListenerArn);
  const loadBalancer = loadBalancerAt(elbv2, listener.loadBalancerArn);
  if (loadBalancer.type !== "application") throw unmodelled(elbv2.account, `rules of ${loadBalancer.type} load balancers`);
  const priority = checkedPriority(input.Priority);
  const settings = {
    conditions: checkedConditions(input.Conditions ?? []),
    actions: checkedActions({ elbv2, loadBalancer, protocol: listener.protocol, before: [] }, input.Actions ?? []),
    transforms: checkedTransforms(input.Transforms ?? []),
    tags: withTags({}, input.Tags),
  };
  if (rulesOf(elbv2, listener.arn).some((rule) => rule.priority === priority)) throw inUse(priority);
  const rules = listenersOf(elbv2, loadBalancer.arn).reduce((sum, { arn }) => sum + rulesOf(elbv2, arn).length, 0);
  if (rules >= elbv2.account.settings().quotas.rulesPerApplicationLoadBalancer) {
    throw new ServiceError("TooManyRules", "The maximum number of rules has been reached on this load balancer");
  }
  const arn = `${listener.arn.replace(":listener/", ":listener-rule/")}/${elbv2.account.ids.hex(16)}`;
  return put(elbv2, elbv2.rules, { ...settings, arn, listenerArn: listener.arn, priority });
}

function modifyRule(elbv2: Elbv2, input: ModifyRuleInput): Rule {
  const rule = changeable(elbv2, input.RuleArn, "modified");
  const listener = listenerAt(elbv2, rule.listenerArn);
  const context = {
    elbv2,
    loadBalancer: loadBalancerAt(elbv2, listener.loadBalancerArn),
    protocol: listener.protocol,
    before: rule.actions,
  };
  if (input.ResetTransforms && input.Transforms?.length) {
    throw new ServiceError("ValidationError", "You cannot specify transforms and reset them");
  }
  return put(elbv2, elbv2.rules, {
    ...rule,
    conditions: input.Conditions?.length ? checkedConditions(input.Conditions) : rule.conditions,
    actions: input.Actions?.length ? checkedActions(context, input.Actions) : rule.actions,
    transforms: input.ResetTransforms ? [] : input.Transforms?.length ? checkedTransforms(input.Transforms) : rule.transforms,
  });
}

/** All at once: rules may change places with each other. */
function setPriorities(elbv2: Elbv2, { RulePriorities: pairs = [] }: SetRulePrioritiesInput): readonly Rule[] {
  if (pairs.length === 0) throw new ServiceError("ValidationError", "At least one rule priority must be specified");
  const wanted = new Map(pairs.map(({ RuleArn, Priority }) => [changeable(elbv2, RuleArn, "moved").arn, checkedPriority(Priority)]));
  if (wanted.size < pairs.length) throw new ServiceError("ValidationError", "A rule can be specified only once");
  const moved = [...wanted].map(([arn, priority]) => elbv2.rules.update(arn, { priority }));
  for (const listenerArn of new Set(moved.map((rule) => rule.listenerArn))) {
    const priorities = rulesOf(elbv2, listenerArn).map((rule) => rule.priority);
    const twice = priorities.find((priority, index) => priorities.indexOf(priority) !== index);
    if (twice !== undefined) throw inUse(twice);
  }
  return moved;
}

function changeable(elbv2: Elbv2, arn: string | undefined, change: string): Rule {
  const rule = elbv2.rules.get(checkArn(arn, "listener-rule"));
  if (rule !== undefined) return rule;
  if (listenerOfDefault(elbv2, arn!) === undefined) throw notFound(arn!);
  throw new ServiceError("OperationNotPermitted", `Default rule '${arn}' cannot be ${change}`);
}

/** The listener whose default rule this is: the last part of the ARN is the rule's own. */
export function listenerOfDefault(elbv2: Elbv2, ruleArn: string): Listener | undefined {
  const listener = elbv2.listeners.get(ruleArn.slice(0, ruleArn.lastIndexOf("/")).replace(":listener-rule/", ":listener/"));
  return listener !== undefined && defaultRuleArn(listener) === ruleArn ? listener : undefined;
}

function checkedPriority(priority: number | undefined): number {
  if (priority === undefined || !Number.isInteger(priority) || priority < 1 || priority > MAX_PRIORITY) {
    throw new ServiceError("ValidationError", `The rule priority must be between 1 and ${MAX_PRIORITY}, not ${priority}`);
  }
  return priority;
}

function inUse(priority: number): ServiceError {
  return new ServiceError("PriorityInUse", `Priority '${priority}' is currently in use`);
}

function notFound(arn: string): ServiceError {
  return new ServiceError("RuleNotFound", `Rule '${arn}' not found`);
}

function describe(rule: Rule): RuleAnswer {
  return {
    RuleArn: rule.arn,
    Priority: String(rule.priority),
    Conditions: [...rule.conditions],
    Actions: shownActions(rule.actions),
    IsDefault: false,
    Transforms: rule.transforms.length > 0 ? [...rule.transforms] : undefined,
  };
}

function describeDefault(listener: Listener): RuleAnswer {
  return {
    RuleArn: defaultRuleArn(listener),
    Priority: "default",
    Conditions: [],
    Actions: shownActions(listener.actions),
    IsDefault: true,
  };
}
