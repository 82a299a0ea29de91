/** Every difference between our cloud and moto that is accepted, with its reason. */
import type { Accepted } from "./accepted.ts";
import { applicationLoadBalancerDifferences } from "./differences/application-load-balancers.ts";
import { classicDifferences } from "./differences/classic.ts";
import { eventRuleDifferences, groupDifferences, queueDifferences } from "./differences/groups.ts";
import { instanceDifferences } from "./differences/instances.ts";
import { layoutDifferences } from "./differences/layouts.ts";
import { networkDifferences } from "./differences/network.ts";
import { networkLoadBalancerDifferences } from "./differences/network-load-balancers.ts";
import { securityGroupDifferences } from "./differences/security-groups.ts";
import { volumeDifferences } from "./differences/volumes.ts";

export const differences: readonly Accepted[] = [
  ...networkDifferences,
  ...layoutDifferences,
  ...securityGroupDifferences,
  ...instanceDifferences,
  ...volumeDifferences,
  ...classicDifferences,
  ...networkLoadBalancerDifferences,
  ...applicationLoadBalancerDifferences,
  ...queueDifferences,
  ...eventRuleDifferences,
  ...groupDifferences,
];
