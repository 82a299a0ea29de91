import type { Account } from "../account.ts";

const ROLE = "AWSServiceRoleForElasticLoadBalancing";

/** The first load balancer of an account brings a role into being, and AWS asks whether the caller may do that. */
export function needsServiceRole(account: Account): readonly string[] {
  return roles(account).has(ROLE) ? [] : ["iam:CreateServiceLinkedRole"];
}

/** Notes that the role is there. */
export function createServiceRole(account: Account): void {
  if (!roles(account).has(ROLE)) roles(account).put(ROLE, { name: ROLE });
}

function roles(account: Account) {
  return account.store.table<{ readonly name: string }>("iam/service-linked-roles");
}
