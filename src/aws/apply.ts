/** Carries out a plan. Stops at the first step that fails: the next look sees what exists, and the next plan is the rest. */

import type { CallOptions } from "./caller.ts";
import type { Cloud } from "./cloud.ts";
import { idsInError } from "./error-ids.ts";
import { type AwsError, isAwsError } from "./errors.ts";
import { type Batch, type Planned, resolved, type Step } from "./plan.ts";

export type Applied = {
  /** The ids of what was made, by the names the plan gives them. */
  readonly made: ReadonlyMap<string, string>;
  /** What AWS would not take of a batch; the rest of the batch, and the steps after it, were carried out. */
  readonly refused: readonly Refusal[];
} & (
  | { readonly kind: "done" }
  /** AWS is not ready for a step yet. Come back; nothing is lost. */
  | { readonly kind: "waiting"; readonly why: string }
);

/** Things of a batch that AWS refused, and why. */
export interface Refusal {
  readonly ids: readonly string[];
  readonly error: AwsError;
}

export type Caller = Pick<Cloud, "call">;

export interface ApplyOptions extends Pick<CallOptions, "cause" | "signal" | "urgency"> {
  /** Told of every step that was carried out, and what AWS answered. */
  readonly onStep?: (step: Step, output: unknown) => void;
  /** Told of the step at which AWS's refusal ends it all, before the error is thrown. */
  readonly onRefused?: (step: Step, error: AwsError) => void;
  /** The ids of what an earlier part of the same plan has made. */
  readonly made?: ReadonlyMap<string, string>;
}

/** Runs the steps in order, each with the ids of what the steps before it made. */
export async function apply(
  steps: readonly Step[],
  cloud: Caller,
  { onStep, onRefused, made, ...options }: ApplyOptions,
): Promise<Applied> {
  const ids = new Map(made);
  const refused: Refusal[] = [];
  const queue = [...steps];
  for (let step = queue.shift(); step !== undefined; step = queue.shift()) {
    const input = resolved(step.input as Planned<object>, ids);
    try {
      const output = await cloud.call(step.action, input, { ...options, target: step.what });
      const id = step.makes?.id(output);
      if (step.makes && id !== undefined) ids.set(step.makes.name, id);
      onStep?.(step, output);
    } catch (error) {
      if (!isAwsError(error)) throw error;
      if (step.waitsOn.includes(error.code)) return { kind: "waiting", made: ids, refused, why: `${step.what}: ${error.detail}` };
      if (step.needsRoom.includes(error.code) && queue.length > 0) queue.push({ ...step, needsRoom: [] });
      else if (step.batch?.refusedBy.includes(error.code)) {
        const { rest, failed } = split(step.batch, error);
        if (failed.length > 0) refused.push({ ids: failed, error });
        queue.unshift(...rest);
      } else if (!step.settledBy.includes(error.code)) {
        onRefused?.(step, error);
        throw error;
      }
    }
  }
  return { kind: "done", made: ids, refused };
}

/** A batch without those that the error names; in halves, when it names none. */
function split({ ids, only }: Batch, error: AwsError): { readonly rest: readonly Step[]; readonly failed: readonly string[] } {
  const named = idsInError(error, ids) ?? [];
  const failed = named.length === 0 && ids.length === 1 ? ids : named;
  const others = ids.filter((id) => !failed.includes(id));
  const half = failed.length > 0 ? others.length : Math.ceil(others.length / 2);
  return { failed, rest: [others.slice(0, half), others.slice(half)].filter((some) => some.length > 0).map(only) };
}
