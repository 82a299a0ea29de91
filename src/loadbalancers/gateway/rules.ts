/** The rules of all routes on one port of an application load balancer, in the order in which they hold. Pure. */
import { leadsTo, type SeenRule } from "../application/plan-rules.ts";
import type { Action, FixedResponse, ListenerRule } from "../routing.ts";
import type { AttachedRoute, RouteFailure } from "./attachment.ts";
import type { ListenerRuleView } from "./config.ts";
import type { Draft } from "./draft.ts";
import { attempt, HeldFault, RouteFault } from "./fault.ts";
import { type Filtered, filtered, hasRedirect } from "./filters.ts";
import type { AskedRule, Findings } from "./findings.ts";
import type { Groups, Share } from "./groups.ts";
import { conditionsOf } from "./matches.ts";
import { partOf, parts } from "./names.ts";
import type { Port } from "./ports.ts";
import { compareRules, type Placed } from "./precedence.ts";
import { ruleKey } from "./refused.ts";
import { fixedResponse, preRouting, redirectQuery, ruleSettings, sourceIps, stickiness } from "./rule-actions.ts";
import { type DraftRule, formerOf, standingFor, withKept } from "./standing.ts";
import { tagsOf } from "./tags.ts";
import { keyOf, type RouteMatch, type RouteRule, type RouteView, routeKeyOf } from "./view.ts";

interface Entry extends Placed {
  readonly attached: AttachedRoute;
  readonly route: RouteView;
  readonly rule: RouteRule;
}

export function rulesOf(draft: Draft, port: Port, groups: Groups, findings: Findings): readonly ListenerRule[] {
  const builder = new RuleBuilder(draft, port, groups, findings);
  const built = port.routes
    .flatMap(entriesOf)
    .toSorted(compareRules)
    .flatMap((entry) => builder.rule(entry) ?? []);
  const held = heldAmong(built, findings);
  const drafts = built.flatMap(({ key, rule }) => (held.has(key) ? [] : [rule]));
  const kept = [...held.values()].flatMap((each) => keptFor(each, drafts, draft, port, findings));
  for (const { key, entry, rule } of built) if (!held.has(key)) findings.rules.push(askedRule(port, entry, rule));
  return placed(draft, port.port, withKept(drafts, kept, standingRules(draft, port.port), placeIn(draft, port.port)));
}

/** All rules of a port as they stand. */
export function rulesAsTheyStand(draft: Draft, port: number): readonly ListenerRule[] {
  const standing = standingRules(draft, port);
  return placed(draft, port, withKept([], standing, standing, placeIn(draft, port)));
}

const standingRules = ({ standingListeners }: Draft, port: number): readonly SeenRule[] =>
  standingListeners.find((listener) => listener.port === port)?.rules ?? [];

/**
 * Where a rule stands among the others. An attempt that AWS has cut short may have put it last, to make room; its tags are written
 * after everything else, and still say where it was.
 */
function placeIn({ settings, flavour }: Draft, port: number): (rule: SeenRule) => number {
  if (!settings.gates.listenerRulesTagging) return ({ priority }) => priority;
  return ({ priority, tags }) => {
    const [of, place] = (partOf(tags, flavour) ?? "").split(":");
    return of === String(port) && Number(place) > 0 ? Number(place) : priority;
  };
}

function placed(draft: Draft, port: number, drafts: readonly DraftRule[]): readonly ListenerRule[] {
  return drafts.map((rule, i): ListenerRule => {
    const { tags: given = {}, ...rest } = rule;
    const part = parts.rule(port, i + 1);
    const untagged = !draft.settings.gates.listenerRulesTagging;
    const tags = rule.keeps ? { ...given, ...tagsOf({}, draft, part) } : tagsOf(given, draft, part);
    return { ...rest, priority: i + 1, part, untagged, tags };
  });
}

const askedRule = ({ port }: Port, { route, ruleIndex }: Entry, { conditions }: DraftRule): AskedRule => ({
  port,
  route: routeKeyOf(route),
  ruleIndex,
  conditions,
});

