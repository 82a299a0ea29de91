/**
 * Checkpoints: what a load balancer was when all of it was as wanted, written down on the object that asks for it. AWS tells of
 * listeners and rules one load balancer at a time; a process that has just started takes them for what they were, as long as
 * nothing else has changed and the same is wanted, and looks at each within the hour. So a restart over hundreds of load balancers
 * asks for lists, and no edit of a user waits behind it.
 */
import { createHash } from "node:crypto";
import { sortedJson } from "./elbv2/actions.ts";

/** A digest of everything that a look at lists does not see. */
export const checkpointDigest = (unseen: unknown): string =>
  createHash("sha256").update(sortedJson(unseen)).digest("base64url").slice(0, 22);

/** An object that a checkpoint is written on; empty: none is. */
interface Checkpointed {
  readonly metadata: { readonly uid: string };
  readonly checkpoint: string;
}

/** Writes it on an object; false when that has changed since it was seen, and nothing was written. */
export type WriteCheckpoint<Of> = (object: Of, checkpoint: string, signal: AbortSignal) => Promise<boolean>;

export class CheckpointRecord<Of extends Checkpointed> {
  readonly #write: WriteCheckpoint<Of>;
  /** What was written, or taken away, until it is seen, by UID. */
  readonly #written = new Map<string, string>();

  constructor(write: WriteCheckpoint<Of>) {
    this.#write = write;
  }

  /** Before anything is changed: whoever comes after a crash in the middle must not trust it. Until this is true nothing may be. */
  clear(object: Of, signal: AbortSignal): Promise<boolean> {
    return this.record(object, "", signal);
  }

  /** All of it is as wanted. */
  async record(object: Of, checkpoint: string, signal: AbortSignal): Promise<boolean> {
    const { uid } = object.metadata;
    if (this.#written.get(uid) === object.checkpoint) this.#written.delete(uid);
    if ((this.#written.get(uid) ?? object.checkpoint) === checkpoint) return true;
    if (!(await this.#write(object, checkpoint, signal))) return false;
    this.#written.set(uid, checkpoint);
    return true;
  }

  forget({ metadata }: Of): void {
    this.#written.delete(metadata.uid);
  }
}
