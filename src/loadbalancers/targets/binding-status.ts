/** What a binding shows after a look. Pure. */
import type { StatusWish } from "./binding-report.ts";
import { isDraining, type Matched, type SeenTarget } from "./group-targets.ts";

/** What a look has found and done. */
export interface LookedAt {
  readonly wanted: number;
  readonly matched: Matched["matched"];
  readonly registered: number;
  readonly held: number;
  readonly seen: readonly SeenTarget[];
  readonly leaving: number;
  /** Why some endpoints are not registered. */
  readonly oddities: readonly string[];
  /** Why security groups are not as asked for, empty when they are; undefined where nothing is asked for. */
  readonly networking: string | undefined;
}

export function statusAfter({ wanted, matched, registered, held, seen, leaving, oddities, networking }: LookedAt): StatusWish {
  const bound = matched.length + registered;
  const Ready =
    bound === wanted
      ? ({ status: "True", reason: "TargetsRegistered", message: `${bound} of ${wanted} endpoints are registered` } as const)
      : ({ status: "False", reason: "TargetsLeftOut", message: oddities.join("; ") } as const);
  return {
    conditions: { Ready, NetworkingReady: networking === undefined ? null : networkingCondition(networking) },
    targets: {
      wanted,
      registered: bound + held,
      healthy: matched.filter(([, { state }]) => state === "healthy").length,
      draining: seen.filter(isDraining).length + leaving,
    },
    observed: true,
  };
}

function networkingCondition(problem: string) {
  return problem === ""
    ? ({ status: "True", reason: "RulesWritten", message: "the targets let the traffic in" } as const)
    : ({ status: "False", reason: "FailedNetworkReconcile", message: problem } as const);
}
