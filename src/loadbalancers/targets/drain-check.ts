/** Pods that end before their target has let its connections go: nobody but the clients would notice. */
import { isAwsError } from "../../aws/errors.ts";
import type { BindingContext, BindingJob } from "./binding-context.ts";
import { groupNameOf } from "./binding-plan.ts";
import type { SeenTarget } from "./group-targets.ts";

const delayAttribute = "deregistration_delay.timeout_seconds";

/**
 * Compares how long a target group drains with the time that pods have to end, once for each state of a binding, when the
 * first of them goes: until then it makes no difference, and nothing is asked of AWS. Groups of other accounts tell nobody.
 */
export async function checkDrain(job: BindingJob, leaving: readonly SeenTarget[], context: BindingContext): Promise<void> {
  const { binding, remembered, ask } = job;
  const { spec, metadata } = binding;
  if (spec.targetType !== "ip" || spec.iamRoleArnToAssume || remembered.drainChecked === metadata.generation) return;
  const graces = leaving
    .flatMap(({ id }) => context.pods.by("ip", id))
    .filter((pod) => pod.metadata.deletionTimestamp !== undefined)
    .map(({ graceSeconds }) => graceSeconds);
  if (graces.length === 0) return;
  remembered.drainChecked = metadata.generation;
  const arn = spec.targetGroupARN!;
  const attributes = await context.cloud.loadBalancers.targetGroupAttributes(arn, ask).catch((error: unknown) => {
    // What is only a piece of advice is no reason to fail.
    if (isAwsError(error)) return {};
    throw error;
  });
  const message = drainWarning(
    groupNameOf(arn),
    Number((attributes as Readonly<Record<string, string>>)[delayAttribute] ?? 0),
    Math.min(...graces),
  );
  if (message !== undefined) context.report.event(binding, "Warning", "DeregistrationDelayTooLong", message);
}

/** Undefined where connections have time to end. */
export function drainWarning(group: string, delaySeconds: number, graceSeconds: number): string | undefined {
  if (delaySeconds <= graceSeconds) return undefined;
  return (
    `target group ${group} lets connections of a deregistered target go on for ${delaySeconds} seconds (${delayAttribute}), but its pods end ` +
    `after at most ${graceSeconds} (terminationGracePeriodSeconds): connections that last longer are cut. Make the first at most the second, ` +
    "and let containers wait that long before they stop"
  );
}
