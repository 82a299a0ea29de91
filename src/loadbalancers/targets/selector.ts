/** Label selectors of objects: which Nodes are meant. */
import type { LabelSelector } from "./binding.ts";

type Labels = Readonly<Record<string, string>>;
type Operator = (labels: Labels, key: string, values: readonly string[]) => boolean;

const operators: Readonly<Record<string, Operator>> = {
  In: (labels, key, values) => labels[key] !== undefined && values.includes(labels[key]),
  NotIn: (labels, key, values) => labels[key] === undefined || !values.includes(labels[key]),
  Exists: (labels, key) => labels[key] !== undefined,
  DoesNotExist: (labels, key) => labels[key] === undefined,
};

/** What cannot be read of a selector, as its author is told it. */
export function selectorProblem(selector: LabelSelector | undefined): string | undefined {
  for (const { key, operator, values } of selector?.matchExpressions ?? []) {
    if (!Object.hasOwn(operators, operator))
      return `operator ${JSON.stringify(operator)} of ${key}: allowed are ${Object.keys(operators).join(", ")}`;
    const takes = operator === "In" || operator === "NotIn";
    if (takes !== (values ?? []).length > 0) return `operator ${operator} of ${key} ${takes ? "needs" : "takes no"} values`;
  }
  return undefined;
}

export function matchesSelector(selector: LabelSelector | undefined, labels: Labels): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values }) => operators[operator]?.(labels, key, values ?? []) ?? false)
  );
}
