/** How often a lease is renewed and how long it holds without. */
export interface ElectionTimings {
  /** A lease that nobody has renewed for so long may be taken. */
  readonly leaseDurationMs: number;
  /** A leader that has not managed to renew for so long stops. */
  readonly renewDeadlineMs: number;
  /** The pause between two attempts. */
  readonly retryPeriodMs: number;
}

export const defaultTimings: ElectionTimings = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };

/** The reference's: its candidates pause for a retry period stretched by up to this factor of itself. */
const jitterFactor = 1.2;

/** The timings contradict each other or are not positive. */
export class InvalidTimings extends Error {
  override readonly name = "InvalidTimings";
}

/** Everything that is wrong with the timings, in the words of the reference; empty when they will do. */
export function timingProblems(timings: ElectionTimings): string[] {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = timings;
  const problems: string[] = [];
  if (!(leaseDurationMs > renewDeadlineMs)) problems.push("leaseDuration must be greater than renewDeadline");
  if (!(renewDeadlineMs > jitterFactor * retryPeriodMs)) problems.push("renewDeadline must be greater than retryPeriod*JitterFactor");
  if (!(leaseDurationMs > 0)) problems.push("leaseDuration must be greater than zero");
  if (!(renewDeadlineMs > 0)) problems.push("renewDeadline must be greater than zero");
  if (!(retryPeriodMs > 0)) problems.push("retryPeriod must be greater than zero");
  return problems;
}
