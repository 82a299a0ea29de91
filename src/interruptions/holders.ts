/**
 * Who works on a Node is named in its plan; whether that one is still there, its Lease tells. Nobody's wall clock is
 * believed: a Lease is over when it has not changed for its duration on our own clock.
 */
import { leases } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import type { Clock } from "../runtime/world.ts";

/** What the names of replicas' Leases begin with. */
export const replicaLeasePrefix = "node-termination-handler-";

/** The name of the Lease of a replica, by its host name. */
export function replicaLeaseName(hostname: string): string {
  return `${replicaLeasePrefix}${hostname}`
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, "-")
    .slice(0, 253);
}

const leaderPrefix = "lease/";

/** The holder of plans in a process that leads by a Lease: whichever of its replicas leads, it is the same one. */
export function leaderHolder({ namespace = "", name }: { readonly namespace?: string; readonly name: string }): string {
  return `${leaderPrefix}${namespace}/${name}`;
}

const replicaPrefix = "replica/";

/** The holder of plans in a replica in queue mode: by the namespace, replicas of other installations find its Lease too. */
export function replicaHolder(namespace: string, identity: string): string {
  return `${replicaPrefix}${namespace}/${identity}`;
}

/** The Lease that tells whether a holder is there, and who must hold it; `by` undefined: anybody. */
interface HolderLease {
  readonly namespace: string;
  readonly name: string;
  readonly by?: string;
}

/** Undefined for a holder that has none. */
function leaseOf(holder: string): HolderLease | undefined {
  if (holder.startsWith(leaderPrefix)) {
    const [namespace = "", name = ""] = holder.slice(leaderPrefix.length).split("/");
    return { namespace, name };
  }
  if (!holder.startsWith(replicaPrefix)) return undefined;
  const [namespace = "", by = ""] = holder.slice(replicaPrefix.length).split("/");
  // The identity of a replica is its host name, an underscore and something random.
  return { namespace, name: replicaLeaseName(by.slice(0, by.lastIndexOf("_"))), by };
}

const nodePrefix = "node/";

/** The holder of plans in a process that runs on the Node itself. */
export function nodeHolder(node: string): string {
  return `${nodePrefix}${node}`;
}

/** Whether a holder is at work; `perhaps` where there is nothing to tell it by. */
export type Liveness = boolean | "perhaps";

/** The plan of a Node, as far as it tells who works on it. */
export interface HeldPlan {
  readonly node: string;
  readonly holder: string;
  readonly revision: number;
}

/** Tells whether the holder of a plan is still at work. */
export interface HolderWatch {
  isAlive(plan: HeldPlan, signal: AbortSignal): Promise<Liveness>;
  /** Nobody works on the Node any more. */
  forget(node: string): void;
}

/** A plan that nobody has changed for so long has no holder. */
const patienceMs = 5 * 60_000;

/** Holders that have no Lease: the handlers of single nodes, and to those all others. They count as long as their plan changes. */
export class PatientWatch implements HolderWatch {
  readonly #clock: Clock;
  /** By Node. */
  readonly #seen = new Map<string, { readonly holder: string; readonly revision: number; readonly since: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async isAlive({ node, holder, revision }: HeldPlan): Promise<Liveness> {
    const now = this.#clock.monotonic();
    const before = this.#seen.get(node);
    if (before?.revision !== revision || before.holder !== holder) {
      this.#seen.set(node, { holder, revision, since: now });
      return "perhaps";
    }
    return now - before.since < patienceMs ? "perhaps" : false;
  }

  forget(node: string): void {
    this.#seen.delete(node);
  }
}

interface Seen {
  readonly renewal: string;
  readonly since: number;
}

/** One holder may have a thousand plans: its Lease is read once for all of them that ask within this time. */
const lookMs = 1_000;

/** What is known of the replicas that hold plans. */
export class Holders implements HolderWatch {
  readonly #kube: KubeClient;
  readonly #clock: Clock;
  readonly #seen = new Map<string, Seen>();
  readonly #looks = new Map<string, { readonly at: number; readonly answer: Promise<boolean | undefined> }>();
  readonly #dead = new Set<string>();
  readonly #patient: PatientWatch;

  constructor(kube: KubeClient) {
    this.#kube = kube;
    this.#clock = kube.host.world.clock;
    this.#patient = new PatientWatch(this.#clock);
  }

  /** Whether a holder may still be at work. A replica that is not, never will be again. */
  async isAlive(plan: HeldPlan, signal: AbortSignal): Promise<Liveness> {
    const { holder } = plan;
    if (this.#dead.has(holder)) return false;
    const lease = leaseOf(holder);
    const alive = lease && (await this.#recentLook(holder, lease, signal));
    if (alive === undefined) return this.#patient.isAlive(plan);
    // A Lease that leaders share may be held again: when it changes.
    if (!alive && lease?.by !== undefined) {
      this.#dead.add(holder);
      this.#seen.delete(holder);
      this.#looks.delete(holder);
    }
    return alive;
  }

  forget(node: string): void {
    this.#patient.forget(node);
  }

  #recentLook(holder: string, lease: HolderLease, signal: AbortSignal): Promise<boolean | undefined> {
    const now = this.#clock.monotonic();
    const recent = this.#looks.get(holder);
    if (recent !== undefined && now - recent.at < lookMs) return recent.answer;
    const answer = this.#look(holder, lease, signal);
    this.#looks.set(holder, { at: now, answer });
    answer.catch(() => this.#looks.delete(holder));
    return answer;
  }

  /** What the Lease of a holder says; undefined when that cannot be told. */
  async #look(holder: string, { namespace, name, by }: HolderLease, signal: AbortSignal): Promise<boolean | undefined> {
    // An answer says how it was when it was asked for: it may be long on its way, and the process may have stood still.
    const now = this.#clock.monotonic();
    const spec = await this.#specOf({ namespace, name }, signal);
    // One that elects no leader (--leader-elect=false) has no Lease.
    if (spec === "forbidden" || (spec === "missing" && by === undefined)) return undefined;
    // A successor of the same name, or a holder that gave up: its predecessor does not write any more.
    if (spec !== "missing" && (!spec.holderIdentity || (by !== undefined && spec.holderIdentity !== by))) return false;
    // Who finds its own Lease removed makes it again.
    const renewal = spec === "missing" ? "none" : `${spec.renewTime} ${spec.leaseTransitions}`;
    const duration = spec === "missing" ? undefined : spec.leaseDurationSeconds;
    const before = this.#seen.get(holder);
    if (before?.renewal !== renewal) {
      this.#seen.set(holder, { renewal, since: this.#clock.monotonic() });
      return true;
    }
    return now - before.since <= (duration ?? 15) * 1000;
  }

  async #specOf(lease: { readonly namespace: string; readonly name: string }, signal: AbortSignal) {
    try {
      return (await this.#kube.get(leases, lease, { signal })).spec ?? {};
    } catch (error) {
      if (isApiError(error, "not-found")) return "missing";
      if (isApiError(error, "forbidden")) return "forbidden";
      throw error;
    }
  }
}