interface Built {
  /** Of the rule of a route that it belongs to. */
  readonly key: string;
  readonly entry: Entry;
  readonly rule: DraftRule;
  readonly fault?: HeldFault;
}

interface Held {
  readonly built: readonly Built[];
  readonly fault: HeldFault;
}

/** Rules of routes that cannot be brought to what they ask for, by their keys. What AWS refuses of one match it refuses of them all. */
function heldAmong(built: readonly Built[], findings: Findings): ReadonlyMap<string, Held> {
  const held = new Map<string, Held>();
  for (const [key, some] of Map.groupBy(built, (each) => each.key)) {
    const fault = some.find((each) => each.fault)?.fault ?? refusalOf(key, some, findings);
    if (fault) held.set(key, { built: some, fault });
  }
  return held;
}

function refusalOf(key: string, built: readonly Built[], findings: Findings): HeldFault | undefined {
  const message = findings.ask(key, wishOf(built));
  return message === undefined ? undefined : new HeldFault(message);
}

const wishOf = (built: readonly Built[]) =>
  built.map(({ rule: { conditions, actions, transforms, tags } }) => [conditions, actions, transforms, tags]);

/** What stays in the place of a rule that is held, with what is behind it. */
function keptFor({ built, fault }: Held, drafts: readonly DraftRule[], draft: Draft, { port }: Port, findings: Findings) {
  const { route, rule, ruleIndex } = built[0]!.entry;
  const former = draft.formerRules.filter((each) => each.port === port);
  const held = {
    route: routeKeyOf(route),
    ruleIndex,
    wish: JSON.stringify(wishOf(built)),
    partPrefix: parts.ofOwner(draft.gateway, route),
    sharedPrefixes: rule.backends.map(({ namespace, name }) =>
      parts.ofOwner(draft.gateway, { kind: "Service", namespace: namespace || route.namespace, name }),
    ),
    drafts: built.map(({ rule }) => rule),
  };
  const kept = standingFor(held, drafts, { standing: standingRules(draft, port), targetGroups: draft.targetGroups, former });
  for (const arn of kept.flatMap(leadsTo)) findings.keptGroups.add(arn);
  findings.rules.push(...formerOf(held, former).map((each) => ({ ...each, ruleIndex, heldFor: held.wish })));
  if (!fault.isUnknown || kept.length === 0) findings.fail(route, ruleIndex, fault);
  return kept;
}

/** One per host name, rule and match. */
function entriesOf(attached: AttachedRoute): readonly Entry[] {
  const { route, hostnames } = attached;
  return hostnames.flatMap((hostname) =>
    route.rules.flatMap((rule, ruleIndex) => {
      const base = { attached, route, rule, ruleIndex, hostname };
      if (rule.matches.length === 0) return [{ ...base, matchIndex: Number.POSITIVE_INFINITY }];
      return rule.matches.map((match, matchIndex) => ({ ...base, match, matchIndex }));
    }),
  );
}

const unavailable: FixedResponse = { kind: "fixed-response", status: "500", contentType: "text/plain" };

/** What a rule answers, whichever of its matches holds. */
interface RuleAnswer {
  readonly settings?: ListenerRuleView;
  readonly front: readonly Action[];
  readonly shares: readonly Share[];
  /** Nothing but an error, or a redirect, is answered. */
  readonly isUnusable: boolean;
  /** What stands in its place stays. */
  readonly held?: HeldFault;
}

class RuleBuilder {
  readonly #draft: Draft;
  readonly #port: Port;
  readonly #groups: Groups;
  readonly #findings: Findings;
  readonly #answers = new Map<RouteRule, RuleAnswer>();

  constructor(draft: Draft, port: Port, groups: Groups, findings: Findings) {
    this.#draft = draft;
    this.#port = port;
    this.#groups = groups;
    this.#findings = findings;
  }

