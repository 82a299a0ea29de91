/** How a rule rewrites a request on its way to a target: https://docs.aws.amazon.com/elasticloadbalancing/latest/application/rule-transforms.html */
import type { RewriteConfig, RuleTransform } from "@aws-sdk/client-elastic-load-balancing-v2";
import { type Request, urlOf, withUrl } from "./request.ts";

/** The request as the target gets it; undefined when a rewrite makes nonsense of it, which is answered with 500. */
export function transformed(request: Request, transforms: readonly RuleTransform[]): Request | undefined {
  let result = request;
  for (const { UrlRewriteConfig: url, HostHeaderRewriteConfig: host } of transforms) {
    for (const rewrite of url?.Rewrites ?? []) result = withUrl(result, rewritten(urlOf(result), rewrite));
    for (const rewrite of host?.Rewrites ?? []) {
      const name = rewritten(result.headers.host?.[0] ?? "", rewrite);
      result = { ...result, headers: { ...result.headers, host: [name] } };
    }
  }
  const sound = result.path.startsWith("/") && /^[^\s/]+$/.test(result.headers.host?.[0] ?? "-");
  return sound ? result : undefined;
}

/** What does not match stays as it is. `$1` stands for the first group of the expression, and other signs for themselves. */
function rewritten(text: string, { Regex = "", Replace = "" }: RewriteConfig): string {
  return text.replace(new RegExp(Regex), Replace.replace(/\$(?!\d)/g, "$$$$"));
}
