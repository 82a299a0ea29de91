/** What was asked of the cloud: a counter for every action, and every call that could change something. */

/** One call that could change the account. */
export interface JournalEntry {
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly action: string;
  readonly requestId: string;
  readonly principal: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** `ok`, or the error code the call was answered with. */
  readonly result: string;
  /** Whether the answer reached the caller. */
  readonly answered: boolean;
}

/** Calls of one action, by result (`ok` or an error code). */
export type Counts = Readonly<Record<string, number>>;

const KEPT = 20_000;

/** The record of one cloud's calls. */
export class Journal {
  #entries: JournalEntry[] = [];
  #sequence = 0;
  readonly #counts = new Map<string, Map<string, number>>();

  count(action: string, result: string): void {
    let counts = this.#counts.get(action);
    if (counts === undefined) {
      counts = new Map();
      this.#counts.set(action, counts);
    }
    counts.set(result, (counts.get(result) ?? 0) + 1);
  }

  record(entry: Omit<JournalEntry, "sequence">): void {
    this.#entries.push({ ...entry, sequence: ++this.#sequence });
    if (this.#entries.length > 2 * KEPT) this.#entries = this.#entries.slice(-KEPT);
  }

  /** How many mutating calls there have been. */
  get recorded(): number {
    return this.#sequence;
  }

  /** Mutating calls after a sequence number, oldest first. */
  entries(since = 0): readonly JournalEntry[] {
    return this.#entries.filter((entry) => entry.sequence > since);
  }

  /** Calls by action and result since the counters were last set to zero. */
  counts(): Readonly<Record<string, Counts>> {
    const actions = [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(actions.map(([action, counts]) => [action, Object.fromEntries(counts)]));
  }

  /** How often one action was called, whatever came of it. */
  calls(action: string): number {
    let sum = 0;
    for (const count of this.#counts.get(action)?.values() ?? []) sum += count;
    return sum;
  }

  resetCounts(): void {
    this.#counts.clear();
  }
}
