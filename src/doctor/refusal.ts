/** Why AWS refused a call: nothing allows it, or something denies it. The two are mended in different places. */

/** A call that was refused. */
export interface Refusal {
  /** Whether a policy says Deny: then nothing that is added allows it. */
  readonly explicit: boolean;
  /** The kind of policy, as AWS names it: `identity-based policy`, `service control policy`, `permissions boundary`. */
  readonly by: string;
}

const identityBased = "identity-based policy";

/**
 * Reads the refusal out of AWS's message. Messages without a reason, as older services send them, are taken for the usual one.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html
 */
export function refusalIn(message: string): Refusal {
  const denied = /with an explicit deny(?: in an? ([A-Za-z-]+(?: [A-Za-z-]+)*?))?(?:[.:,]|$)/.exec(message);
  if (denied) return { explicit: true, by: denied[1] ?? "policy" };
  const lacking = /because no ([A-Za-z-]+(?: [A-Za-z-]+)*?) allows/.exec(message)?.[1];
  return { explicit: false, by: lacking ?? identityBased };
}

/** What the policy simulator tells of one action. */
export interface Evaluation {
  readonly EvalDecision?: string | undefined;
  readonly OrganizationsDecisionDetail?: { readonly AllowedByOrganizations?: boolean | undefined } | undefined;
  readonly PermissionsBoundaryDecisionDetail?: { readonly AllowedByPermissionsBoundary?: boolean | undefined } | undefined;
}

/** The refusal in an answer of the simulator. */
export function refusalOf(evaluation: Evaluation): Refusal {
  const explicit = evaluation.EvalDecision === "explicitDeny";
  if (evaluation.OrganizationsDecisionDetail?.AllowedByOrganizations === false) return { explicit, by: "service control policy" };
  if (evaluation.PermissionsBoundaryDecisionDetail?.AllowedByPermissionsBoundary === false) return { explicit, by: "permissions boundary" };
  return { explicit, by: identityBased };
}

/** Whether a further statement in a policy of the principal's own is what is missing. */
export function isMendedByPolicy({ explicit, by }: Refusal): boolean {
  return !explicit && by === identityBased;
}
