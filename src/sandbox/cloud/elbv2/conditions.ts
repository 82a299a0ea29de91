/** Conditions of rules: checked against AWS's limits, and kept in the form in which AWS tells them. */
import type { RuleCondition } from "@aws-sdk/client-elastic-load-balancing-v2";
import { parseBlock } from "../ec2/cidr.ts";
import { ServiceError } from "../errors.ts";
import { checkedRegex } from "./regex.ts";

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-limits.html */
const MAX_VALUES = 5;
const MAX_WILDCARDS = 5;
const MAX_LENGTH = 128;
const MAX_NAME = 40;

/** Up to one of each of these; conditions on headers and on the query may come several times. */
const ONCE = ["host-header", "path-pattern", "http-request-method", "source-ip"];

type Config = keyof Omit<RuleCondition, "Field" | "Values" | "RegexValues">;

/** What sets one kind of condition apart. */
interface Kind {
  readonly config: Config;
  /** Whether values may stand beside the configuration, as they did before it existed. */
  readonly legacyValues: boolean;
  readonly regex: boolean;
  readonly wildcards: boolean;
  readonly check: (condition: RuleCondition) => void;
}

const KINDS: Readonly<Record<string, Kind>> = {
  "host-header": {
    config: "HostHeaderConfig",
    legacyValues: true,
    regex: true,
    wildcards: true,
    check: ({ HostHeaderConfig }) => each("host header", HostHeaderConfig?.Values, isHost),
  },
  "path-pattern": {
    config: "PathPatternConfig",
    legacyValues: true,
    regex: true,
    wildcards: true,
    check: ({ PathPatternConfig }) => each("path pattern", PathPatternConfig?.Values, (value) => /^[\w\-.$/~"'@:+&*?]+$/.test(value)),
  },
  "http-header": {
    config: "HttpHeaderConfig",
    legacyValues: false,
    regex: true,
    wildcards: true,
    check: ({ HttpHeaderConfig }) => {
      const name = HttpHeaderConfig?.HttpHeaderName ?? "";
      if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) || name.length > MAX_NAME)
        throw invalid(`The HTTP header name '${name}' is not valid`);
      if (name.toLowerCase() === "host") throw invalid("The host header must be matched with a 'host-header' condition");
      each("HTTP header", HttpHeaderConfig?.Values, (value) => /^[\x20-\x7e]+$/.test(value));
    },
  },
  "http-request-method": {
    config: "HttpRequestMethodConfig",
    legacyValues: false,
    regex: false,
    wildcards: false,
    check: ({ HttpRequestMethodConfig }) =>
      each("HTTP request method", HttpRequestMethodConfig?.Values, (value) => /^[A-Z_-]+$/.test(value) && value.length <= MAX_NAME),
  },
  "query-string": {
    config: "QueryStringConfig",
    legacyValues: false,
    regex: false,
    wildcards: true,
    check: ({ QueryStringConfig }) =>
      each(
        "query string",
        QueryStringConfig?.Values?.flatMap(({ Key, Value }) => [...(Key === undefined ? [] : [Key]), Value ?? ""]),
        () => true,
      ),
  },
  "source-ip": {
    config: "SourceIpConfig",
    legacyValues: false,
    regex: false,
    wildcards: false,
    check: ({ SourceIpConfig }) => each("source IP", SourceIpConfig?.Values, (value) => parseBlock(value) !== undefined),
  },
};

/** The conditions of a rule as AWS keeps them. */
export function checkedConditions(given: readonly RuleCondition[]): readonly RuleCondition[] {
  if (given.length === 0) throw invalid("A condition must be specified");
  const conditions = given.map(checkedCondition);
  const twice = ONCE.find((field) => conditions.filter((condition) => condition.Field === field).length > 1);
  if (twice !== undefined) throw invalid(`A rule can only have one '${twice}' condition`);
  const values = conditions.flatMap((condition) => patternsOf(condition));
  const count = conditions.reduce((sum, condition) => sum + evaluations(condition), 0);
  if (count > MAX_VALUES) throw invalid(`A rule can only have '${MAX_VALUES}' condition values`);
  const wildcards = values.reduce((sum, value) => sum + (value.replaceAll(/\\./g, "").match(/[*?]/g)?.length ?? 0), 0);
  if (wildcards > MAX_WILDCARDS) throw invalid(`A rule can only have '${MAX_WILDCARDS}' condition wildcards`);
  return conditions;
}

