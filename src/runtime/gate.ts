/** The one gate every Kubernetes and AWS write passes: no write starts without the lease, none at all in a dry run. */

export interface WriteGate {
  /**
   * Throws `WriteRefused` unless a write may start at this very moment. Called synchronously, right before the request
   * is sent: what was true one `await` ago may not be true any more.
   */
  check(write: string): void;
  /** Aborts when leadership is lost, so that requests in flight are cut. */
  readonly lost: AbortSignal;
}

export type RefusalReason = "not-leading" | "dry-run";

/** A write was stopped at the gate. Not an error of the write: the caller's plan stays valid. */
export class WriteRefused extends Error {
  override readonly name = "WriteRefused";
  readonly reason: RefusalReason;
  constructor(write: string, reason: RefusalReason) {
    super(reason === "dry-run" ? `dry run: would ${write}` : `not leading: refused to ${write}`);
    this.reason = reason;
  }
}

/** For processes that need no leader: one-shot commands, tests, `--leader-elect=false`. */
export function openGate(): WriteGate {
  return { check() {}, lost: new AbortController().signal };
}

/** Lets nothing through. What would have been written is handed to `note`. */
export function dryRunGate(note: (write: string) => void): WriteGate {
  return {
    check(write) {
      note(write);
      throw new WriteRefused(write, "dry-run");
    },
    lost: new AbortController().signal,
  };
}

/** Open only while all of them are: a controller under the migration lock needs both leases. */
export function everyGate(...gates: readonly WriteGate[]): WriteGate {
  return {
    check(write) {
      for (const gate of gates) gate.check(write);
    },
    lost: AbortSignal.any(gates.map((gate) => gate.lost)),
  };
}

/**
 * The refusal that made this error, however often it was wrapped. A joint error counts only when every part of it is a
 * refusal: a real failure beside a refused write must be seen.
 */
export function refusalIn(error: unknown): WriteRefused | undefined {
  if (error instanceof WriteRefused) return error;
  if (error instanceof AggregateError) {
    const refusals = error.errors.map(refusalIn);
    return refusals.length > 0 && refusals.every((refusal) => refusal !== undefined) ? refusals[0] : undefined;
  }
  return error instanceof Error && error.cause !== undefined ? refusalIn(error.cause) : undefined;
}

/**
 * For a `catch` that handles failures of the work: passes on what is none, that the work was cut or that the gate
 * refused its write.
 */
export function rethrowIfStopped(error: unknown, signal: AbortSignal): void {
  signal.throwIfAborted();
  if (refusalIn(error)) throw error;
}

/** Whether a write would pass at this moment, for who only looks. */
export function isOpen(gate: WriteGate): boolean {
  try {
    gate.check("look");
    return true;
  } catch {
    return false;
  }
}
