/** Conditions and transforms of rules: as AWS takes them, and whether what AWS tells of is the same. Pure. */
import type { RuleCondition, RuleTransform } from "@aws-sdk/client-elastic-load-balancing-v2";
import { sortedJson } from "../elbv2/actions.ts";
import type { Condition, Match, Transform } from "../routing.ts";

export function sentConditions(conditions: readonly Condition[]): RuleCondition[] {
  return conditions.map(sentCondition);
}

function sentCondition(condition: Condition): RuleCondition {
  const { field: Field } = condition;
  switch (condition.field) {
    case "host-header":
      return { Field, HostHeaderConfig: matching(condition) };
    case "path-pattern":
      return { Field, PathPatternConfig: matching(condition) };
    case "http-header":
      return { Field, HttpHeaderConfig: { HttpHeaderName: condition.header, ...matching(condition) } };
    case "http-request-method":
      return { Field, HttpRequestMethodConfig: { Values: [...condition.values] } };
    case "source-ip":
      return { Field, SourceIpConfig: { Values: [...condition.values] } };
    case "query-string":
      return { Field, QueryStringConfig: { Values: condition.values.map(({ key, value }) => ({ Key: key, Value: value })) } };
  }
}

const matching = ({ match, values }: { readonly match: Match; readonly values: readonly string[] }) =>
  match === "regex" ? { RegexValues: [...values] } : { Values: [...values] };

export function sentTransforms(transforms: readonly Transform[]): RuleTransform[] {
  return transforms.map(({ kind, rewrites }) => {
    const config = { Rewrites: rewrites.map(({ regex, replace }) => ({ Regex: regex, Replace: replace })) };
    return kind === "url-rewrite" ? { Type: kind, UrlRewriteConfig: config } : { Type: kind, HostHeaderRewriteConfig: config };
  });
}

/** The order of conditions means nothing; AWS repeats the values of some beside their configuration. */
export function sameConditions(wanted: readonly Condition[], seen: readonly RuleCondition[]): boolean {
  return canonicalConditions(sentConditions(wanted)) === canonicalConditions(seen);
}

export function sameTransforms(wanted: readonly Transform[], seen: readonly RuleTransform[]): boolean {
  return inOrder(sentTransforms(wanted).map(sortedJson)) === inOrder(seen.map(sortedJson));
}

const canonicalConditions = (conditions: readonly RuleCondition[]) =>
  inOrder(conditions.map(({ Values, RegexValues, ...rest }) => sortedJson(rest)));

const inOrder = (texts: readonly string[]) => texts.toSorted().join("\n");

/** `host shop.example.com, path /api or /api/*` */
export function conditionsText(conditions: readonly Condition[]): string {
  return conditions.map(conditionText).join(", ");
}

const titles = {
  "host-header": "host",
  "path-pattern": "path",
  "http-header": "header",
  "http-request-method": "method",
  "source-ip": "source",
  "query-string": "query",
} as const;

function conditionText(condition: Condition): string {
  const values =
    condition.field === "query-string"
      ? condition.values.map(({ key, value }) => (key === undefined ? value : `${key}=${value}`))
      : condition.values;
  const name = condition.field === "http-header" ? `header ${condition.header}` : titles[condition.field];
  return `${name} ${values.join(" or ")}`;
}
