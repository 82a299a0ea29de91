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

/** The holder of plans in a process that leads by a Lease: whichever replica leads, it is the same one. */
export function leaderHolder({ namespace = "", name }: { readonly namespace?: string; readonly name: string }): string {
  return `${leaderPrefix}${namespace}/${name}`;
}

/** Which Lease tells whether a holder is there, and who must hold it; undefined: anybody. */
function leaseOf(holder: string, ownNamespace: string): { readonly namespace: string; readonly name: string; readonly by?: string } {
  if (holder.startsWith(leaderPrefix)) {
    const [namespace = "", name = ""] = holder.slice(leaderPrefix.length).split("/");
    return { namespace, name };
  }
  // A replica is known by the host name before the underscore.
  return { namespace: ownNamespace, name: replicaLeaseName(holder.slice(0, holder.lastIndexOf("_"))), by: holder };
}

const nodePrefix = "node/";

/** The holder of plans in a process that runs on the Node itself. */
export function nodeHolder(node: string): string {
  return `${nodePrefix}${node}`;
}

/** Whether a holder is at work; `perhaps` where there is nothing to tell it by. */
export type Liveness = boolean | "perhaps";

/** Tells whether the holder of a plan, at this revision of it, is still at work. */
export interface HolderWatch {
  isAlive(holder: string, revision: number, signal: AbortSignal): Promise<Liveness>;
}

/** A plan that nobody has changed for so long has no holder. */
const patienceMs = 5 * 60_000;

/** Holders that have no Lease: the handlers of single nodes, and to those all others. They count as long as their plan changes. */
export class PatientWatch implements HolderWatch {
  readonly #clock: Clock;
  readonly #seen = new Map<string, { readonly revision: number; readonly since: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async isAlive(holder: string, revision: number): Promise<Liveness> {
    const now = this.#clock.monotonic();
    const before = this.#seen.get(holder);
    if (before?.revision !== revision) {
      this.#seen.set(holder, { revision, since: now });
      return "perhaps";
    }
    if (now - before.since < patienceMs) return "perhaps";
    this.#seen.delete(holder);
    return false;
  }
}

/** For the one process that leads: no other of its kind writes, but handlers of single nodes may. */
export function leaderWatch(clock: Clock): HolderWatch {
  const nodes = new PatientWatch(clock);
  return { isAlive: async (holder, revision) => holder.startsWith(nodePrefix) && nodes.isAlive(holder, revision) };
}

interface Seen {
  readonly renewal: string;
  readonly since: number;
}

/** What is known of the replicas that hold plans. */
export class Holders implements HolderWatch {
  readonly #kube: KubeClient;
  readonly #namespace: string;
  readonly #clock: Clock;
  readonly #seen = new Map<string, Seen>();
  readonly #dead = new Set<string>();
  readonly #nodes: PatientWatch;

  constructor(kube: KubeClient, namespace: string) {
    this.#kube = kube;
    this.#namespace = namespace;
    this.#clock = kube.host.world.clock;
    this.#nodes = new PatientWatch(this.#clock);
  }

  /** Whether a holder may still be at work. A replica that is not, never will be again. */
  async isAlive(holder: string, revision: number, signal: AbortSignal): Promise<Liveness> {
    if (this.#dead.has(holder)) return false;
    if (holder.startsWith(nodePrefix)) return this.#nodes.isAlive(holder, revision);
    const alive = await this.#look(holder, signal);
    if (!alive) {
      // A Lease that leaders share may be held again.
      if (!holder.startsWith(leaderPrefix)) this.#dead.add(holder);
      this.#seen.delete(holder);
    }
    return alive;
  }

  async #look(holder: string, signal: AbortSignal): Promise<boolean> {
    const { namespace, name, by } = leaseOf(holder, this.#namespace);
    try {
      const { spec = {} } = await this.#kube.get(leases, { namespace, name }, { signal });
      // A successor of the same name, or a holder that gave up: its predecessor does not write any more.
      if (!spec.holderIdentity || (by !== undefined && spec.holderIdentity !== by)) return false;
      const renewal = `${spec.renewTime} ${spec.leaseTransitions}`;
      const now = this.#clock.monotonic();
      const before = this.#seen.get(holder);
      if (before?.renewal !== renewal) {
        this.#seen.set(holder, { renewal, since: now });
        return true;
      }
      return now - before.since <= (spec.leaseDurationSeconds ?? 15) * 1000;
    } catch (error) {
      if (isApiError(error, "not-found")) return false;
      throw error;
    }
  }
}
