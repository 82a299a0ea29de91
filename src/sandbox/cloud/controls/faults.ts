/** Faults by rule: which calls go wrong, how often, and in which way. */
import type { Random } from "../../../runtime/world.ts";
import { matches } from "../wildcard.ts";

/** What happens to a call. */
export type Effect =
  /** Answers with this error instead of doing what was asked. */
  | { readonly kind: "fail"; readonly code: string; readonly message?: string; readonly status?: number }
  /** Answers with the service's own throttling error. */
  | { readonly kind: "throttle" }
  /** Takes this much longer. */
  | { readonly kind: "delay"; readonly ms: number }
  /** Resets the connection before anything is done. */
  | { readonly kind: "cut" }
  /** Does what was asked, then resets the connection: the caller cannot know. */
  | { readonly kind: "lose-answer" }
  /** Does what was asked, then answers with this error all the same. */
  | { readonly kind: "fail-afterwards"; readonly code: string; readonly message?: string; readonly status?: number }
  /** Reads see the account as it was this long ago. */
  | { readonly kind: "stale"; readonly ageMs: number };

/** Which calls are struck, how often, and by what. */
export interface FaultRule {
  /** `service:Action`, with wildcards. */
  readonly action: string;
  readonly effect: Effect;
  /** Chance that a matching call is hit; 1 when absent. */
  readonly probability?: number;
  /** Leaves the first so many matching calls alone. */
  readonly skip?: number;
  /** A script: strikes exactly these matching calls, counted from 1. */
  readonly calls?: readonly number[];
  /** Strikes at most so many times; without limit when absent. */
  readonly times?: number;
  /** Only calls whose parameters, as JSON, contain this text. */
  readonly containing?: string;
}

interface Active {
  readonly id: string;
  readonly rule: FaultRule;
  seen: number;
  struck: number;
}

/** The rules in force. */
export class Faults {
  readonly #random: Random;
  readonly #rules: Active[] = [];
  readonly #rememberFor: (ageMs: number) => void;
  #made = 0;

  /** `rememberFor` is told how far back a rule may look, before the first call it strikes. */
  constructor(random: Random, rememberFor: (ageMs: number) => void) {
    this.#random = random;
    this.#rememberFor = rememberFor;
  }

  /** Puts a rule in force and returns the id to withdraw it by. */
  add(rule: FaultRule): string {
    const id = `fault-${++this.#made}`;
    if (rule.effect.kind === "stale") this.#rememberFor(rule.effect.ageMs);
    this.#rules.push({ id, rule, seen: 0, struck: 0 });
    return id;
  }

  /** Withdraws one rule, or all. */
  remove(id?: string): void {
    for (let index = this.#rules.length - 1; index >= 0; index--) {
      if (id === undefined || this.#rules[index]!.id === id) this.#rules.splice(index, 1);
    }
  }

  list(): readonly { readonly id: string; readonly rule: FaultRule; readonly struck: number }[] {
    return this.#rules.map(({ id, rule, struck }) => ({ id, rule, struck }));
  }

  /** What happens to this call: the effects of all rules that strike it, in the order the rules were made. */
  strike(action: string, input: unknown): readonly Effect[] {
    const effects: Effect[] = [];
    for (const active of this.#rules) {
      if (this.#strikes(active, action, input)) {
        active.struck++;
        effects.push(active.rule.effect);
      }
    }
    return effects;
  }

  #strikes(active: Active, action: string, input: unknown): boolean {
    const { rule } = active;
    if (!matches(rule.action, action)) return false;
    if (rule.containing !== undefined && !JSON.stringify(input).includes(rule.containing)) return false;
    active.seen++;
    if (rule.calls !== undefined && !rule.calls.includes(active.seen)) return false;
    if (active.seen <= (rule.skip ?? 0) || active.struck >= (rule.times ?? Number.POSITIVE_INFINITY)) return false;
    return rule.probability === undefined || this.#random.number() < rule.probability;
  }
}
