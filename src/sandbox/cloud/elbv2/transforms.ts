/** Transforms of rules: how a request is rewritten before it goes to a target. */
import type { RuleTransform } from "@aws-sdk/client-elastic-load-balancing-v2";
import { ServiceError } from "../errors.ts";
import { checkedRegex } from "./regex.ts";

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_RewriteConfig.html */
const MAX_LENGTH = 1024;

const CONFIGS = { "url-rewrite": "UrlRewriteConfig", "host-header-rewrite": "HostHeaderRewriteConfig" } as const;

/** The transforms of a rule: at most one of each type. */
export function checkedTransforms(given: readonly RuleTransform[]): readonly RuleTransform[] {
  for (const transform of given) {
    const config = CONFIGS[transform.Type as keyof typeof CONFIGS];
    if (config === undefined) throw invalid(`Transform type '${transform.Type}' must be one of '[${Object.keys(CONFIGS).join(", ")}]'`);
    if (given.filter(({ Type }) => Type === transform.Type).length > 1)
      throw invalid(`Only one '${transform.Type}' transform can be specified`);
    const other = Object.values(CONFIGS).find((name) => name !== config && transform[name] !== undefined);
    if (other !== undefined) throw invalid(`${other} cannot be specified for a transform of type '${transform.Type}'`);
    const rewrites = transform[config]?.Rewrites ?? [];
    if (rewrites.length !== 1) throw invalid(`Exactly one rewrite must be specified in ${config}`);
    for (const { Regex = "", Replace = "" } of rewrites) {
      checkedRegex(Regex, MAX_LENGTH);
      if (Replace.length > MAX_LENGTH) throw invalid(`The replacement must have at most ${MAX_LENGTH} characters`);
    }
  }
  return given;
}

function invalid(message: string): ServiceError {
  return new ServiceError("ValidationError", message);
}
