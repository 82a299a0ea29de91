/** A removal that waits for AWS or for somebody: how soon it is looked at again, and what is said of it meanwhile. */
import type { Applied } from "../../aws/apply.ts";
import { again, type Outcome } from "../../runtime/controller.ts";
import type { Problem } from "../model.ts";
import type { Leftovers, Removal } from "../remove.ts";
import type { SeenService } from "../service-state.ts";
import { type ServiceContext, waitMs } from "./context.ts";
import type { Remembered } from "./memory.ts";
import { removedCondition } from "./report.ts";
import { taskOf } from "./seen.ts";

/** A removal that has not ended after this long is spoken of. */
export const patienceMs = 30_000;
/** And again after each such time, as the failure that it has become by then. */
const againMs = 2 * 60_000;
/** How soon AWS is asked whether what was deleted is gone. Those deleted in the same time are asked about together. */
const confirmMs = 1_000;
/** Each a multiple of the one before it, so that those who have waited longer meet the others. */
const pausesMs = [1, 2, 4, 8, 16, 32].map((times) => times * waitMs);

type Waiting = Extract<Removal, { kind: "waiting" }>;

export async function waitForRemoval(
  service: SeenService,
  remembered: Remembered,
  removal: Waiting,
  context: ServiceContext,
  signal: AbortSignal,
): Promise<Outcome> {
  const { book, report } = context;
  const trouble = book.trouble(service.metadata.uid);
  // Not a matter of waiting: it is said, and tried again with growing pauses until it succeeds.
  if (trouble !== undefined) throw new Error(`failed to delete load balancer: ${trouble}`);
  const message = tellWaiting(service, remembered, removal, context);
  // The status of another controller's Service is theirs.
  const isOurs = taskOf(service).kind !== "leave-to-others";
  if (message !== undefined && isOurs)
    await report.condition(service, removedCondition, { status: "False", reason: "Waiting", message }, signal);
  return again(pauseMs(remembered, removal, context), removal.why);
}

/**
 * One that is wanted, and whose last steps AWS is not ready for: how soon it is looked at again, and what is said of it
 * when that lasts. Perhaps it waits for somebody who uses what has to go.
 */
export function waitForReadiness(
  remembered: Remembered,
  applied: Applied,
  { host }: ServiceContext,
): { readonly again?: Outcome; readonly warnings: readonly Problem[] } {
  if (applied.kind === "done") {
    delete remembered.waits;
    return { warnings: [] };
  }
  const now = host.world.clock.monotonic();
  const { why } = applied;
  if (remembered.waits?.why !== why) remembered.waits = { why, since: now };
  const waited = now - remembered.waits.since;
  const message = `AWS is not ready for a step, which is retried until it succeeds: ${why}`;
  const pause = Math.min(Math.max(waitMs, waited / 4), pausesMs.at(-1)!);
  return { again: again(pause, why), warnings: waited < patienceMs ? [] : [{ message }] };
}

/** Says what is waited for, in an Event, when it is time to; returns it once it has lasted long enough to be spoken of. */
export function tellWaiting(
  service: Pick<SeenService, "metadata">,
  remembered: Remembered,
  { left, why, refused }: Waiting,
  { host, report }: ServiceContext,
): string | undefined {
  const now = host.world.clock.monotonic();
  const { removal } = remembered;
  if (removal === undefined || now - removal.since < patienceMs) return undefined;
  const text = `since ${removal.sinceText} the removal waits for ${remediesFor(left).join("; ")}${refused ? `; AWS says: ${why}` : ""}`;
  if (removal.toldAt === undefined) report.tell(service, "Normal", "LoadBalancerRemovalWaits", text);
  else if (now - removal.toldAt >= againMs) {
    const failed = `Error syncing load balancer: failed to delete load balancer: ${text}; it is retried until it succeeds`;
    report.tell(service, "Warning", "SyncLoadBalancerFailed", failed, "the removal is waiting");
  } else return text;
  remembered.removal = { ...removal, toldAt: now };
  return text;
}

/** Everything that is left, each with what somebody can do about it. */
function remediesFor({ loadBalancers, targetGroups, ownGroups, nodeGroups }: Leftovers): string[] {
  return [
    ...loadBalancers.map(({ kind, name }) => `${kind} load balancer ${name}, which AWS still lists: it disappears by itself`),
    ...targetGroups.map(
      ({ TargetGroupName: name }) => `target group ${name}: if a listener of another load balancer forwards to it, change that listener`,
    ),
    ...nodeGroups.map(
      ({ id, name }) =>
        `rules in node security group ${name} (${id}), which are removed once the needs of every Service are known: look for Services with Warnings`,
    ),
    ...ownGroups.map(
      ({ id, name }) =>
        `security group ${name} (${id}): remove it from whatever still uses it; find that with aws ec2 describe-network-interfaces --filters Name=group-id,Values=${id} and aws ec2 describe-security-groups --filters Name=ip-permission.group-id,Values=${id}`,
    ),
  ];
}

/**
 * What was deleted is soon seen to be gone. What takes its time is looked at less and less often, at moments that are
 * the same for all who wait: what one of them reads then answers the others.
 */
export function pauseMs({ removal }: Remembered, { deleted }: Waiting, { host }: ServiceContext): number {
  const now = host.world.clock.monotonic();
  const waited = now - (removal?.since ?? now);
  if (deleted) return Math.max(confirmMs, waited / 60);
  const pause = pausesMs.findLast((each) => waited >= 4 * each) ?? waitMs;
  return Math.ceil((now + pause / 2) / pause) * pause - now;
}
