import type { Backoff } from "./back-off.ts";

/** A controller is a value: what wakes it, and one function that brings one key from what is seen to what is wanted. */

export type Outcome =
  | { readonly kind: "done" }
  /** Come back by itself: waiting for AWS, for a grace period, for somebody else's part. Not a failure, no back-off. */
  | { readonly kind: "again"; readonly afterMs: number; readonly why: string };

export const done: Outcome = { kind: "done" };

export function again(afterMs: number, why: string): Outcome {
  return { kind: "again", afterMs, why };
}

/** Work that a user waits for passes work that nobody would miss for a minute. */
export type Urgency = "user" | "background";

export interface Source {
  readonly name: string;
  /** Starts telling keys; resolves when everything that existed at the start has been told. Stops with the signal. */
  start(enqueue: (key: string, urgency?: Urgency) => void, signal: AbortSignal): Promise<void>;
}

export interface Controller {
  readonly name: string;
  readonly sources: readonly Source[];
  readonly concurrency: number;
  /** How long a key that fails waits, where it is not what the process does for all. */
  readonly backoff?: Backoff;
  /** Called for one key at a time. A rejection is retried with back-off per key; other keys are not affected. */
  reconcile(key: string, signal: AbortSignal): Promise<Outcome>;
}
