/** What finding things by their tags in one call takes in AWS: only with the feature gate EnableRGTAPI. */
import { getResources } from "../aws/tagging-actions.ts";
import type { Grant } from "./permissions.ts";

export const tagGrants: readonly Grant[] = [
  {
    sid: "ReadTagIndex",
    why: "Read the tags of all load balancers, listeners, rules and target groups of the cluster, a hundred a call",
    calls: [getResources],
    resources: ["*"],
    strict: [{ condition: { StringEquals: { "aws:RequestedRegion": "REGION" } } }],
  },
];
