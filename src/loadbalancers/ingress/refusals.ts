/**
 * What AWS has refused of an Ingress: only AWS knows whether a certificate exists or how often health may be checked. Until the
 * Ingress asks for something else it is treated like one that cannot be understood; after a while the same is tried again.
 */
import type { AwsError } from "../../aws/errors.ts";
import { isAwsError } from "../../aws/errors.ts";
import { askerOf, type Step } from "../../aws/plan.ts";
import type { Clock } from "../../runtime/world.ts";
import type { MemberModel } from "./desire.ts";

const triedAgainMs = 10 * 60_000;

interface Refusal {
  readonly wish: string;
  readonly message: string;
  readonly until: number;
}

export class Refusals {
  readonly #clock: Clock;
  /** By `namespace/name`. */
  readonly #refused = new Map<string, Refusal>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(key: string, model: MemberModel, message: string): void {
    this.#refused.set(key, { wish: wishText(model), message, until: this.#clock.monotonic() + triedAgainMs });
  }

  /** What AWS said of this very wish. */
  of(key: string, model: MemberModel): string | undefined {
    const refusal = this.#refused.get(key);
    if (refusal === undefined) return undefined;
    if (refusal.wish === wishText(model) && this.#clock.monotonic() < refusal.until) return refusal.message;
    this.#refused.delete(key);
    return undefined;
  }

  has(key: string): boolean {
    return this.#refused.has(key);
  }

  forget(key: string): void {
    this.#refused.delete(key);
  }
}

/** Whose wish a step was that AWS refused for what it says; undefined where it is everybody's, or says nothing about the wish. */
export function refusedTo(step: Step, error: AwsError): string | undefined {
  return isAwsError(error, "invalid", "not-found", "unsupported", "limit-exceeded") ? askerOf(step, error.code) : undefined;
}

/** Whether the same was asked for. */
export const isSameWish = (a: MemberModel, b: MemberModel) => wishText(a) === wishText(b);

/** Everything that its author, or that of a Service behind it, could change. */
const wishText = ({ options, wish, backends }: MemberModel) => JSON.stringify([options.member, wish.certificates, backends]);
