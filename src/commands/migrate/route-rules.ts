/** The rules of a listener as rules of HTTPRoutes: whose they are, for which host, in the order in which they hold. Pure. */
import type { ListenerRuleSettings, RuleAction } from "../../loadbalancers/gateway/config.ts";
import { annotationPrefix, type Family } from "../../loadbalancers/ingress/annotations.ts";
import { servicePort } from "../../loadbalancers/ingress/backends.ts";
import { type MemberOptions, readFamily } from "../../loadbalancers/ingress/member.ts";
import type { ApplicationListener } from "../../loadbalancers/model.ts";
import type { Action, Condition, Transform } from "../../loadbalancers/routing.ts";
import { type Answered, type AnswerSources, answered, type BackendRef, settingsOf } from "./answers.ts";
import { reachable } from "./canonical.ts";
import { type Case, casesOf } from "./cases.ts";
import { hostnameOf, Inexpressible, matchOf } from "./matches.ts";
import { type Lose, lostAnnotation, membersOf, type TranslationInput, userTags } from "./translation.ts";

/** A rule of a route before its configuration has a name. */
export interface RouteRule {
  readonly matches: readonly ReturnType<typeof matchOf>[];
  readonly filters: Answered["filters"];
  readonly backendRefs: readonly BackendRef[];
  /** What the rule's configuration says, but for what comes before the answer. */
  readonly settings?: ListenerRuleSettings;
  readonly front: readonly RuleAction[];
  /** Names of target groups of the Ingress that it leads to. */
  readonly groups: readonly string[];
}

/** The rules of one Ingress for one host name on one listener. */
export interface HostRules {
  readonly member: MemberOptions;
  /** Empty: every name. */
  readonly hostname: string;
  readonly listener: ApplicationListener;
  readonly rules: readonly RouteRule[];
}

interface Entry {
  readonly member: MemberOptions;
  readonly conditions: readonly Condition[];
  readonly actions: readonly Action[];
  readonly transforms: readonly Transform[];
  readonly tags?: Readonly<Record<string, string>>;
}

/** Rules that never answer are left out; those that no route can say are left out, too, and told. */
export function hostRules(listener: ApplicationListener, input: TranslationInput, lose: Lose): readonly HostRules[] {
  const entries = entriesOf(listener, input);
  const answering = reachable(entries.flatMap((entry) => casesOf(entry.conditions).map((when) => ({ when, entry }))));
  const byHost = new Map<string, { readonly member: MemberOptions; readonly hostname: string; readonly rules: RouteRule[] }>();
  for (const entry of entries) {
    const cases = answering.filter((each) => each.entry === entry).map(({ when }) => when);
    for (const { hostname, rule } of rulesOf(entry, cases, listener, input, lose)) {
      const key = `${entry.member.key} ${hostname}`;
      const known = byHost.get(key) ?? { member: entry.member, hostname, rules: [] };
      known.rules.push(rule);
      byHost.set(key, known);
    }
  }
  return [...byHost.values()].map(({ rules, ...rest }) => ({ ...rest, listener, rules: lastOfAll(rules) }));
}

/** Everybody's rules, and what answers where none does: a Gateway's listener answers 404 then, and is not made without any route. */
function entriesOf({ port, rules, defaultActions }: ApplicationListener, input: TranslationInput): readonly Entry[] {
  const members = membersOf(input);
  const owned = rules.flatMap((rule): Entry[] => {
    const member = members.find(({ key }) => key === rule.by);
    const { conditions, actions, transforms } = rule;
    const tags = userTags(rule.tags, input.sources);
    return member && rule.keeps === undefined ? [{ member, conditions, actions, transforms, ...(tags && { tags }) }] : [];
  });
  const first = members.find(({ key }) => input.desire.understood.get(key)?.defaults.has(port)) ?? members[0];
  const [answer] = defaultActions;
  const isNotFound = answer?.kind === "fixed-response" && answer.status === "404" && !answer.body;
  if (first === undefined || (isNotFound && owned.length > 0)) return owned;
  return [...owned, { member: first, conditions: [], actions: defaultActions, transforms: [] }];
}

function rulesOf(
  entry: Entry,
  cases: readonly Case[],
  { protocol, port }: ApplicationListener,
  input: TranslationInput,
  lose: Lose,
): readonly { readonly hostname: string; readonly rule: RouteRule }[] {
  try {
    const hostnames = [...new Set(cases.map(hostnameOf))];
    return hostnames.map((hostname) => {
      const own = cases.filter((each) => hostnameOf(each) === hostname);
      return { hostname, rule: ruleOf(entry, own, input) };
    });
  } catch (error) {
    if (!(error instanceof Inexpressible)) throw error;
    lose(entry.member.key, lostRule(entry, error, protocol), `listeners/${protocol}:${port}`);
    return [];
  }
}

