/**
 * What several Ingresses say about what they share. The first that says something decides; one that says something else is
 * told so, and keeps what it has until they agree.
 */
import { sortedJson } from "../elbv2/actions.ts";
import { MemberFault, type MemberOptions } from "./member.ts";

/** Faults of members, by their keys. */
export class MemberFaults {
  readonly #faults = new Map<string, string[]>();

  add(key: string, message: string): void {
    this.#faults.set(key, [...(this.#faults.get(key) ?? []), message]);
  }

  has(key: string): boolean {
    return this.#faults.has(key);
  }

  all(): ReadonlyMap<string, readonly string[]> {
    return this.#faults;
  }
}

export interface Said<T> {
  readonly value: T;
  readonly by: MemberOptions;
}

/** What the first member says that says anything. */
export function agreed<T>(
  members: readonly MemberOptions[],
  say: (member: MemberOptions) => T | undefined,
  faults: MemberFaults,
  conflict: (first: Said<T>, other: Said<T>) => string,
  isSame: (a: T, b: T) => boolean = (a, b) => sortedJson(a) === sortedJson(b),
): Said<T> | undefined {
  let first: Said<T> | undefined;
  for (const by of members) {
    const value = heard(by, say, faults);
    if (value === undefined) continue;
    if (first === undefined) first = { value, by };
    else if (!isSame(first.value, value)) faults.add(by.key, conflict(first, { value, by }));
  }
  return first;
}

/** What a member says; a fault of it is its own. */
function heard<T>(member: MemberOptions, say: (member: MemberOptions) => T, faults: MemberFaults): T | undefined {
  try {
    return say(member);
  } catch (error) {
    if (!(error instanceof MemberFault)) throw error;
    faults.add(member.key, error.message);
    return undefined;
  }
}

/** Key by key what the first member says; those that `settled` has need no agreement. */
export function agreedByKey(
  members: readonly MemberOptions[],
  say: (member: MemberOptions) => Readonly<Record<string, string>> | undefined,
  faults: MemberFaults,
  conflict: (key: string, first: string, other: string) => string,
  settled: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const member of members) {
    for (const [key, value] of Object.entries(heard(member, say, faults) ?? {})) {
      if (key in settled) continue;
      const first = values[key] ?? value;
      values[key] = first;
      if (first !== value) faults.add(member.key, conflict(key, first, value));
    }
  }
  return { ...values, ...settled };
}

export const sameSet = (a: readonly string[], b: readonly string[]) =>
  sortedJson([...new Set(a)].toSorted()) === sortedJson([...new Set(b)].toSorted());