function checkedCondition(given: RuleCondition): RuleCondition {
  const kind = KINDS[given.Field ?? ""];
  if (kind === undefined) {
    throw invalid(`Condition field '${given.Field}' must be one of '[${Object.keys(KINDS).join(", ")}]'`);
  }
  const foreign = Object.values(KINDS).find(({ config }) => config !== kind.config && given[config] !== undefined);
  if (foreign !== undefined) throw invalid(`${foreign.config} cannot be specified for a condition on '${given.Field}'`);
  const condition = withConfig(given, kind);
  const { Values: values = [], RegexValues: regexes = [] } = listsOf(condition[kind.config]);
  if (values.length > 0 && regexes.length > 0) throw invalid(`Only one of values and regex values can be specified for '${given.Field}'`);
  if (values.length === 0 && regexes.length === 0) throw invalid(`A '${given.Field}' condition must have at least one value`);
  if (regexes.length > 0 && !kind.regex) throw invalid(`Regex values are not supported for '${given.Field}'`);
  for (const regex of regexes) checkedRegex(regex, MAX_LENGTH);
  kind.check(condition);
  return condition;
}

/** Values given beside the configuration move into it; of hosts and paths both forms are told. */
function withConfig(given: RuleCondition, kind: Kind): RuleCondition {
  const config = given[kind.config];
  if ((given.Values !== undefined || given.RegexValues !== undefined) && config !== undefined) {
    throw invalid(`You cannot specify both values and ${kind.config} for '${given.Field}'`);
  }
  if (given.Values !== undefined && !kind.legacyValues) throw invalid(`Values for '${given.Field}' must be specified in ${kind.config}`);
  const { Values: values = given.Values, RegexValues: regexes = given.RegexValues } = listsOf(config);
  const lists = { ...(values?.length && { Values: values }), ...(regexes?.length && { RegexValues: regexes }) };
  return {
    Field: given.Field,
    ...(kind.legacyValues && lists),
    [kind.config]: { ...config, ...lists },
  } as RuleCondition;
}

interface Lists {
  readonly Values?: string[] | undefined;
  readonly RegexValues?: string[] | undefined;
}

function listsOf(config: object | undefined): Lists {
  return (config ?? {}) as Lists;
}

/** How many comparisons a condition asks for. */
function evaluations(condition: RuleCondition): number {
  const { Values: values = [], RegexValues: regexes = [] } = listsOf(condition[KINDS[condition.Field!]!.config]);
  return values.length + regexes.length;
}

/** The texts of a condition in which `*` and `?` are wildcards. */
function patternsOf(condition: RuleCondition): readonly string[] {
  const kind = KINDS[condition.Field!]!;
  if (!kind.wildcards) return [];
  if (condition.QueryStringConfig !== undefined) {
    return (condition.QueryStringConfig.Values ?? []).flatMap(({ Key = "", Value = "" }) => [Key, Value]);
  }
  return listsOf(condition[kind.config]).Values ?? [];
}

/** Letters only after the last dot, as documented; a wildcard may stand there too. */
function isHost(value: string): boolean {
  return /^[a-zA-Z0-9\-.*?]+$/.test(value) && /\.[a-zA-Z*?-]+$/.test(value);
}

function each(what: string, values: readonly string[] | undefined, isValid: (value: string) => boolean): void {
  for (const value of values ?? []) {
    if (value === "" || value.length > MAX_LENGTH)
      throw invalid(`The ${what} value '${value}' must have between 1 and ${MAX_LENGTH} characters`);
    if (!isValid(value)) throw invalid(`The ${what} value '${value}' is not valid`);
  }
}

function invalid(message: string): ServiceError {
  return new ServiceError("ValidationError", message);
}
