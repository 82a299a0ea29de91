/** Whether a status says what is stored already. Pure. */
import { sortedJson } from "../elbv2/actions.ts";

/** Lists of a status are maps and sets (conditions by type, listeners by name): who wrote them first has chosen their order, and it stays. */
export const isSameStatus = (a: unknown, b: unknown): boolean => sortedJson([ordered(a)]) === sortedJson([ordered(b)]);

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered).toSorted((a, b) => (sortedJson([a]) < sortedJson([b]) ? -1 : 1));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, ordered(inner)]));
}
