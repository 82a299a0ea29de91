/** The steps from the targets of a bound group that are seen to those that are wanted. Pure. */
import { deregisterTargets, registerTargets } from "../../aws/elbv2-actions.ts";
import { type Step, step } from "../../aws/plan.ts";
import { identityOf } from "./checkpoint.ts";
import type { Endpoint } from "./endpoints.ts";
import { described, type Matched, type SeenTarget } from "./group-targets.ts";

/** As many targets go into one call. */
const targetsPerCall = 200;

export interface BoundGroup {
  readonly arn: string;
  /** Of the group, as steps say it. */
  readonly name: string;
  /** `shop/web`: whose endpoints they are. */
  readonly service: string;
}

/** Registers first, so that traffic always has somewhere to go. A full group has to lose some before it takes others. */
export function planBinding(
  group: BoundGroup,
  missing: readonly Endpoint[],
  leaving: readonly SeenTarget[],
  zoneOf: (endpoint: Endpoint) => string | undefined,
): Step[] {
  return [
    ...chunks(sorted(missing)).map((some) => registration(group, some, zoneOf)),
    ...chunks(sorted(leaving)).map((some) => deregistration(group, some)),
  ];
}

function registration(group: BoundGroup, endpoints: readonly Endpoint[], zoneOf: (endpoint: Endpoint) => string | undefined): Step {
  const targets = endpoints.map((endpoint) => {
    const { id, port, quicServerId } = endpoint;
    const zone = zoneOf(endpoint);
    return { Id: id, Port: port, ...(zone && { AvailabilityZone: zone }), ...(quicServerId && { QuicServerId: quicServerId }) };
  });
  const ids = endpoints.map(({ id }) => id);
  return step(
    registerTargets,
    { TargetGroupArn: group.arn, Targets: targets },
    {
      what: `register ${few(endpoints)} with target group ${group.name}`,
      why: `Service ${group.service} has these endpoints`,
      needsRoom: ["TooManyTargets"],
      batch: {
        ids,
        refusedBy: ["InvalidTarget"],
        only: (some) =>
          registration(
            group,
            endpoints.filter(({ id }) => some.includes(id)),
            zoneOf,
          ),
      },
      part: "targets",
    },
  );
}

export function deregistration(group: BoundGroup, targets: readonly SeenTarget[]): Step {
  return step(
    deregisterTargets,
    { TargetGroupArn: group.arn, Targets: targets.map(described) },
    {
      what: `deregister ${few(targets)} from target group ${group.name}`,
      why: `Service ${group.service} no longer has these endpoints`,
      settledBy: ["TargetGroupNotFound"],
      part: "targets",
    },
  );
}

export function planDeregistration(group: BoundGroup, targets: readonly SeenTarget[]): Step[] {
  return chunks(sorted(targets)).map((some) => deregistration(group, some));
}

/** How long a target that still serves waits for its successors, should they never become healthy. */
export const holdMs = 5 * 60_000;

/** What of a match may go now. */
export interface SplitSurplus {
  readonly leaving: readonly SeenTarget[];
  /** They serve still, and go when those that take their place are healthy. */
  readonly held: readonly SeenTarget[];
}

/**
 * Register, wait until healthy, then deregister: a target whose pod goes on serving, because the Service selects others
 * now, is let go when none of those is still on its way to being healthy. What serves no more goes at once.
 */
export function splitSurplus({ matched, missing, surplus }: Matched, mayWait: (target: SeenTarget) => boolean): SplitSurplus {
  const starting = missing.length > 0 || matched.some(([, { state }]) => state === "initial" || state === "");
  const held = starting ? surplus.filter(mayWait) : [];
  return { held, leaving: surplus.filter((target) => !held.includes(target)) };
}

/** The part of the name that people know: `targetgroup/NAME/0123`. */
export function groupNameOf(arn: string): string {
  return arn.split("/").at(-2) ?? arn;
}

function sorted<T extends Pick<Endpoint, "id" | "port" | "quicServerId">>(items: readonly T[]): readonly T[] {
  return items.toSorted((a, b) => (identityOf(a) < identityOf(b) ? -1 : 1));
}

const maxNames = 5;

function few(items: readonly Pick<Endpoint, "id" | "port">[]): string {
  const more = items.length > maxNames ? ` and ${items.length - maxNames} more` : "";
  const names = items.slice(0, maxNames).map(({ id, port }) => `${id}:${port}`);
  return `${names.join(", ")}${more}`;
}

function chunks<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / targetsPerCall) }, (_, i) =>
    items.slice(i * targetsPerCall, (i + 1) * targetsPerCall),
  );
}
