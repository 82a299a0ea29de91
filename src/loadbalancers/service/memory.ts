/** What the controller remembers of a Service between two looks. Losing it costs a look at AWS, never a mistake. */

import type { Clock } from "../../runtime/world.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import { TargetSets } from "../targets/target-set.ts";
import { newState, type ServiceState } from "./state.ts";

/** A removal that was begun, and is not confirmed to have ended. */
export interface RemovalProgress {
  /** Monotonic time. */
  readonly since: number;
  /** The same as wall-clock time, as users are told it. */
  readonly sinceText: string;
  /** Monotonic time at which it was last said what it waits for. */
  readonly toldAt?: number;
}

export interface Remembered {
  /** Enough to find what belongs to it, also after the Service itself is gone. */
  owner: LoadBalancerOwner;
  state: ServiceState;
  /** The targets behind its load balancers, each with its one writer. */
  readonly targetSets: TargetSets;
  /** How many full looks were begun: what the queue of targets has found out before one does not count beside it. */
  looks: number;
  /** Targets were changed, and it is not said yet that the nodes behind them have to let the traffic in. */
  unclaimed: boolean;
  removal?: RemovalProgress;
  /** Have the rules of its nodes' groups looked at too, whether or not what it needs of them has changed. */
  recheck: boolean;
  /** Monotonic time of the next look that nobody asked for. */
  driftAt: number;
  /** What was said last, so that it is not said twice. */
  warned?: string;
  hadNodes: boolean;
  /** It was said that something is being done, and not yet that it is done. */
  announcing: boolean;
  /** Monotonic time at which something was last made for it, or since when it is known: before that, who can tell? */
  madeAt: number;
  /** Monotonic time since when nothing of it is seen any more. */
  unseenSince?: number;
  /** What AWS was not ready for the last time, and since when (monotonic). */
  waits?: { readonly why: string; readonly since: number };
  /** It has gone, and that is not said yet. */
  untold?: boolean;
  /** The failure that the Service's condition tells of, but for what differs at each try. */
  failure?: string;
}

export class Memory {
  readonly #byUid = new Map<string, Remembered>();
  /** UIDs of Services that were gone before what we made for them was, by key. */
  readonly #orphans = new Map<string, Set<string>>();
  readonly #clock: Clock;
  readonly #newDriftAt: () => number;

  constructor(clock: Clock, newDriftAt: () => number) {
    this.#clock = clock;
    this.#newDriftAt = newDriftAt;
  }

  of(owner: LoadBalancerOwner): Remembered {
    let remembered = this.#byUid.get(owner.uid);
    if (remembered === undefined) {
      const madeAt = this.#clock.monotonic();
      remembered = {
        owner,
        state: newState,
        targetSets: new TargetSets(),
        looks: 0,
        unclaimed: false,
        recheck: true,
        driftAt: this.#newDriftAt(),
        hadNodes: true,
        announcing: false,
        madeAt,
      };
      this.#byUid.set(owner.uid, remembered);
    }
    remembered.owner = owner;
    return remembered;
  }

  get(uid: string): Remembered | undefined {
    return this.#byUid.get(uid);
  }

  forget(key: string, uid: string): void {
    this.#byUid.delete(uid);
    const orphans = this.#orphans.get(key);
    orphans?.delete(uid);
    if (orphans?.size === 0) this.#orphans.delete(key);
  }

  all(): Iterable<Remembered> {
    return this.#byUid.values();
  }

  /** A Service vanished, its finalizer taken by force: what we know of it is all that is left to clean up by. */
  orphan(key: string, uid: string): void {
    if (!this.#byUid.has(uid)) return;
    const orphans = this.#orphans.get(key) ?? new Set();
    this.#orphans.set(key, orphans.add(uid));
  }

  orphansOf(key: string): readonly Remembered[] {
    return [...(this.#orphans.get(key) ?? [])].flatMap((uid) => this.#byUid.get(uid) ?? []);
  }
}
