/** Lets the targets of what stands follow the nodes, and touches nothing else. */
import { apply, type Refusal } from "../../aws/apply.ts";
import { awsErrorIn, type ErrorClass, sameFailure } from "../../aws/errors.ts";
import { refusalIn } from "../../runtime/gate.ts";
import type { Targets } from "../targets.ts";
import { claimAccess, nodeGroups } from "./ensure.ts";
import type { Found } from "./find.ts";
import type { Remembered, Standing } from "./memory.ts";
import { eligibleTargets, planTargetsOnly, registeredIn, registrable, type Survey } from "./survey.ts";
import { targetsBehind, withTargets } from "./targets-behind.ts";
import { type Job, logStep, messageOf, type Workplace } from "./workplace.ts";

export interface Followed {
  /** The targets it is to have now. */
  readonly targets: Targets;
  /** Those that AWS would not take. */
  readonly refused: readonly Refusal[];
}

/** Of a load balancer that is as the Service asks for. */
export async function followNodes(job: Job, remembered: Remembered, standing: Standing, place: Workplace): Promise<Followed> {
  const { service, ask } = job;
  const { inventory, report } = place;
  const targets = await eligibleTargets(standing.options, place, ask);
  const wanted = registrable(targets, registeredIn(standing.seen));
  const steps = planTargetsOnly(standing.name, standing.seen, targets);
  if (steps.length === 0) return { targets, refused: [] };
  const refused = await place.metrics.update(async () => {
    try {
      const applying = apply(steps, inventory.cloud, { ...ask, onStep: logStep(place, job.key) });
      const applied = await applying.finally(() => touchTargets(job.key, standing, place));
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
  const stand = { ...standing.stand, nodeGroups: ids };
  remembered.standing = { ...standing, seen: withTargets(standing.seen, targets, refused), stand };
  const owner = { key: job.key, uid: service.metadata.uid, kind: standing.kind };
  await claimAccess(owner, standing.access, stand, place, { recheck: false }, ask);
  if (wanted.length > 0 && refused.length === 0) report.event(service, "UpdatedLoadBalancer");
  return { targets, refused };
}

/** Of a load balancer that is otherwise left as it is, whatever the Service asks for. */
export async function followIn(
  old: Found,
  { kind, seen, targets }: Pick<Survey, "kind" | "seen" | "targets">,
  place: Workplace,
  job: Job,
): Promise<void> {
  const { inventory } = place;
  const { service, key, ask } = job;
  const present = old.kind === kind ? seen : await targetsBehind(old, service.metadata, inventory, ask);
  const steps = planTargetsOnly(old.name, present, targets);
  if (steps.length === 0) return;
  await apply(steps, inventory.cloud, { ...ask, onStep: logStep(place, key) }).finally(() => {
    (old.kind === "classic" ? inventory.classic : inventory.loadBalancers).touch(old.name, key);
  });
}

/** Failures that pass: the next try follows the nodes too. */
const passing: readonly ErrorClass[] = ["throttled", "transient", "clock-skew", "credentials", "expired-credentials"];

/** A wish that AWS refuses, perhaps for good, changes nothing more; but what stands goes on following the nodes. */
export async function followAnyway(error: unknown, seen: Survey, place: Workplace, job: Job): Promise<void> {
  const aws = awsErrorIn(error);
  if (aws === undefined || passing.includes(aws.class)) return;
  try {
    for (const standing of [seen.found, seen.other]) if (standing) await followIn(standing, seen, place, job);
  } catch (unfollowed) {
    job.ask.signal.throwIfAborted();
    if (refusalIn(unfollowed)) throw unfollowed;
    place.host.log.warn("the nodes were not followed", { service: job.key, error: unfollowed });
  }
}

function touchTargets(key: string, { kind, name, seen }: Standing, { inventory }: Workplace): void {
  if (kind === "classic") inventory.classic.touch(name, key);
  else if ("targetGroups" in seen) for (const group of seen.targetGroups) inventory.targetGroups.touch(group.name, key);
}

const mostNames = 20;

function updateFailed(hosts: readonly string[], error: unknown): string {
  const names = hosts.slice(0, mostNames).join(" ");
  const more = hosts.length > mostNames ? ` <${hosts.length - mostNames} more>` : "";
  return `Error updating load balancer with new hosts [${names}${more}] [node names limited, total number of nodes: ${hosts.length}], error: ${messageOf(error)}`;
}
