/** What the two ways of an adoption have in common. */
import { apply } from "../aws/apply.ts";
import type { Effect, Step } from "../aws/plan.ts";
import type { Live } from "./live.ts";

/** A step of an adoption: a call to AWS, or a change of a Service. */
export interface AdoptionStep {
  readonly what: string;
  readonly why: string;
  readonly effect: Effect;
  carryOut(): Promise<void>;
}

export interface AdoptionPlan {
  readonly title: string;
  /** Nothing is done while there are any. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  /** In the order they are carried out. */
  readonly steps: readonly AdoptionStep[];
  /** What the load balancer controller would do after them. */
  readonly later: readonly Step[];
  /** What is left for others, or to be waited for. */
  readonly next: string;
}

/** A call to AWS. One that AWS is not ready for has to be repeated with all that comes after it. */
export function awsStep(step: Step, { cloud, ask }: Pick<Live, "cloud" | "ask">): AdoptionStep {
  return {
    what: step.what,
    why: step.why,
    effect: step.effect,
    async carryOut() {
      const applied = await apply([step], cloud, ask);
      if (applied.kind === "waiting") throw new Error(`${applied.why}; run the command again`);
    },
  };
}
