/** What this process remembers of its own work on a Node, while it lasts. */
import type { Attempt } from "./pods.ts";
import type { Memory } from "./situation.ts";

export class WorkingMemory implements Memory {
  readonly attempts = new Map<string, Attempt>();
  readonly hooksDone = new Set<string>();
  readonly heartbeats = new Map<string, number>();
  readonly hookDeadlines = new Map<string, number>();
  readonly notified = new Set<string>();
  podsTold = false;
  /** The pods that were there when the drain began; undefined before. */
  podNames: readonly string[] | undefined;
}
