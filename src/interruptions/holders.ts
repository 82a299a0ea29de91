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

/** The plan of a Node, as far as it tells who works on it. */
export interface HeldPlan {
  readonly node: string;
  readonly holder: string;
  readonly revision: number;
}

/** Tells whether the holder of a plan is still at work. */
export interface HolderWatch {
  isAlive(plan: HeldPlan, signal: AbortSignal): Promise<Liveness>;
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
    if (now - before.since < patienceMs) return "perhaps";
    this.#seen.delete(node);
    return false;
  }
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
  readonly #patient: PatientWatch;

  /** With the namespace in which replicas like this one have their Leases. */
  constructor(kube: KubeClient, namespace: string) {
    this.#kube = kube;
    this.#namespace = namespace;
    this.#clock = kube.host.world.clock;
    this.#patient = new PatientWatch(this.#clock);
  }

  /** Whether a holder may still be at work. A replica that is not, never will be again. */
  async isAlive(plan: HeldPlan, signal: AbortSignal): Promise<Liveness> {
    const { holder } = plan;
    if (this.#dead.has(holder)) return false;
    if (holder.startsWith(nodePrefix)) return this.#patient.isAlive(plan);
    const alive = await this.#look(holder, signal);
    if (alive === undefined) return this.#patient.isAlive(plan);
    if (!alive) {
      // A Lease that leaders share may be held again.
      if (!holder.startsWith(leaderPrefix)) this.#dead.add(holder);
      this.#seen.delete(holder);
    }
    return alive;
  }

  /** What the Lease of a holder says; undefined when there is none to be seen and that says nothing. */
  async #look(holder: string, signal: AbortSignal): Promise<boolean | undefined> {
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
      // A replica of another namespace has its Lease there: that there is none here does not say that it is not at work.
      if (isApiError(error, "forbidden", "not-found")) return undefined;
      throw error;
    }
  }
}
