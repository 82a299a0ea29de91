/** The calls that change the targets of a bound group. */
import { type Applied, apply, type Refusal } from "../../aws/apply.ts";
import { type AwsError, isAwsError } from "../../aws/errors.ts";
import { type BindingContext, type BindingJob, groupCloud } from "./binding-context.ts";
import { groupNameOf, planBinding } from "./binding-plan.ts";
import { identityOf } from "./checkpoint.ts";
import type { Endpoint } from "./endpoints.ts";
import type { SeenTarget } from "./group-targets.ts";
import { zonesFor } from "./zones.ts";

export interface TargetChanges {
  readonly missing: readonly Endpoint[];
  readonly leaving: readonly SeenTarget[];
  /** They go only if there is no room for others. */
  readonly held: readonly SeenTarget[];
}

type Run = (missing: readonly Endpoint[], leaving: readonly SeenTarget[]) => Promise<Applied>;

/** So long a group that wants zones to be named is remembered to want them. */
const namedZonesMs = 60 * 60_000;

/** Returns those that AWS would not take; all others are registered and deregistered. */
export async function changeTargets(job: BindingJob, changes: TargetChanges, context: BindingContext): Promise<readonly Refusal[]> {
  const { remembered, binding } = job;
  const now = context.host.world.clock.monotonic();
  const isNamed = now < (remembered.zonesNamedUntil ?? 0);
  try {
    return await change(job, changes, isNamed, context);
  } catch (error) {
    // Nodes of ours say nothing about the zones of another account.
    if (isNamed || binding.spec.iamRoleArnToAssume || !wantsZone(error)) throw error;
    remembered.zonesNamedUntil = now + namedZonesMs;
    return change(job, changes, true, context);
  }
}

const wantsZone = (error: unknown) =>
  isAwsError(error) && error.code === "ValidationError" && error.message.includes("you must specify an Availability Zone");

async function change(job: BindingJob, changes: TargetChanges, namesZones: boolean, context: BindingContext): Promise<readonly Refusal[]> {
  const { binding, key, ask } = job;
  const { missing, leaving, held } = changes;
  const { groups, newGroups, host } = context;
  const cloud = groupCloud(binding, context);
  const arn = binding.spec.targetGroupARN!;
  const group = { arn, name: groupNameOf(arn), service: `${binding.metadata.namespace}/${binding.spec.serviceRef.name}` };
  const zoneOf = await zonesFor(binding, missing, namesZones, context, ask);
  const onStep = ({ what, why }: { readonly what: string; readonly why: string }) => host.log.info(what, { why, binding: key });
  const run: Run = (some, gone) => apply(planBinding(group, some, gone, zoneOf), cloud, { ...ask, onStep });
  newGroups.forget(arn);
  try {
    const { refused } = await run(missing, leaving);
    groups.unsure(arn, [...missing, ...leaving]);
    return refused;
  } catch (error) {
    groups.forget(arn);
    if (!isFull(error)) throw error;
    await run([], held);
    return fill(missing, run);
  }
}

const isFull = (error: unknown): error is AwsError => isAwsError(error) && error.code === "TooManyTargets";

/** A call for more than there is room for registers nothing: as many as fit are found by halves. */
async function fill(missing: readonly Endpoint[], run: Run): Promise<readonly Refusal[]> {
  const refused: Refusal[] = [];
  let rest = missing.toSorted((a, b) => (identityOf(a) < identityOf(b) ? -1 : 1));
  for (let size = rest.length; rest.length > 0; ) {
    const some = rest.slice(0, size);
    try {
      refused.push(...(await run(some, [])).refused);
      rest = rest.slice(some.length);
    } catch (error) {
      if (!isFull(error)) throw error;
      if (some.length === 1) return [...refused, { ids: rest.map(({ id }) => id), error }];
      size = Math.ceil(some.length / 2);
    }
  }
  return refused;
}
