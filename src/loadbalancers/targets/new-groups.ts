/**
 * Target groups that this process has made a moment ago. AWS's answer to their creation says what they are, and nothing is
 * registered in them: their bindings need not ask before the first registration.
 */
import type { TargetGroup } from "@aws-sdk/client-elastic-load-balancing-v2";
import { createTargetGroup } from "../../aws/elbv2-actions.ts";
import { isStepOf, type Step } from "../../aws/plan.ts";
import type { Clock } from "../../runtime/world.ts";

/** So long nobody else is expected to have touched one. */
const ageMs = 5 * 60_000;

interface Noted {
  readonly group: TargetGroup;
  readonly at: number;
}

export class NewTargetGroups {
  readonly #clock: Clock;
  /** By ARN, oldest first. */
  readonly #noted = new Map<string, Noted>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What AWS has answered to a step. */
  note(step: Step, output: unknown): void {
    if (!isStepOf(step, createTargetGroup)) return;
    const [group] = (output as { readonly TargetGroups?: readonly TargetGroup[] }).TargetGroups ?? [];
    // Asked for one that stands already with the same settings, AWS answers with that one: it may have targets.
    if (group?.TargetGroupArn === undefined || (group.LoadBalancerArns ?? []).length > 0) return;
    const at = this.#clock.monotonic();
    for (const [arn, noted] of this.#noted) {
      if (at - noted.at < ageMs) break;
      this.#noted.delete(arn);
    }
    this.#noted.set(group.TargetGroupArn, { group, at });
  }

  get(arn: string): TargetGroup | undefined {
    const noted = this.#noted.get(arn);
    return noted !== undefined && this.#clock.monotonic() - noted.at < ageMs ? noted.group : undefined;
  }

  /** Something is about to be registered in it, or it was not as it was noted. */
  forget(arn: string): void {
    this.#noted.delete(arn);
  }
}
