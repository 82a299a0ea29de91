/**
 * A load balancer in a form in which two can be compared, whoever asked for them: without names and marks of ownership, with
 * rules taken apart and in one order of all those that mean the same. Pure.
 */
import { sortedJson } from "../../loadbalancers/elbv2/actions.ts";
import type { ApplicationListener, ApplicationLoadBalancer, Rule, Tags, TargetGroup } from "../../loadbalancers/model.ts";
import { wantedGroups } from "../../loadbalancers/model.ts";
import type { Action, Condition, Redirect, Transform } from "../../loadbalancers/routing.ts";
import type { BindingWish } from "../../loadbalancers/targets/owned-bindings.ts";
import { type Case, casesOf, caseText, coversCase, isApart } from "./cases.ts";

export interface Compared {
  readonly model: ApplicationLoadBalancer;
  readonly bindings: readonly BindingWish[];
}

export interface CanonicalContext {
  /** Of flags: on everything, whoever asks for it. */
  readonly defaultTags: Tags;
  /** The number of a Service's port by its name. */
  portNumber(service: { readonly namespace: string; readonly name: string }, port: number | string): number | undefined;
}

export type Canonical = ReturnType<typeof canonical>;

export function canonical({ model, bindings }: Compared, context: CanonicalContext) {
  const groups = new Map(model.targetGroups.map((group) => [group.name, targetOf(group, bindings, context)]));
  const { webAcl, classicWebAcl, shield } = model.guards ?? {};
  return {
    scheme: model.internal ? "internal" : "internet-facing",
    addressType: model.addressType,
    subnets: model.subnets.map(({ subnet }) => subnet).toSorted(),
    securityGroups: groupsOf(model),
    attributes: model.attributes,
    tags: own(model.tags),
    // A new load balancer has none of these unless it is given one.
    webAcl: webAcl || undefined,
    classicWebAcl: classicWebAcl || undefined,
    shield: shield || undefined,
    capacity: model.capacity || undefined,
    keepsOtherWebAcl: model.keepsOtherWebAcl,
    customerOwnedIpv4Pool: model.customerOwnedIpv4Pool,
    ipv4IpamPool: model.ipv4IpamPool,
    listeners: Object.fromEntries(model.listeners.map((each) => [`${each.protocol}:${each.port}`, listenerOf(each, groups, context)])),
  };
}

/** Tags that say whose something is. */
const ownership = /^(elbv2\.k8s\.aws\/cluster|(ingress|gateway)\.k8s\.aws(\.alb)?\/(stack|resource))$/;

const own = (tags: Tags = {}): Tags => Object.fromEntries(Object.entries(tags).filter(([key]) => !ownership.test(key)));

function groupsOf(model: ApplicationLoadBalancer) {
  const wanted = wantedGroups(model);
  const textOf = ({ protocol, fromPort, toPort, cidr, prefixList }: Rule) => `${protocol} ${fromPort}-${toPort} ${cidr ?? prefixList}`;
  const managed = wanted.flatMap((each) => (each.kind === "managed" ? [each.group] : []));
  return {
    given: wanted.flatMap((each) => (each.kind === "given" ? [each.id] : [])),
    managed: managed.map(({ rules, tags }) => ({ rules: rules.map(textOf).toSorted(), tags: own(tags) })),
  };
}

/** A target group by what it is, and what it is filled with. */
function targetOf(group: TargetGroup, bindings: readonly BindingWish[], { portNumber }: CanonicalContext) {
  const { targetType, protocol, protocolVersion, port, addressType, controlPort, attributes, tags } = group;
  const { keepsAll: _, ...healthCheck } = group.healthCheck;
  const binding = bindings.find(({ targetGroup }) => targetGroup === group.name);
  const { serviceRef, nodeSelector, multiClusterTargetGroup, networking } = binding?.spec ?? {};
  const service = binding && serviceRef && { namespace: binding.namespace, name: serviceRef.name };
  return {
    service: service && `${service.namespace}/${service.name}:${portNumber(service, serviceRef!.port)}`,
    settings: { targetType, protocol, protocolVersion, port, addressType, controlPort, healthCheck, attributes },
    tags: own(tags),
    nodeSelector,
    multiClusterTargetGroup,
    // Saying the same twice opens no more.
    networking: [...new Set((networking?.ingress ?? []).map(sortedJson))],
  };
}

type Targets = ReadonlyMap<string, ReturnType<typeof targetOf>>;

