import type { Account } from "../account.ts";

const ROLE = "AWSServiceRoleForElasticLoadBalancing";

/**
 * The first load balancer of an account brings a role into being, and AWS asks whether the caller may do that, and before
 * it whether the caller may see what the role is made from (kubernetes/cloud-provider-aws#59, aws-load-balancer-controller#748).
 */
const ASKED_FOR_ROLE = ["ec2:DescribeAccountAttributes", "ec2:DescribeInternetGateways", "iam:CreateServiceLinkedRole"];

/** The permissions that are asked for with a creation while the role does not exist. */
export function needsServiceRole(account: Account): readonly string[] {
  return roles(account).has(ROLE) ? [] : ASKED_FOR_ROLE;
}

/** Notes that the role is there. */
export function createServiceRole(account: Account): void {
  if (!roles(account).has(ROLE)) roles(account).put(ROLE, { name: ROLE });
}

function roles(account: Account) {
  return account.store.table<{ readonly name: string }>("iam/service-linked-roles");
}
