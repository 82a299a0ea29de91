/** Lets the targets of what stands follow the nodes, and touches nothing else. */
import { awsErrorIn, type ErrorClass, sameFailure } from "../../aws/errors.ts";
import { refusalIn } from "../../runtime/gate.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { claimAccess, nodeGroups } from "../groups/node-access.ts";
import type { Found, Seen } from "../kind.ts";
import { kindOf } from "../owner.ts";
import type { Moment, SyncedTargets } from "../targets/target-set.ts";
import type { Targets } from "../targets.ts";
import { type Job, logStep, type ServiceContext } from "./context.ts";
import type { Remembered } from "./memory.ts";
import { followed, type Standing } from "./state.ts";
import { eligibleTargets, type ServiceSurvey } from "./survey.ts";

/**
 * Of a load balancer that is as the Service asks for. Undefined when a full look at the Service has begun meanwhile: then
 * that one says what the nodes have to let in, or that nothing is left to let in for.
 */
export async function followNodes(
  job: Job,
  remembered: Remembered,
  standing: Standing,
  context: ServiceContext,
): Promise<SyncedTargets | undefined> {
  const { looks } = remembered;
  const isCurrent = () => remembered.looks === looks && context.memory.get(job.owner.uid) === remembered;
  try {
    const synced = await syncTargets(job, remembered, standing, context);
    if (isCurrent() && remembered.unclaimed) await claimNodeGroups(synced, job, remembered, standing, isCurrent, context);
    return isCurrent() ? synced : undefined;
  } catch (error) {
    job.ask.signal.throwIfAborted();
    if (isCurrent()) throw error;
    return undefined;
  }
}

/** Targets have changed: the groups of the nodes behind them may be others. */
async function claimNodeGroups(
  { targets, wanted, refused, changed }: SyncedTargets,
  { service, owner, ask }: Job,
  remembered: Remembered,
  standing: Standing,
  isCurrent: () => boolean,
  context: ServiceContext,
): Promise<void> {
  const { inventory, report } = context;
  const { kind, access } = standing;
  // What is not as we remember it is looked at again before it is retried.
  inventory.cloud.instances.forget(refused.flatMap((refusal) => refusal.ids));
  const { ids, warnings } = await nodeGroups(targets, inventory, ask);
  const ruleContext = { ...standing.ruleContext, nodeGroups: ids };
  await claimAccess({ ...owner, kind }, access, ruleContext, context, { recheck: false, isCurrent }, ask);
  if (!isCurrent()) return;
  remembered.unclaimed = false;
  const groupWarnings = warnings.map((message) => ({ message }));
  remembered.state = followed(remembered.state, { ...standing, ruleContext, groupWarnings });
  if (changed && wanted.length > 0 && refused.length === 0) report.event(service, "UpdatedLoadBalancer");
}

/** Its targets alone. */
export async function syncTargets(job: Job, remembered: Remembered, standing: Standing, context: ServiceContext): Promise<SyncedTargets> {
  const { service, owner, key, ask } = job;
  const { inventory, report, metrics } = context;
  const { kind, name, options } = standing;
  const synced = await remembered.targetSets.of(kind, name).sync({
    owner,
    inventory,
    ask,
    wanted: () => eligibleTargets(options, context, ask),
    onStep: logStep(context, key),
    around: (wanted, change) =>
      metrics.update(async () => {
        try {
          return await change();
        } catch (error) {
          ask.signal.throwIfAborted();
          if (refusalIn(error)) throw error;
          inventory.cloud.instances.forget(wanted);
          report.tell(service, "Warning", "UpdateLoadBalancerFailed", updateFailed(wanted, error), sameFailure(error));
          throw error;
        }
      }),
  });
  remembered.unclaimed ||= synced.changed;
  return synced;
}

/** What is known of a load balancer that is otherwise left as it is, and since when. */
export interface Glimpse {
  /** Absent where its targets have to be read. */
  readonly seen?: Seen;
  readonly began: Moment;
}

/** Of a load balancer that is otherwise left as it is, whatever the Service asks for. */
export async function followIn(
  lb: Found,
  glimpse: Glimpse,
  wanted: () => Promise<Targets>,
  context: ServiceContext,
  job: Job,
): Promise<void> {
  const { inventory, memory } = context;
  const { owner, key, ask } = job;
  const kind = kindOf(lb, owner);
  const { targetSets } = memory.of(owner);
  const began = glimpse.seen ? glimpse.began : targetSets.now();
  const seen = glimpse.seen ?? (await kind.observeTargets(lb, owner, inventory, ask));
  const set = targetSets.of(kind, lb.name);
  const { changed } = await set.sync({ owner, inventory, ask, look: { seen, began }, wanted, onStep: logStep(context, key) });
  if (changed) kind.touch(lb.name, inventory, key);
}

/** The same of one that a survey is about, or has seen beside it. */
export function followSurveyed(lb: Found, survey: ServiceSurvey, began: Moment, context: ServiceContext, job: Job): Promise<void> {
  const { kind, seen, options } = survey;
  const wanted = () => eligibleTargets(options, context, job.ask);
  return followIn(lb, { ...(lb.kind === kind.name && { seen }), began }, wanted, context, job);
}

/** Failures that pass: the next try follows the nodes too. */
const passing: readonly ErrorClass[] = ["throttled", "transient", "clock-skew", "credentials", "expired-credentials"];

/** A wish that AWS refuses, perhaps for good, changes nothing more; but what stands goes on following the nodes. */
export async function followAnyway(error: unknown, seen: ServiceSurvey, began: Moment, context: ServiceContext, job: Job): Promise<void> {
  const aws = awsErrorIn(error);
  if (aws === undefined || passing.includes(aws.class)) return;
  try {
    for (const standing of [seen.found, seen.other]) if (standing) await followSurveyed(standing, seen, began, context, job);
  } catch (unfollowed) {
    job.ask.signal.throwIfAborted();
    if (refusalIn(unfollowed)) throw unfollowed;
    context.host.log.warn("the targets were not updated", { service: job.key, error: unfollowed });
  }
}

const maxNames = 20;

function updateFailed(hosts: readonly string[], error: unknown): string {
  const names = hosts.slice(0, maxNames).join(" ");
  const more = hosts.length > maxNames ? ` <${hosts.length - maxNames} more>` : "";
  return `Error updating load balancer with new hosts [${names}${more}] [node names limited, total number of nodes: ${hosts.length}], error: ${messageOf(error)}`;
}
