import { matches } from "../wildcard.ts";

/** One statement of the account's policy. Patterns take `*` and `?`; what is left out holds for all. */
export interface Statement {
  readonly effect: "allow" | "deny";
  readonly actions: readonly string[];
  /** Patterns of principal ARNs. */
  readonly principals?: readonly string[];
  /** Patterns of ARNs. */
  readonly resources?: readonly string[];
  /** By operator and condition key, as in IAM's documents. */
  readonly condition?: Condition;
}

export type Condition = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

/** Something that an action is checked on, and what conditions may ask about it. */
export interface CheckedResource {
  readonly arn: string;
  /** By condition key: `aws:ResourceTag/team`. */
  readonly context: Readonly<Record<string, string>>;
}

/** What the policy says of one action by one principal. */
export type Verdict = "allowed" | "implicitly denied" | "explicitly denied";

/** IAM's rule: an explicit deny wins, and what nothing allows is denied. Of several resources each must be allowed. */
export function judge(
  policy: readonly Statement[],
  principalArn: string,
  action: string,
  resources: () => readonly CheckedResource[],
): Verdict {
  const speaking = policy.filter(
    (statement) =>
      (statement.principals?.some((pattern) => matches(pattern, principalArn)) ?? true) &&
      // Action names are compared without regard to case, as IAM does.
      statement.actions.some((pattern) => matches(pattern.toLowerCase(), action.toLowerCase())),
  );
  const asksMore = speaking.some(({ resources: patterns, condition }) => patterns ?? condition);
  const verdicts = (asksMore ? resources() : [undefined]).map((resource) => {
    const holding = resource === undefined ? speaking : speaking.filter((statement) => concerns(statement, resource));
    if (holding.some(({ effect }) => effect === "deny")) return "explicitly denied";
    return holding.some(({ effect }) => effect === "allow") ? "allowed" : "implicitly denied";
  });
  return verdicts.find((verdict) => verdict === "explicitly denied") ?? verdicts.find((verdict) => verdict !== "allowed") ?? "allowed";
}

function concerns({ resources, condition = {} }: Statement, { arn, context }: CheckedResource): boolean {
  if (!(resources?.some((pattern) => matches(pattern, arn)) ?? true)) return false;
  return Object.entries(condition).every(([operator, keys]) => {
    const holds = operators[operator];
    if (holds === undefined) throw new Error(`the simulated IAM does not model the condition operator ${operator}`);
    return Object.entries(keys).every(([key, wanted]) => {
      const value = context[key];
      return value !== undefined && [wanted].flat().some((each) => holds(each, value));
    });
  });
}

const operators: Readonly<Record<string, (wanted: string, value: string) => boolean>> = {
  StringEquals: (wanted, value) => wanted === value,
  StringLike: matches,
  ArnEquals: matches,
  ArnLike: matches,
};
