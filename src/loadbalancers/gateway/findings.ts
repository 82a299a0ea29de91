/** What is found out while a Gateway's model is put together, beside the model. */
import type { Condition } from "../routing.ts";
import type { RouteFailure } from "./attachment.ts";
import type { RouteView } from "./view.ts";

/** What is wrong with a rule of a route. */
export interface RuleFailure extends RouteFailure {
  readonly ruleIndex: number;
}

export type FailureBook = ReadonlyMap<RouteView, readonly RuleFailure[]>;

/** A rule of AWS, and the rule of a route that asks for it. */
export interface AskedRule {
  readonly port: number;
  /** By its key. */
  readonly route: string;
  readonly ruleIndex: number;
  readonly conditions: readonly Condition[];
  /** What the rule of the route asks for now, as text, where that cannot be had and this stays in its place. */
  readonly heldFor?: string;
}

/** What AWS said of this very wish, if it has refused it. */
export type RefusalOf = (key: string, wish: string) => string | undefined;

export class Findings {
  /** What is wrong with routes and their rules. */
  readonly failures = new Map<RouteView, RuleFailure[]>();
  /** Said, and lived with. */
  readonly warnings = new Set<string>();
  /** Ports that are not what they are asked to be, and why. */
  readonly portFaults = new Map<number, string>();
  /** ARNs of target groups behind what stays as it is. */
  readonly keptGroups = new Set<string>();
  /** What AWS may refuse, by who asks for it: the text is the same for the same wish. */
  readonly asked = new Map<string, string>();
  /** Those of which it has refused what they still ask for. */
  readonly refused = new Set<string>();
  readonly rules: AskedRule[] = [];
  readonly #refusal: RefusalOf;

  constructor(refusal: RefusalOf = () => undefined) {
    this.#refusal = refusal;
  }

  warn(message: string): void {
    this.warnings.add(message);
  }

  fail(route: RouteView, ruleIndex: number, { reason, message }: RouteFailure): void {
    const known = this.failures.get(route) ?? [];
    const isKnown = known.some((each) => each.ruleIndex === ruleIndex && each.reason === reason && each.message === message);
    if (!isKnown) this.failures.set(route, [...known, { ruleIndex, reason, message }]);
  }

  /** Of one that stands it is no fault that somebody could not be asked. */
  failPort(port: number, { message, isUnknown }: { readonly message: string; readonly isUnknown: boolean }, stands: boolean): void {
    if (!isUnknown || !stands) this.portFaults.set(port, message);
    this.warn(`port ${port} ${stands ? "stays as it is" : "is not served"}: ${message}`);
  }

  /** Notes what is asked for, and returns what AWS said when it was asked for the same before. */
  ask(key: string, wish: unknown): string | undefined {
    const text = JSON.stringify(wish);
    this.asked.set(key, text);
    const message = this.#refusal(key, text);
    if (message !== undefined) this.refused.add(key);
    return message;
  }
}
