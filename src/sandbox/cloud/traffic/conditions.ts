/** Whether a request meets the conditions of a rule: https://docs.aws.amazon.com/elasticloadbalancing/latest/application/rule-condition-types.html */
import type { RuleCondition } from "@aws-sdk/client-elastic-load-balancing-v2";
import { isIn } from "../balancing/firewall.ts";
import { matches } from "../wildcard.ts";
import { hostOf, parametersOf, type Request } from "./request.ts";

type Test = (condition: RuleCondition, request: Request) => boolean;

const TESTS: Readonly<Record<string, Test>> = {
  "host-header": ({ HostHeaderConfig: config }, request) => {
    const host = hostOf(request);
    return alike(config?.Values, host) || fits(config?.RegexValues, host, "i");
  },
  "path-pattern": ({ PathPatternConfig: config }, { path }) =>
    (config?.Values ?? []).some((pattern) => matches(pattern, path)) || fits(config?.RegexValues, path, ""),
  "http-header": ({ HttpHeaderConfig: config }, { headers }) =>
    (headers[(config?.HttpHeaderName ?? "").toLowerCase()] ?? []).some(
      (value) => alike(config?.Values, value) || fits(config?.RegexValues, value, "i"),
    ),
  "http-request-method": ({ HttpRequestMethodConfig: config }, { method }) => config?.Values?.includes(method) ?? false,
  "query-string": ({ QueryStringConfig: config }, request) =>
    parametersOf(request).some(([name, value]) =>
      // A value without a key is looked for under any.
      config?.Values?.some(({ Key, Value = "" }) => (Key === undefined || alike([Key], name)) && alike([Value], value)),
    ),
  "source-ip": ({ SourceIpConfig: config }, { sourceIp }) => config?.Values?.some((cidr) => isIn(cidr, sourceIp)) ?? false,
};

/** All of them; of the values of one condition any will do. */
export function meets(request: Request, conditions: readonly RuleCondition[]): boolean {
  return conditions.every((condition) => TESTS[condition.Field ?? ""]?.(condition, request) ?? false);
}

/** Without regard to case, as everything but paths and methods is compared. */
function alike(patterns: readonly string[] | undefined, text: string): boolean {
  return (patterns ?? []).some((pattern) => matches(pattern.toLowerCase(), text.toLowerCase()));
}

function fits(regexes: readonly string[] | undefined, text: string, flags: string): boolean {
  return (regexes ?? []).some((regex) => new RegExp(regex, flags).test(text));
}
