/**
 * Changes of one volume, gathered for a moment: a claim that grows and changes its class at the same time asks twice, and EC2
 * allows few modifications a day.
 */
import type { Tags } from "../../aws/instance.ts";
import { type Clock, unlessAborted, within } from "../../runtime/world.ts";
import { CsiError } from "../csi/errors.ts";

/** What a volume is to become. What is undefined stays as it is. */
export interface VolumeChange {
  readonly sizeGiB?: number | undefined;
  readonly type?: string | undefined;
  readonly iops?: number | undefined;
  readonly throughput?: number | undefined;
  readonly iopsPerGb?: number | undefined;
  readonly allowIopsIncrease?: boolean | undefined;
  readonly tags?: Tags | undefined;
  readonly tagDeletions?: readonly string[] | undefined;
}

interface Window {
  change: VolumeChange;
  waiting: number;
  readonly result: Promise<number | undefined>;
}

/** Carries a change out and tells the size of the volume afterwards; undefined when only tags were changed. */
export type Execute = (volumeId: string, change: VolumeChange, signal: AbortSignal) => Promise<number | undefined>;

/** A change that takes longer is looked at again by whoever asks next. */
const executionMs = 3 * 60_000;

const fieldNames: Readonly<Record<keyof VolumeChange, string>> = {
  sizeGiB: "size",
  type: "volume type",
  iops: "IOPS",
  throughput: "throughput",
  iopsPerGb: "IOPSPerGb",
  allowIopsIncrease: "allowAutoIOPSIncreaseOnModify",
  tags: "tags",
  tagDeletions: "tags",
};

export class ModificationWindows {
  readonly #clock: Clock;
  readonly #windowMs: number;
  readonly #execute: Execute;
  readonly #open = new Map<string, Window>();

  constructor(clock: Clock, windowMs: number, execute: Execute) {
    this.#clock = clock;
    this.#windowMs = windowMs;
    this.#execute = execute;
  }

  /** Joins the window of the volume, or opens one. All who joined get the same result. */
  async request(volumeId: string, change: VolumeChange, signal: AbortSignal): Promise<number | undefined> {
    let window = this.#open.get(volumeId);
    if (window === undefined) {
      window = this.#newWindow(volumeId, change);
      this.#open.set(volumeId, window);
    } else window.change = merged(window.change, change);
    const joined = window;
    joined.waiting++;
    try {
      return await unlessAborted(signal, joined.result);
    } finally {
      joined.waiting--;
    }
  }

  #newWindow(volumeId: string, change: VolumeChange): Window {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    // Whoever waits sees the rejection; when all have left, nobody needs to.
    promise.catch(() => {});
    const window: Window = { change, waiting: 0, result: promise };
    this.#clock.after(this.#windowMs, () => {
      this.#open.delete(volumeId);
      if (window.waiting === 0) {
        reject(new CsiError("Canceled", "no caller is waiting for the change any more"));
        return;
      }
      within(this.#clock, executionMs, `modification of ${volumeId}`, undefined, (signal) =>
        this.#execute(volumeId, window.change, signal),
      ).then(resolve, reject);
    });
    return window;
  }
}

/** Both changes as one. A newcomer who wants something else than those before it is refused, and they are not. */
function merged(before: VolumeChange, change: VolumeChange): VolumeChange {
  const result: Record<string, unknown> = { ...before };
  for (const [field, value] of Object.entries(change)) {
    const known = result[field];
    if (value === undefined || isSame(known, value)) continue;
    if (known !== undefined) {
      const what = fieldNames[field as keyof VolumeChange];
      const values = typeof value === "object" ? "" : `. Current: ${known}, Requested: ${value}`;
      throw new CsiError("Aborted", `different ${what} was requested by a previous request${values}`);
    }
    result[field] = value;
  }
  return result;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === "object" && JSON.stringify(sortedEntries(a)) === JSON.stringify(sortedEntries(b)));
}

function sortedEntries(value: unknown): unknown {
  return Array.isArray(value) ? value.toSorted() : Object.entries(value ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
}
