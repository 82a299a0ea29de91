/** How a TargetGroupBinding goes: its targets are deregistered, its pods wait for it no longer, then its finalizer goes. */
import { apply } from "../../aws/apply.ts";
import { isAwsError, sameFailure } from "../../aws/errors.ts";
import { done, type Outcome } from "../../runtime/controller.ts";
import { refusalIn } from "../../runtime/gate.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { hasBindingFinalizer } from "./binding.ts";
import { type BindingContext, type BindingJob, groupCloud, stale } from "./binding-context.ts";
import { groupNameOf, planDeregistration } from "./binding-plan.ts";
import { bindingDeleted, type GateVerdict, gateOf, tellPod } from "./gates.ts";
import { isDraining } from "./group-targets.ts";
import { recorded } from "./multi-cluster.ts";

export async function cleanUp(job: BindingJob, context: BindingContext): Promise<Outcome> {
  const { binding, ask } = job;
  const { report, records, rules } = context;
  if (!hasBindingFinalizer(binding)) return done;
  try {
    await deregisterAll(job, context);
    await rules.forget(job.key, ask, binding.spec.networking !== undefined);
    if (binding.spec.multiClusterTargetGroup) await records.delete(binding, ask.signal);
    await openGates(job, bindingDeleted, context);
    return (await report.removeFinalizer(binding, ask.signal)) ? done : stale;
  } catch (error) {
    ask.signal.throwIfAborted();
    if (refusalIn(error)) throw error;
    const message = messageOf(error);
    report.event(binding, "Warning", "FailedCleanup", `Failed cleanup due to ${message}`, sameFailure(error));
    await report.status(binding, { conditions: { Ready: { status: "False", reason: "FailedCleanup", message } } }, ask.signal);
    throw error;
  }
}

/** Pods wait no longer for a binding that registers none of them. */
export async function openGates({ binding, ask }: BindingJob, verdict: GateVerdict, { kube, pods, report }: BindingContext): Promise<void> {
  const gate = gateOf(binding.metadata.name);
  const waiting = pods.by("gate", `${binding.metadata.namespace}/${gate}`);
  for (const pod of waiting) await tellPod(kube, gate, { pod, verdict }, report.now(), ask.signal);
}

/** By these AWS says that there is nothing left to deregister. */
const nothingLeft = ["TargetGroupNotFound", "InvalidTarget", "ValidationError"];

/** Everything that the binding has registered. Draining is not waited for. */
export async function deregisterAll({ binding, key, ask }: BindingJob, context: BindingContext): Promise<void> {
  const { groups, records, host } = context;
  const cloud = groupCloud(binding, context);
  const { targetGroupARN: arn, multiClusterTargetGroup, serviceRef } = binding.spec;
  if (!arn) return;
  try {
    groups.forget(arn);
    const seen = (await groups.list(arn, cloud.loadBalancers, ask)) ?? [];
    const present = seen.filter((target) => !isDraining(target));
    const own = multiClusterTargetGroup ? recorded(present, await records.read(binding, ask.signal)) : present;
    const group = { arn, name: groupNameOf(arn), service: `${binding.metadata.namespace}/${serviceRef.name}` };
    const onStep = ({ what, why }: { readonly what: string; readonly why: string }) => host.log.info(what, { why, binding: key });
    await apply(planDeregistration(group, own), cloud, { ...ask, onStep });
  } catch (error) {
    if (!isAwsError(error) || !nothingLeft.includes(error.code)) throw error;
  } finally {
    groups.forget(arn);
  }
}
