/** What `fairlead dashboard` reads of an account: for a person who only looks. */
import { describeAddresses, describeInstances, describeRouteTables, describeVolumes } from "../aws/ec2-actions.ts";
import * as elb from "../aws/elb-actions.ts";
import {
  describeListeners,
  describeLoadBalancers,
  describeRules,
  describeTags,
  describeTargetGroups,
  describeTargetHealth,
} from "../aws/elbv2-actions.ts";
import type { Grant } from "./permissions.ts";

export const dashboardGrants: readonly Grant[] = [
  {
    sid: "Look",
    why: "Show what stands in the account: AWS cannot limit these actions to resources",
    calls: [
      describeAddresses,
      describeInstances,
      describeRouteTables,
      describeVolumes,
      elb.describeLoadBalancers,
      elb.describeTags,
      describeListeners,
      describeLoadBalancers,
      describeRules,
      describeTags,
      describeTargetGroups,
      describeTargetHealth,
    ],
    resources: ["*"],
    strict: [{ condition: { StringEquals: { "aws:RequestedRegion": "REGION" } } }],
  },
];
