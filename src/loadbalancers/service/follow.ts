/** Lets the targets of what stands follow the nodes, and touches nothing else. */

import { apply, type Refusal } from "../../aws/apply.ts";
import { awsErrorIn, type ErrorClass, sameFailure } from "../../aws/errors.ts";
import { refusalIn } from "../../runtime/gate.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { claimAccess, nodeGroups } from "../groups/node-access.ts";
import type { Found, Seen } from "../kind.ts";
import { kindOf } from "../owner.ts";
import type { Survey } from "../survey.ts";
import { registrable, type Targets } from "../targets.ts";
import { type Job, logStep, type ServiceContext } from "./context.ts";
import type { Remembered } from "./memory.ts";
import { followed, type Standing } from "./state.ts";
import { eligibleTargets } from "./survey.ts";

export interface Followed {
  /** The targets it is to have now. */
  readonly targets: Targets;
  /** Those that AWS would not take. */
  readonly refused: readonly Refusal[];
}

/** Of a load balancer that is as the Service asks for. */
export async function followNodes(job: Job, remembered: Remembered, standing: Standing, context: ServiceContext): Promise<Followed> {
  const { service, owner, ask } = job;
  const { inventory, report } = context;
  const { kind, name, seen } = standing;
  const targets = await eligibleTargets(standing.options, context, ask);
  const wanted = registrable(targets, kind.registered(seen));
  const steps = kind.planTargets(name, seen, targets, owner.noun);
  if (steps.length === 0) return { targets, refused: [] };
  const refused = await context.metrics.update(async () => {
    try {
      const applying = apply(steps, inventory.cloud, { ...ask, onStep: logStep(context, job.key) });
      const applied = await applying.finally(() => kind.touchTargets(name, seen, inventory, owner.key));
      if (applied.kind === "waiting") throw new Error(applied.why);
      return applied.refused;
    } catch (error) {
      ask.signal.throwIfAborted();
      if (refusalIn(error)) throw error;
      inventory.cloud.instances.forget(wanted);
      report.tell(service, "Warning", "UpdateLoadBalancerFailed", updateFailed(wanted, error), sameFailure(error));
      throw error;
    }
  });
  // What is not as we remember it is looked at again before it is tried again.
  inventory.cloud.instances.forget(refused.flatMap((refusal) => refusal.ids));
  const { ids } = await nodeGroups(targets, inventory, ask);
  const ruleContext = { ...standing.ruleContext, nodeGroups: ids };
  remembered.state = followed(remembered.state, { ...standing, seen: kind.afterTargets(seen, targets, refused), ruleContext });
  await claimAccess({ ...owner, kind }, standing.access, ruleContext, context, { recheck: false }, ask);
  if (wanted.length > 0 && refused.length === 0) report.event(service, "UpdatedLoadBalancer");
  return { targets, refused };
}

/** Of a load balancer that is otherwise left as it is, whatever the Service asks for; what is seen of it already need not be read. */
export async function followIn(lb: Found, seen: Seen | undefined, targets: Targets, context: ServiceContext, job: Job): Promise<void> {
  const { inventory } = context;
  const { owner, key, ask } = job;
  const kind = kindOf(lb, owner);
  const present = seen ?? (await kind.observeTargets(lb, owner, inventory, ask));
  const steps = kind.planTargets(lb.name, present, targets, owner.noun);
  if (steps.length === 0) return;
  await apply(steps, inventory.cloud, { ...ask, onStep: logStep(context, key) }).finally(() => kind.touch(lb.name, inventory, key));
}

/** The same of one that a survey is about, or has seen beside it. */
export function followSurveyed(lb: Found, { kind, seen, targets }: Survey, context: ServiceContext, job: Job): Promise<void> {
  return followIn(lb, lb.kind === kind.name ? seen : undefined, targets, context, job);
}

/** Failures that pass: the next try follows the nodes too. */
const passing: readonly ErrorClass[] = ["throttled", "transient", "clock-skew", "credentials", "expired-credentials"];

/** A wish that AWS refuses, perhaps for good, changes nothing more; but what stands goes on following the nodes. */
export async function followAnyway(error: unknown, seen: Survey, context: ServiceContext, job: Job): Promise<void> {
  const aws = awsErrorIn(error);
  if (aws === undefined || passing.includes(aws.class)) return;
  try {
    for (const standing of [seen.found, seen.other]) if (standing) await followSurveyed(standing, seen, context, job);
  } catch (unfollowed) {
    job.ask.signal.throwIfAborted();
    if (refusalIn(unfollowed)) throw unfollowed;
    context.host.log.warn("the nodes were not followed", { service: job.key, error: unfollowed });
  }
}

const maxNames = 20;

function updateFailed(hosts: readonly string[], error: unknown): string {
  const names = hosts.slice(0, maxNames).join(" ");
  const more = hosts.length > maxNames ? ` <${hosts.length - maxNames} more>` : "";
  return `Error updating load balancer with new hosts [${names}${more}] [node names limited, total number of nodes: ${hosts.length}], error: ${messageOf(error)}`;
}
