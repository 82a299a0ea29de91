/**
 * Services that a partition has once, for all of its regions. A request to one of them goes to its home, and that is the region that a condition
 * on `aws:RequestedRegion` sees, wherever the caller is.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html#condition-keys-requestedregion
 */
import { partitionOf } from "./partitions.ts";

const firstRegions = { aws: "us-east-1", "aws-cn": "cn-north-1", "aws-us-gov": "us-gov-west-1" };

/** By the prefix of a service's actions, and by partition. */
const homes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  iam: firstRegions,
  route53: { ...firstRegions, "aws-cn": "cn-northwest-1" },
  shield: { aws: "us-east-1" },
};

/** The region that requests to a service go to when they are made in a region: that one, or the home of a service that has only one. */
export function requestedRegion(service: string, region: string): string {
  return homes[service]?.[partitionOf(region).name] ?? region;
}