function ruleOf(entry: Entry, cases: readonly Case[], input: TranslationInput): RouteRule {
  const { member, actions, transforms, tags } = entry;
  const matches = cases.map(matchOf);
  const { front, actions: own, filters, backendRefs } = answered(actions, transforms, matches, sourcesFor(member, actions, input));
  const settings = settingsOf(own, cases[0]?.sources ?? [], tags);
  const groups = actions.flatMap((action) => (action.kind === "forward" ? action.to.flatMap(({ group }) => group ?? []) : []));
  return { matches, filters, backendRefs, ...(settings && { settings }), front, groups };
}

function sourcesFor({ member }: MemberOptions, actions: readonly Action[], { desire, sources }: TranslationInput): AnswerSources {
  const { namespace, annotations } = member.ingress;
  const serviceOf = (group: string) => {
    const binding = desire.bindings.find(({ targetGroup }) => targetGroup === group);
    const service = binding && sources.service(binding.namespace, binding.spec.serviceRef.name);
    return service && { service, port: servicePort(service, binding.spec.serviceRef.port).port };
  };
  const last = actions.at(-1);
  const [only, ...others] = last?.kind === "forward" ? last.to : [];
  const single = only?.group !== undefined && others.length === 0 ? serviceOf(only.group)?.service : undefined;
  return {
    // As the Ingress has it: of a Service that a rule forwards to alone its own log-in goes before the Ingress's.
    annotations: { ...annotations, ...single?.annotations },
    backend(group) {
      const found = serviceOf(group);
      if (found === undefined) return undefined;
      const { service, port } = found;
      return { ...(service.namespace !== namespace && { namespace: service.namespace }), name: service.name, port };
    },
  };
}

/** A rule that takes everything goes after those by regular expression, which the API puts after every prefix. */
function lastOfAll(rules: readonly RouteRule[]): readonly RouteRule[] {
  const hasRegex = rules.some(({ matches }) => matches.some(({ path }) => path?.type === "RegularExpression"));
  if (!hasRegex) return rules;
  const isEverything = (match: RouteRule["matches"][number]) =>
    match.path?.type === "PathPrefix" && match.path.value === "/" && Object.keys(match).length === 1;
  return rules.map((rule) => (rule.matches.every(isEverything) ? { ...rule, matches: [] } : rule));
}

/** Which annotation says what no route can, and what to do about it. */
function lostRule({ member, conditions, actions, transforms }: Entry, { family, message }: Inexpressible, protocol: string): string {
  const where = `the rule for ${placeOf(conditions)} on ${protocol} is left out`;
  const saying = family && annotationWith(member, family, { conditions, actions, transforms });
  return saying === undefined ? `${message} (${where})` : `${lostAnnotation(member, saying, message)} (${where})`;
}

function annotationWith(
  member: MemberOptions,
  family: Exclude<Inexpressible["family"], undefined>,
  rule: Omit<Entry, "member">,
): string | undefined {
  const names = Object.keys(member.member.ingress.annotations).flatMap((key) =>
    key.startsWith(annotationPrefix + family) ? [key.slice(annotationPrefix.length + family.length)] : [],
  );
  const textOf = (value: unknown) => JSON.stringify(value);
  const isSaid = (name: string): boolean => {
    const said: unknown = readFamily(member, family satisfies Family, name);
    if (family === "transforms.") return textOf(said) === textOf(rule.transforms);
    const last = rule.actions.at(-1);
    if (family === "actions.")
      return (said as Action | undefined)?.kind === last?.kind && (last?.kind === "forward" || textOf(said) === textOf(last));
    const held = rule.conditions.flatMap((each) => each.values.map((value) => `${each.field} ${textOf(value)}`));
    return (said as readonly Condition[]).every((each) => each.values.every((value) => held.includes(`${each.field} ${textOf(value)}`)));
  };
  const found = names.find(isSaid);
  return found === undefined ? undefined : family + found;
}

function placeOf(conditions: readonly Condition[]): string {
  const valuesOf = (field: Condition["field"]) =>
    conditions.filter((each) => each.field === field).flatMap(({ values }) => values.map(String));
  return `${valuesOf("host-header").join("|") || "every host"} ${valuesOf("path-pattern").join("|") || "/*"}`;
}
