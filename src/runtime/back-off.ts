/** How far apart tries are: `baseMs` after the first failure, twice that after the next, at most `maxMs`. */
export interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
}

/** The pause after so many failures in a row, before jitter. */
export function backOffMs({ baseMs, maxMs }: Backoff, failures: number): number {
  return Math.min(maxMs, baseMs * 2 ** Math.min(failures - 1, 50));
}
