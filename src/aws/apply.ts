/** Carries out a plan. Stops at the first step that fails: the next look sees what exists, and the next plan is the rest. */
import type { CallOptions } from "./caller.ts";
import type { Cloud } from "./cloud.ts";
import { isAwsError } from "./errors.ts";
import { type Planned, resolved, type Step } from "./plan.ts";

export type Applied = {
  /** The ids of what was made, by the names the plan gives them. */
  readonly made: ReadonlyMap<string, string>;
} & (
  | { readonly kind: "done" }
  /** AWS is not ready for a step yet. Come back; nothing is lost. */
  | { readonly kind: "waiting"; readonly why: string }
);

export type Caller = Pick<Cloud, "call">;

export interface ApplyOptions extends Pick<CallOptions, "cause" | "signal" | "urgency"> {
  /** Told of every step that was carried out, and what AWS answered. */
  readonly onStep?: (step: Step, output: unknown) => void;
}

/** Runs the steps in order, each with the ids of what the steps before it made. */
export async function apply(steps: readonly Step[], cloud: Caller, { onStep, ...options }: ApplyOptions): Promise<Applied> {
  const ids = new Map<string, string>();
  for (const step of steps) {
    const input = resolved(step.input as Planned<object>, ids);
    try {
      const output = await cloud.call(step.action, input, { ...options, target: step.what });
      const id = step.makes?.id(output);
      if (step.makes && id !== undefined) ids.set(step.makes.name, id);
      onStep?.(step, output);
    } catch (error) {
      if (!isAwsError(error)) throw error;
      if (step.waitsOn.includes(error.code)) return { kind: "waiting", made: ids, why: `${step.what}: ${error.detail}` };
      if (!step.settledBy.includes(error.code)) throw error;
    }
  }
  return { kind: "done", made: ids };
}
