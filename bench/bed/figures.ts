/** What one step of a run took. */
export interface Figures {
  readonly seconds: number;
  /** AWS calls by action, retries and refused ones included. */
  readonly calls?: Readonly<Record<string, number>>;
  readonly throttled?: number;
  /** Writes to the API server by verb and resource, Leases and reviews of access left out. */
  readonly writes?: Readonly<Record<string, number>>;
  readonly cpuSeconds?: number;
  readonly peakMb?: number;
  readonly settledMb?: number;
  readonly longestDelayMs?: number;
}

/** The sum of what was counted by name. */
export function total(counts: Readonly<Record<string, number>> | undefined): number | undefined {
  return counts && Object.values(counts).reduce((all, one) => all + one, 0);
}
