/**
 * Who works on a Node is named in its plan; whether that one is still there, its Lease tells. Nobody's wall clock is
 * believed: a Lease is over when it has not changed for its duration on our own clock.
 */
import { leases } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import type { Clock } from "../runtime/world.ts";

/** The name of the Lease of a replica, by its host name. */
export function replicaLeaseName(hostname: string): string {
  return `node-termination-handler-${hostname}`
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, "-")
    .slice(0, 253);
}

/** A holder is known by the host name before the underscore. */
function leaseOf(holder: string): string {
  return replicaLeaseName(holder.slice(0, holder.lastIndexOf("_")));
}

interface Seen {
  readonly renewal: string;
  readonly since: number;
}

/** What is known of the replicas that hold plans. */
export class Holders {
  readonly #kube: KubeClient;
  readonly #namespace: string;
  readonly #clock: Clock;
  readonly #seen = new Map<string, Seen>();
  readonly #dead = new Set<string>();

  constructor(kube: KubeClient, namespace: string) {
    this.#kube = kube;
    this.#namespace = namespace;
    this.#clock = kube.host.world.clock;
  }

  /** Whether a holder may still be at work. One that is not, never will be again. */
  async isAlive(holder: string, signal: AbortSignal): Promise<boolean> {
    if (this.#dead.has(holder)) return false;
    const alive = await this.#look(holder, signal);
    if (!alive) {
      this.#dead.add(holder);
      this.#seen.delete(holder);
    }
    return alive;
  }

  async #look(holder: string, signal: AbortSignal): Promise<boolean> {
    const name = leaseOf(holder);
    try {
      const { spec = {} } = await this.#kube.get(leases, { namespace: this.#namespace, name }, { signal });
      // A successor of the same name, or a holder that gave up: its predecessor does not write any more.
      if (spec.holderIdentity !== holder) return false;
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

/** Where only one process ever writes about a Node. */
export const noOtherHolder = { isAlive: async () => false };
