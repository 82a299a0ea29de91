/** Which web access control list guards which load balancer. */
import type { Account } from "../account.ts";
import { ServiceError } from "../errors.ts";
import type { Table } from "../store.ts";

/** A list that guards something: its ARN in the new service, its id in the old one. */
export interface Association {
  readonly resourceArn: string;
  readonly acl: string;
}

/** By the ARN of what is guarded; an application load balancer has at most one list of each service. */
export function associationsOf(account: Account, service: "wafv2" | "waf-regional"): Table<Association> {
  return account.store.table(`${service}/associations`);
}

/** Forgets what guarded a load balancer that is gone. */
export function forgetAssociations(account: Account, resourceArn: string): void {
  for (const service of ["wafv2", "waf-regional"] as const) {
    const table = associationsOf(account, service);
    if (table.has(resourceArn)) table.delete(resourceArn);
  }
}

/** What can be guarded here: an application load balancer that exists. */
export function checkedResource(account: Account, resourceArn: string | undefined): string {
  if (!/^arn:[a-z-]+:elasticloadbalancing:[a-z0-9-]+:\d{12}:loadbalancer\/app\/.+$/.test(resourceArn ?? "")) {
    throw new ServiceError(
      "WAFInvalidParameterException",
      `Error reason: The ARN isn't valid. A valid ARN begins with arn: and includes other information separated by colons or slashes., field: RESOURCE_ARN, parameter: ${resourceArn}`,
    );
  }
  if (!account.store.table("elbv2/load-balancers").has(resourceArn!)) {
    throw new ServiceError("WAFNonexistentItemException", "AWS WAF couldn’t perform the operation because your resource doesn’t exist.");
  }
  return resourceArn!;
}

/** Whoever associates a list must be allowed to set it on the load balancer. */
export const needsSetWebAcl = (): readonly string[] => ["elasticloadbalancing:SetWebAcl"];
