/** The rules of all routes on one port of an application load balancer, in the order in which they hold. Pure. */
import type { Action, FixedResponse, ListenerRule } from "../routing.ts";
import type { AttachedRoute, RouteFailure } from "./attachment.ts";
import type { ListenerRuleView } from "./config.ts";
import type { Draft } from "./draft.ts";
import { attempt, RouteFault } from "./fault.ts";
import { type Filtered, filtered, hasRedirect } from "./filters.ts";
import type { Groups, Share } from "./groups.ts";
import { conditionsOf } from "./matches.ts";
import { parts } from "./names.ts";
import type { Port } from "./ports.ts";
import { compareRules, type Placed } from "./precedence.ts";
import { fixedResponse, preRouting, redirectQuery, ruleSettings, sourceIps, stickiness } from "./rule-actions.ts";
import { tagsOf } from "./tags.ts";
import { keyOf, type RouteMatch, type RouteRule, type RouteView, routeKeyOf } from "./view.ts";

/** What is wrong with a rule of a route. */
export interface RuleFailure extends RouteFailure {
  readonly ruleIndex: number;
}

export type FailureBook = Map<RouteView, RuleFailure[]>;

export function note(book: FailureBook, route: RouteView, ruleIndex: number, { reason, message }: RouteFailure): void {
  const known = book.get(route) ?? [];
  const isKnown = known.some((each) => each.ruleIndex === ruleIndex && each.reason === reason && each.message === message);
  if (!isKnown) book.set(route, [...known, { ruleIndex, reason, message }]);
}

interface Entry extends Placed {
  readonly attached: AttachedRoute;
  readonly route: RouteView;
  readonly rule: RouteRule;
}

export function rulesOf(draft: Draft, port: Port, groups: Groups, failures: FailureBook): readonly ListenerRule[] {
  const builder = new RuleBuilder(draft, port, groups, failures);
  const drafts = port.routes
    .flatMap(entriesOf)
    .toSorted(compareRules)
    .flatMap((entry) => builder.rule(entry) ?? []);
  return drafts.map((rule, i): ListenerRule => {
    const { tags: user = {}, ...rest } = rule;
    const part = parts.rule(port.port, i + 1);
    const untagged = !draft.settings.gates.listenerRulesTagging;
    return { ...rest, priority: i + 1, part, untagged, tags: tagsOf(user, draft, part) };
  });
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
}

class RuleBuilder {
  readonly #draft: Draft;
  readonly #port: Port;
  readonly #groups: Groups;
  readonly #failures: FailureBook;
  readonly #answers = new Map<RouteRule, RuleAnswer>();

  constructor(draft: Draft, port: Port, groups: Groups, failures: FailureBook) {
    this.#draft = draft;
    this.#port = port;
    this.#groups = groups;
    this.#failures = failures;
  }

  /** Undefined where it cannot be said what it is for. */
  rule(entry: Entry): Omit<ListenerRule, "priority"> | undefined {
    const { route, rule, ruleIndex, hostname, match, matchIndex } = entry;
    const fail = (fault: RouteFailure) => note(this.#failures, route, ruleIndex, fault);
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
    return {
      conditions: conditions.value,
      actions: [...answer.front, last],
      transforms: last.kind === "fixed-response" ? [] : asked.transforms,
      by: routeKeyOf(route),
      ...(settings?.tags && { tags: settings.tags }),
      why: `${route.kind} ${keyOf(route)} routes ${hostname}${matchText(match)} here`,
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
    const shares = attempt(() => this.#groups.sharesOf(route, rule, this.#port, fail));
    for (const each of [read, shares]) if ("fault" in each) fail(each.fault);
    const isUnusable = "fault" in read || "fault" in shares;
    return {
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
