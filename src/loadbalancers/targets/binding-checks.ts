/** Whether a binding can be carried out: what it says, what its group is, and who else has it. */
import { again, done, type Outcome } from "../../runtime/controller.ts";
import type { SeenBinding } from "./binding.ts";
import { type BindingContext, type BindingJob, groupCloud, stale } from "./binding-context.ts";
import { otherBindings } from "./other-bindings.ts";
import { type BindingProblem, defaultsFor, factsOf, groupProblems, sharingProblem, specProblems } from "./validate.ts";

/** How soon something is looked at again that its author, or somebody in AWS, has to put right. */
const problemMs = 60_000;

/** What is wrong as far as it is known without asking AWS. */
export function problemsOf(binding: SeenBinding, context: BindingContext): readonly BindingProblem[] {
  const { spec, metadata } = binding;
  const arn = spec.targetGroupARN;
  const shared = arn ? sharingProblem(spec, otherBindings(context.bindings, arn, metadata.uid)) : undefined;
  return [...specProblems(spec), ...(shared ? [shared] : [])];
}

/** Fields that the binding leaves to its target group are written down in it; its change wakes it again. */
export async function complete(job: BindingJob, context: BindingContext): Promise<Outcome> {
  const { binding, ask } = job;
  const { targetGroupARN: arn, targetGroupName: name = "" } = binding.spec;
  const { loadBalancers } = groupCloud(binding, context);
  const group = await (arn ? loadBalancers.targetGroupAt(arn, ask) : loadBalancers.targetGroup(name, ask));
  if (group === undefined) return refuse(job, [noSuchGroup(arn || name)], context);
  const facts = factsOf(group);
  const problems = groupProblems(binding.spec, facts);
  if (problems.length > 0) return refuse(job, problems, context);
  return (await context.report.complete(binding, defaultsFor(binding.spec, facts), ask.signal)) ? done : stale;
}

/** Before the first change: the group is what the binding takes it for. */
export async function verify({ binding, remembered, ask }: BindingJob, context: BindingContext): Promise<readonly BindingProblem[]> {
  if (remembered.verified === binding.metadata.generation) return [];
  const arn = binding.spec.targetGroupARN!;
  const group = context.newGroups.get(arn) ?? (await groupCloud(binding, context).loadBalancers.targetGroupAt(arn, ask));
  const problems = group === undefined ? [noSuchGroup(arn)] : groupProblems(binding.spec, factsOf(group));
  if (problems.length === 0) remembered.verified = binding.metadata.generation;
  return problems;
}

export const noSuchGroup = (id: string): BindingProblem => ({
  reason: "TargetGroupNotFound",
  message: `target group ${id} does not exist in this account and region`,
});

/** Says what is wrong where its author looks, and touches nothing. */
export async function refuse(
  { binding, remembered, ask }: BindingJob,
  problems: readonly BindingProblem[],
  context: BindingContext,
): Promise<Outcome> {
  const message = problems.map((problem) => problem.message).join("; ");
  const { reason } = problems[0]!;
  if (remembered.told !== message) context.report.event(binding, "Warning", "TargetGroupBindingInvalid", message);
  remembered.told = message;
  await context.report.status(binding, { conditions: { Ready: { status: "False", reason, message } } }, ask.signal);
  return again(problemMs, message);
}