  /** Undefined where it cannot be said what it is for. */
  rule(entry: Entry): Built | undefined {
    const { route, rule, ruleIndex, hostname, match, matchIndex } = entry;
    const fail = (fault: RouteFailure) => this.#findings.fail(route, ruleIndex, fault);
    const answer = this.#answerOf(route, rule, fail);
    const settings = answer.settings?.settings;
    const conditions = attempt(() => conditionsOf(hostname, match, sourceIps(settings, matchIndex)));
    if ("fault" in conditions) {
      fail(conditions.fault);
      return undefined;
    }
    const changes = attempt(() => filtered(route, rule, match, redirectQuery(settings)));
    const refused = fixedResponse(settings) === undefined && "fault" in changes ? changes.fault : undefined;
    if (refused) fail(refused);
    const asked = "value" in changes ? changes.value : noChange;
    const last = this.#lastAction(answer, asked, refused);
    const key = ruleKey(this.#port.port, route, ruleIndex);
    return {
      key,
      entry,
      ...(answer.held && { fault: answer.held }),
      rule: {
        conditions: conditions.value,
        actions: [...answer.front, last],
        transforms: last.kind === "fixed-response" ? [] : asked.transforms,
        by: key,
        ...(settings?.tags && { tags: settings.tags }),
        why: `${route.kind} ${keyOf(route)} routes ${hostname}${matchText(match)} here`,
      },
    };
  }

  #lastAction({ settings, shares, isUnusable }: RuleAnswer, { redirect }: Filtered, refused: RouteFault | undefined): Action {
    const fixed = fixedResponse(settings?.settings);
    if (fixed) return fixed;
    if (refused) return unavailable;
    if (redirect) return redirect;
    if (isUnusable || shares.every(({ weight }) => weight === 0)) return unavailable;
    return { kind: "forward", to: shares, ...stickiness(settings?.settings) };
  }

  #answerOf(route: RouteView, rule: RouteRule, fail: (failure: RouteFailure) => void): RuleAnswer {
    const known = this.#answers.get(rule);
    if (known) return known;
    const answer = this.#read(route, rule, fail);
    this.#answers.set(rule, answer);
    return answer;
  }

  #read(route: RouteView, rule: RouteRule, fail: (failure: RouteFailure) => void): RuleAnswer {
    const { ruleConfiguration, secret } = this.#draft;
    const isSecure = this.#port.protocol === "HTTPS";
    const read = attempt(() => {
      const settings = ruleSettings(route, rule, ruleConfiguration);
      const front = isSecure ? preRouting(settings, (name) => secret(name, settings!)) : [];
      tagsOf(settings?.settings.tags ?? {}, this.#draft, "");
      if (settings && redirectQuery(settings.settings) !== undefined && !hasRedirect(rule)) throw missingRedirect();
      return { ...(settings && { settings }), front };
    });
    const isUsed = "value" in read || read.fault instanceof HeldFault;
    const shares = attempt(() => this.#groups.sharesOf(route, rule, this.#port, fail, isUsed));
    const faults = [read, shares].flatMap((each) => ("fault" in each ? [each.fault] : []));
    const held = faults.find((fault) => fault instanceof HeldFault);
    for (const fault of faults) if (!(fault instanceof HeldFault)) fail(fault);
    const isUnusable = faults.length > 0;
    return {
      ...(held && { held }),
      ...("value" in read ? read.value : { front: [] }),
      shares: isUnusable || "fault" in shares ? [] : shares.value,
      isUnusable,
    };
  }
}

const missingRedirect = () =>
  new RouteFault(
    "IncompatibleFilters",
    "HTTPRouteFilterRequestRedirect must be provided if RedirectActionConfig in ListenerRuleConfiguration is provided",
  );

const noChange: Filtered = { transforms: [] };

function matchText(match: RouteMatch | undefined): string {
  if (match === undefined) return "/*";
  if (match.of === "grpc") return `/${match.call?.service || "*"}/${match.call?.method || "*"}`;
  return match.path?.value ?? "/*";
}
