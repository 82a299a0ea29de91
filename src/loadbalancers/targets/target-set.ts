/**
 * The targets of one load balancer, and their one writer. Whoever asks for them to be brought up to date (the queue that
 * follows the nodes, a full look at the owner) waits for nothing but other changes of the same targets: never for a
 * listener, nor for another load balancer.
 */
import { apply, type Refusal } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import type { Step } from "../../aws/plan.ts";
import type { Inventory } from "../inventory.ts";
import type { LoadBalancerKind, Seen } from "../kind.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import { registrable, type Targets } from "../targets.ts";

/** What a look has seen. It counts if nothing was written since the moment at which it began. */
export interface Look {
  readonly seen: Seen;
  readonly began: Moment;
}

/** How many writes had ended by then. */
export type Moment = number;

export interface TargetWork {
  readonly owner: Pick<LoadBalancerOwner, "key" | "noun">;
  readonly inventory: Inventory;
  readonly ask: Ask;
  /** What was seen just now, by whoever has looked. */
  readonly look?: Look;
  /** The targets that it is to have. Asked for when it is this change's turn, so that none is decided by old nodes. */
  wanted(): Promise<Targets>;
  onStep(step: Step): void;
  /** Runs a change that has to be made; told the ids that are wanted. */
  around?<T>(wanted: readonly string[], change: () => Promise<T>): Promise<T>;
}

export interface SyncedTargets {
  readonly targets: Targets;
  /** The ids of those that AWS can take now. */
  readonly wanted: readonly string[];
  /** Those that AWS would not take. */
  readonly refused: readonly Refusal[];
  /** Whether anything had to be done. */
  readonly changed: boolean;
}

/** The sets of one owner, by the load balancers that they are behind. */
export class TargetSets {
  readonly #sets = new Map<string, TargetSet>();
  #moment: Moment = 0;

  /** To be taken before a look at AWS begins. */
  now(): Moment {
    return this.#moment;
  }

  of(kind: LoadBalancerKind, name: string): TargetSet {
    const key = `${kind.name} ${name}`;
    const set = this.#sets.get(key) ?? new TargetSet(kind, name, () => ++this.#moment);
    this.#sets.set(key, set);
    return set;
  }
}

export class TargetSet {
  readonly #kind: LoadBalancerKind;
  readonly #name: string;
  readonly #tick: () => Moment;
  #seen: Seen | undefined;
  /** Whether what is remembered may be planned with. */
  #certain = false;
  #writing = false;
  #lastWrite: Moment = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(kind: LoadBalancerKind, name: string, tick: () => Moment) {
    this.#kind = kind;
    this.#name = name;
    this.#tick = tick;
  }

  /** Whether anything is known of it. */
  get isKnown(): boolean {
    return this.#seen !== undefined;
  }

  /** Takes over what a full look has seen. Where targets were written meanwhile they are read again before they are planned. */
  adopt({ seen, began }: Look): void {
    this.#seen = seen;
    this.#certain = !this.#writing && this.#lastWrite <= began;
  }

  /** Registers and deregisters, so that the targets are those wanted by then. */
  sync(work: TargetWork): Promise<SyncedTargets> {
    const synced = this.#turn.then(() => this.#sync(work));
    this.#turn = synced.catch(() => {});
    return synced;
  }

  async #sync({ owner, inventory, ask, look, wanted, onStep, around }: TargetWork): Promise<SyncedTargets> {
    const kind = this.#kind;
    const name = this.#name;
    ask.signal.throwIfAborted();
    if (look !== undefined) this.adopt(look);
    if (this.#seen === undefined) throw new Error(`the targets of ${kind.name} load balancer ${name} were never read`);
    if (!this.#certain) {
      this.#seen = await kind.refreshTargets(name, this.#seen, inventory, ask);
      this.#certain = true;
    }
    const seen = this.#seen;
    const targets = await wanted();
    const ids = registrable(targets, kind.registered(seen));
    const steps = kind.planTargets(name, seen, targets, owner.noun);
    if (steps.length === 0) return { targets, wanted: ids, refused: [], changed: false };
    const change = async () => {
      const applied = await apply(steps, inventory.cloud, { ...ask, onStep });
      if (applied.kind === "waiting") throw new Error(applied.why);
      return applied.refused;
    };
    this.#writing = true;
    this.#certain = false;
    try {
      const refused = await (around ? around(ids, change) : change());
      // What is seen may have been replaced by a look that began before; then that is read again.
      if (this.#seen === seen) {
        this.#seen = kind.afterTargets(seen, targets, refused);
        this.#certain = true;
      }
      return { targets, wanted: ids, refused, changed: true };
    } finally {
      this.#writing = false;
      this.#lastWrite = this.#tick();
      kind.touchTargets(name, seen, inventory, owner.key);
    }
  }
}
