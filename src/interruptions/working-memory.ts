/** What this process remembers of its own work on a Node, while it lasts. */
import type { Memory } from "./next-step.ts";
import type { Attempt } from "./pods.ts";

export class WorkingMemory implements Memory {
  readonly attempts = new Map<string, Attempt>();
  readonly hooksDone = new Set<string>();
  readonly heartbeats = new Map<string, number>();
  readonly hookDeadlines = new Map<string, number>();
  readonly notified = new Set<string>();
}