function listenerOf(listener: ApplicationListener, targets: Targets, { defaultTags }: CanonicalContext) {
  const { certificates, sslPolicy, mutualTls, attributes, tags, rules, defaultActions } = listener;
  const [first, ...others] = certificates;
  const all: readonly PlainRule[] = [...rules, { conditions: [], actions: defaultActions, transforms: [], tags: defaultTags }];
  const ordered = inOneOrder(reachable(all.flatMap((rule) => singles(rule, targets))));
  return {
    certificates: { first, others: others.toSorted() },
    sslPolicy,
    mutualTls: mutualTls ?? { mode: "off" },
    attributes,
    tags: own(tags),
    rules: Object.fromEntries(ordered.map(({ when, then }) => [caseText(when), then])),
    order: ordered.map(({ when }) => caseText(when)).join(" > "),
  };
}

interface PlainRule {
  readonly conditions: readonly Condition[];
  readonly actions: readonly Action[];
  readonly transforms: readonly Transform[];
  readonly tags?: Tags;
}

/** A rule with one case. */
export interface SingleRule {
  readonly when: Case;
  readonly then: unknown;
}

function singles({ conditions, actions, transforms, tags = {} }: PlainRule, targets: Targets): readonly SingleRule[] {
  // Nobody sees what becomes of a request that is answered at once.
  const seen = actions.at(-1)?.kind === "fixed-response" ? [] : transforms;
  const then = { actions: actions.map((action) => answerOf(action, targets)), transforms: seen, tags: own(tags) };
  return casesOf(conditions).map((when) => ({ when, then }));
}

/** Without rules that never answer, because an earlier one always does. */
export function reachable<T extends { readonly when: Case }>(rules: readonly T[]): readonly T[] {
  const kept: T[] = [];
  for (const rule of rules) if (!kept.some(({ when }) => coversCase(when, rule.when))) kept.push(rule);
  return kept;
}

/**
 * The first by their text of all orders that mean the same: two rules may change places where no request is for both, or both
 * answer alike.
 */
function inOneOrder(rules: readonly SingleRule[]): readonly SingleRule[] {
  const left = rules.map((rule) => ({ ...rule, text: sortedJson(rule), answer: sortedJson(rule.then) }));
  const ordered: SingleRule[] = [];
  while (left.length > 0) {
    const free = left.filter((rule, i) =>
      left.slice(0, i).every((other) => other.answer === rule.answer || isApart(other.when, rule.when)),
    );
    const next = free.reduce((a, b) => (b.text < a.text ? b : a));
    ordered.push(next);
    left.splice(left.indexOf(next), 1);
  }
  return ordered;
}

const placeholders: Readonly<Record<string, string>> = {
  host: "#{host}",
  path: "/#{path}",
  port: "#{port}",
  protocol: "#{protocol}",
  query: "#{query}",
};

/** What a redirect changes: parts that stay as the client asked for them are left out. */
export function changesOf({ kind: _, status, ...parts }: Redirect): Omit<Redirect, "kind" | "status"> {
  return Object.fromEntries(Object.entries(parts).filter(([part, value]) => value !== undefined && value !== placeholders[part]));
}

function answerOf(action: Action, targets: Targets): unknown {
  switch (action.kind) {
    case "forward": {
      const { to, stickiness } = action;
      const isAlone = to.length === 1 && to[0]?.weight !== 0;
      return {
        kind: "forward",
        to: to.map(({ group, arn, weight = 1 }) => ({ to: group === undefined ? arn : targets.get(group), weight: isAlone ? 1 : weight })),
        // AWS's own default.
        sticksFor: stickiness?.enabled ? (stickiness.seconds ?? 3600) : undefined,
      };
    }
    case "redirect":
      return { kind: "redirect", status: action.status, ...changesOf(action) };
    case "fixed-response":
      return { kind: "fixed-response", status: action.status, contentType: action.contentType ?? "text/plain", body: action.body ?? "" };
    case "authenticate-oidc": {
      const { clientId: _id, clientSecret: _secret, secretChanged: _changed, ...rest } = action;
      return rest;
    }
    default:
      return action;
  }
}

/** Where two differ: `listeners/HTTPS:443/sslPolicy: "a" | "b"`. */
export function differences(a: unknown, b: unknown, path = ""): readonly string[] {
  const isOpen = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;
  if (isOpen(a) && isOpen(b)) {
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    return keys.flatMap((key) => differences(a[key], b[key], path === "" ? key : `${path}/${key}`));
  }
  const [one, other] = [a, b].map((value) => JSON.stringify(value));
  return one === other ? [] : [`${path}: ${one ?? "nothing"} | ${other ?? "nothing"}`];
}
