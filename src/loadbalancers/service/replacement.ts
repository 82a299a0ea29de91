/**
 * A load balancer of one kind takes the place of one of the other: the new one is made first, its address is published
 * when it is healthy or a limit has passed, and the old one goes when clients have had time to learn the new address.
 */
import type { Ask } from "../../aws/ask.ts";
import { again, type Outcome } from "../../runtime/controller.ts";
import type { Clock } from "../../runtime/world.ts";
import type { Ensured } from "../apply.ts";
import type { Inventory } from "../inventory.ts";
import { type Found, isServing, type LoadBalancerKind } from "../kind.ts";
import type { SeenService } from "../service-state.ts";
import type { Survey } from "../survey.ts";
import { type Report, replacedCondition } from "./report.ts";

/** A new load balancer that has not become healthy after this long is published all the same: the user has asked for it. */
export const healthLimitMs = 5 * 60_000;
/** How long the old one is kept after the new address was published. */
export const drainMs = 10 * 60_000;
const lookAgainMs = 10_000;

export interface ReplacementParts {
  readonly inventory: Inventory;
  readonly report: Report;
  readonly clock: Clock;
  readonly ask: Ask;
  /** Lets the old one's targets follow the nodes. */
  follow(old: Found): Promise<void>;
  /** One pass of taking everything of these kinds away; undefined when nothing is left. */
  remove(kinds: readonly LoadBalancerKind[]): Promise<Outcome | undefined>;
}

/** The next step of a replacement; undefined when it is over. */
export async function continueReplacement(
  service: SeenService,
  survey: Survey,
  { hostname }: Ensured,
  parts: ReplacementParts,
): Promise<Outcome | undefined> {
  const { other, kind, owner } = survey;
  const { report, clock, ask } = parts;
  if (hostname === undefined) return again(lookAgainMs, "the new load balancer has no address yet");
  if (other !== undefined) {
    await parts.follow(other);
    if (service.hostname !== "" && service.hostname !== hostname) return publishWhenReady(service, survey, hostname, other, parts);
    const left = service.hostname === "" ? 0 : (await drainEnd(service, parts)) - clock.now();
    if (left > 0) return again(left, `the ${other.kind} load balancer is kept until clients know the new address`);
  }
  await report.publish(service, hostname, ask.signal);
  const leaving = await parts.remove(owner.kinds.filter((each) => each !== kind));
  if (leaving !== undefined) return leaving;
  await report.condition(service, replacedCondition, undefined, ask.signal);
  return undefined;
}

async function publishWhenReady(
  service: SeenService,
  survey: Survey,
  hostname: string,
  other: Found,
  { inventory, report, clock, ask }: ReplacementParts,
): Promise<Outcome> {
  const { found } = survey;
  const late = found !== undefined && clock.now() - found.createdAt >= healthLimitMs;
  if (!late && !(await isHealthy(survey, inventory, ask))) return again(lookAgainMs, "the new load balancer is not healthy yet");
  // First, because it is not written again once the address is published. Whoever changes the kind back while the other
  // one is drained publishes a second time: what goes now has clients that have to learn of it from now on.
  await report.conditionFromNow(service, replacedCondition, replaced(other), ask.signal);
  await report.publish(service, hostname, ask.signal);
  const message = `published ${hostname} instead of ${other.hostname}, which is kept for ${drainMs / 60_000} minutes`;
  report.tell(service, "Normal", "LoadBalancerReplacement", message);
  return again(drainMs, "the old load balancer is kept until clients know the new address");
}

/** When the old one may go. If it is not known since when it waits, it waits from now on. */
async function drainEnd(service: SeenService, { report, clock, ask }: ReplacementParts): Promise<number> {
  const since = service.conditions.find(({ type }) => type === replacedCondition)?.lastTransitionTime;
  if (since !== undefined) return Date.parse(since) + drainMs;
  await report.condition(
    service,
    replacedCondition,
    { status: "True", reason: "TypeChanged", message: "the old load balancer is drained" },
    ask.signal,
  );
  return clock.now() + drainMs;
}

const replaced = ({ kind, name }: Found) =>
  ({ status: "True", reason: "TypeChanged", message: `${kind} load balancer ${name} is drained and then deleted` }) as const;

/** Whether every port of the new one has a target that takes traffic. */
async function isHealthy({ kind, found, seen }: Survey, inventory: Inventory, ask: Ask): Promise<boolean> {
  return found !== undefined && isServing(await kind.health(found, seen, inventory, ask));
}
