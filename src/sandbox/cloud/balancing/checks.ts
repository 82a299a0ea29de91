/**
 * Health checks on the cloud's clock. All targets of one group are asked in the same round; a verdict falls when as many
 * answers in a row as the threshold says agree.
 */
import type { Account, Probe, ProbeResult, ProbeTarget } from "../account.ts";

/** What is asked, and how many equal answers make a verdict. */
export interface HealthCheck {
  readonly protocol: ProbeTarget["protocol"];
  readonly path: string | undefined;
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
  readonly accepts: (status: number) => boolean;
  /** Whether the answer's gRPC status is what counts. */
  readonly grpc?: boolean;
}

/** Why a check failed: no connection, no answer in time, or this HTTP status. */
export type Failure = "refused" | "timeout" | number;

/** What is known of a target: nothing yet, or what as many checks in a row as it takes have said. */
export type Verdict =
  | { readonly kind: "pending" }
  | { readonly kind: "healthy" }
  | { readonly kind: "unhealthy"; readonly failure: Failure };

interface Streak {
  readonly passing: boolean;
  readonly length: number;
}

/** The first round comes when registration is through. */
const FIRST_ROUND_MS = 2_000;
/** However fast the cloud's time runs, rounds are this far apart for whoever watches, and each then counts for more. */
const SHORTEST_PAUSE_MS = 1_000;
/** What a gRPC server says of a method that it does not have, such as AWS's own of health checks. */
const UNIMPLEMENTED = 12;
/** No threshold asks for more equal answers in a row. */
const ENOUGH = 10;

/** The rounds of one service, and what its targets answered last. */
export class HealthChecks {
  readonly #account: Account;
  readonly #running = new Set<string>();
  readonly #streaks = new Map<string, Streak>();

  constructor(account: Account) {
    this.#account = account;
  }

  /**
   * Starts rounds under this name unless they run already; they go on while there is an interval. A round is told how
   * many checks of each target it stands for.
   */
  start(name: string, intervalSeconds: () => number | undefined, round: (checks: number) => void): void {
    if (this.#running.has(name)) return;
    this.#running.add(name);
    const { time } = this.#account;
    const next = (): void => {
      const seconds = intervalSeconds();
      if (seconds === undefined) {
        this.#running.delete(name);
        return;
      }
      const pause = (seconds * 1000) / time.speed;
      round(Math.min(ENOUGH, Math.max(1, Math.round(SHORTEST_PAUSE_MS / pause))));
      time.at(time.now() + Math.max(pause, SHORTEST_PAUSE_MS), next);
    };
    time.after(FIRST_ROUND_MS, next);
  }

  /** Asks one target, as often as `checks` says, and tells what is known of it now. */
  ask(
    target: string,
    place: Pick<ProbeTarget, "instanceId" | "address" | "port">,
    check: HealthCheck,
    checks: number,
    before: Verdict,
    probe: Probe = this.#account.probe,
  ): Verdict {
    const answer = probe({ ...place, protocol: check.protocol, path: check.path, grpc: check.grpc });
    const failure = failureOf(answer, check);
    const last = this.#streaks.get(target);
    const passing = failure === undefined;
    const length = (last?.passing === passing ? last.length : 0) + checks;
    this.#streaks.set(target, { passing, length: Math.min(length, ENOUGH) });
    if (failure === undefined) return length >= check.healthyThreshold ? { kind: "healthy" } : before;
    return length >= check.unhealthyThreshold ? { kind: "unhealthy", failure } : before;
  }

  /** Forgets what a target answered, so that it starts anew. */
  forget(target: string): void {
    this.#streaks.delete(target);
  }
}

function failureOf(answer: ProbeResult, check: HealthCheck): Failure | undefined {
  switch (answer.kind) {
    case "refused":
      return "refused";
    case "silent":
      return "timeout";
    case "answered": {
      if (check.protocol !== "HTTP" && check.protocol !== "HTTPS") return undefined;
      const status = check.grpc ? (answer.grpcStatus ?? UNIMPLEMENTED) : answer.status;
      return check.accepts(status) ? undefined : status;
    }
  }
}
