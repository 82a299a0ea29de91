import { matches } from "../wildcard.ts";

/** One statement of the account's policy. Patterns take `*` and `?`; without `principals` it holds for everybody. */
export interface Statement {
  readonly effect: "allow" | "deny";
  readonly actions: readonly string[];
  /** Patterns of principal ARNs. */
  readonly principals?: readonly string[];
}

/** What the policy says of one action by one principal. */
export type Verdict = "allowed" | "implicitly denied" | "explicitly denied";

/** IAM's rule: an explicit deny wins, and what nothing allows is denied. */
export function judge(policy: readonly Statement[], principalArn: string, action: string): Verdict {
  const speaking = policy.filter(
    (statement) =>
      (statement.principals?.some((pattern) => matches(pattern, principalArn)) ?? true) &&
      // Action names are compared without regard to case, as IAM does.
      statement.actions.some((pattern) => matches(pattern.toLowerCase(), action.toLowerCase())),
  );
  if (speaking.some((statement) => statement.effect === "deny")) return "explicitly denied";
  return speaking.some((statement) => statement.effect === "allow") ? "allowed" : "implicitly denied";
}
