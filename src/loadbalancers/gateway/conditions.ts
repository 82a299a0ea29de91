/** Conditions as the API keeps them: what is said of an object, and since when. Pure. */
import type { Condition } from "./view.ts";

/** A condition before it is written. */
export type Said = Pick<Condition, "type" | "status" | "reason" | "message">;

const maxMessage = 32_700;

export function said(type: string, isTrue: boolean | undefined, reason: string, message: string): Said {
  const status = isTrue === undefined ? "Unknown" : isTrue ? "True" : "False";
  return { type, status, reason, message: message.length > maxMessage ? `${message.slice(0, maxMessage)}...` : message };
}

/** As they are to be stored: the time is that of the last change of the status. Conditions of other types are somebody else's. */
export function conditionsAt(stored: readonly Condition[], wanted: readonly Said[], generation: number, now: string): readonly Condition[] {
  const kept = stored.filter(({ type }) => !wanted.some((each) => each.type === type));
  return [...kept, ...ownConditions(stored, wanted, generation, now)];
}

/** The same where all conditions are ours. */
export function ownConditions(
  stored: readonly Condition[],
  wanted: readonly Said[],
  generation: number,
  now: string,
): readonly Condition[] {
  return wanted.map((condition) => {
    const before = stored.find(({ type }) => type === condition.type);
    const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
    return { ...condition, observedGeneration: generation, lastTransitionTime: since ?? now };
  });
}
