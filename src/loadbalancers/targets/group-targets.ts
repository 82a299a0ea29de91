/** What is registered in target groups, remembered for a while: what is healthy is believed, the rest is asked about again. */
import type { TargetDescription, TargetHealthDescription } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Ask } from "../../aws/ask.ts";
import type { LoadBalancers } from "../../aws/load-balancers.ts";
import type { Clock } from "../../runtime/world.ts";
import { identityOf } from "./checkpoint.ts";
import type { Endpoint } from "./endpoints.ts";

/** A target as AWS tells of it. */
export interface SeenTarget {
  readonly id: string;
  readonly port: number;
  readonly zone?: string;
  readonly quicServerId?: string;
  /** In AWS's words; empty while it is not known. */
  readonly state: string;
  readonly reason: string;
  readonly description: string;
}

/** So old may be what is known of targets that were healthy. */
const ageMs = 5 * 60_000;
/** Fewer than this are asked about by name; an answer about all of them is one call, too. */
const maxNamed = 100;

interface Known {
  readonly loadedAt: number;
  readonly targets: Map<string, SeenTarget>;
}

export const isDraining = ({ state }: Pick<SeenTarget, "state">) => state === "draining" || state === "unhealthy.draining";

export class GroupTargets {
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** All targets of a group; undefined when there is no such group. */
  async list(arn: string, from: Pick<LoadBalancers, "healthOf">, ask: Ask): Promise<readonly SeenTarget[] | undefined> {
    const now = this.#clock.monotonic();
    const known = this.#known.get(arn);
    const unsure = known && [...known.targets.values()].filter(({ state }) => state !== "healthy");
    if (known !== undefined && now - known.loadedAt < ageMs && unsure!.length < maxNamed) {
      if (unsure!.length > 0 && !(await this.#refresh(arn, known, unsure!, from, ask))) return undefined;
      return [...known.targets.values()];
    }
    const health = await from.healthOf(arn, undefined, ask);
    if (health === undefined) {
      this.#known.delete(arn);
      return undefined;
    }
    const targets = new Map(health.flatMap(seenTarget).map((target) => [identityOf(target), target]));
    this.#known.set(arn, { loadedAt: now, targets });
    return [...targets.values()];
  }

  /** What was done, or may have been: how these do has to be asked. */
  unsure(arn: string, targets: readonly Pick<SeenTarget, "id" | "port" | "quicServerId">[]): void {
    const known = this.#known.get(arn);
    for (const { id, port, quicServerId } of targets) {
      const target = { id, port, ...(quicServerId && { quicServerId }), state: "", reason: "", description: "" };
      known?.targets.set(identityOf(target), { ...known.targets.get(identityOf(target)), ...target });
    }
  }

  forget(arn: string): void {
    this.#known.delete(arn);
  }

  async #refresh(
    arn: string,
    known: Known,
    unsure: readonly SeenTarget[],
    from: Pick<LoadBalancers, "healthOf">,
    ask: Ask,
  ): Promise<boolean> {
    const health = await from.healthOf(arn, unsure, ask);
    if (health === undefined) {
      this.#known.delete(arn);
      return false;
    }
    for (const target of unsure) known.targets.delete(identityOf(target));
    for (const target of health.flatMap(seenTarget)) known.targets.set(identityOf(target), target);
    return true;
  }
}

/** One that is not registered is none. */
function seenTarget({ Target: target, TargetHealth: health }: TargetHealthDescription): SeenTarget[] {
  if (!target?.Id || (health?.State === "unused" && health.Reason === "Target.NotRegistered")) return [];
  return [
    {
      id: target.Id,
      port: target.Port ?? 0,
      ...(target.AvailabilityZone && { zone: target.AvailabilityZone }),
      ...(target.QuicServerId && { quicServerId: target.QuicServerId }),
      state: health?.State ?? "",
      reason: health?.Reason ?? "",
      description: health?.Description ?? "",
    },
  ];
}

/** As calls about it name it. */
export function described({ id, port, zone, quicServerId }: SeenTarget): TargetDescription {
  return { Id: id, Port: port, ...(zone && { AvailabilityZone: zone }), ...(quicServerId && { QuicServerId: quicServerId }) };
}

export interface Matched {
  /** Endpoints that are registered, each with its target. */
  readonly matched: readonly (readonly [Endpoint, SeenTarget])[];
  /** Endpoints that are not. */
  readonly missing: readonly Endpoint[];
  /** Targets that no endpoint wants. */
  readonly surplus: readonly SeenTarget[];
}

/** Who is who. One on its way out counts as gone: if it is wanted again it is registered again. Pure. */
export function matchTargets(endpoints: readonly Endpoint[], seen: readonly SeenTarget[]): Matched {
  const present = new Map(seen.filter((target) => !isDraining(target)).map((target) => [identityOf(target), target]));
  const wanted = new Set(endpoints.map(identityOf));
  return {
    matched: endpoints.flatMap((endpoint) => {
      const target = present.get(identityOf(endpoint));
      return target ? [[endpoint, target] as const] : [];
    }),
    missing: endpoints.filter((endpoint) => !present.has(identityOf(endpoint))),
    surplus: [...present].filter(([identity]) => !wanted.has(identity)).map(([, target]) => target),
  };
}
