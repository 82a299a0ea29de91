import { clearCredentialCache } from "@smithy/signature-v4";
import { forbidGlobals } from "./forbidden-globals.ts";
import type { History } from "./history.ts";

/** What came of one history. */
export interface Outcome {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly hash: string;
  /** A rule was broken that ends a history, and the rest was not played. */
  readonly isOver: boolean;
  story(): string;
}

/** Plays a history to its end, with nobody in it reaching for the machine. */
export async function played(seed: number, history: History, play: () => Promise<void>): Promise<Outcome> {
  // The SDK remembers signing keys for the whole process: a history takes the same turns only if it finds none of another's.
  clearCredentialCache();
  const allow = forbidGlobals((what) => history.broken("nothing in the world reaches for the machine", what));
  try {
    await Promise.race([play(), history.over]);
  } catch (error) {
    history.broken("a history comes to its end", error instanceof Error ? String(error.stack) : String(error));
  } finally {
    allow();
  }
  return { seed, violations: history.violations, hash: history.hash(), isOver: history.isOver, story: () => history.story() };
}
