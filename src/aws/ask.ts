/** What comes with every question to the cloud. */
import type { Urgency } from "../runtime/controller.ts";

export interface Ask {
  /** Who asks, for the ledger: `node lifecycle`. */
  readonly cause: string;
  readonly signal: AbortSignal;
  readonly urgency?: Urgency;
  /** How old an answer may be. A decision to delete needs fresh data (0, the default), a label does not. */
  readonly maxAgeMs?: number;
}

/** Names everybody a joined call is made for. */
export function joinedCause(items: readonly { readonly cause: string }[]): string {
  return [...new Set(items.map(({ cause }) => cause))].slice(0, 4).join(", ");
}
