/** The network topology of instances, asked of EC2 as seldom as possible: that there is no answer is remembered too. */
import type { Ask } from "../aws/ask.ts";
import { type AwsError, isAwsError } from "../aws/errors.ts";
import type { Instance } from "../aws/instance.ts";
import type { Topology } from "../aws/topology.ts";
import type { Log } from "../runtime/log.ts";
import type { Clock } from "../runtime/world.ts";

export interface NetworkTopologyOptions {
  readonly topology: Pick<Topology, "networkNodes">;
  readonly clock: Clock;
  readonly log: Log;
  /** Types whose topology EC2 is known to tell; for these a missing answer is worth asking again. */
  readonly required: RegExp;
}

const dayMs = 24 * 3_600_000;
/** A policy may be mended at any moment; until then one call in a while is enough. */
const deniedMs = 5 * 60_000;
const maxKept = 20_000;

export class NetworkTopology {
  readonly #options: NetworkTopologyOptions;
  readonly #known = new Map<string, readonly string[]>();
  readonly #supported = new Set<string>();
  /** Until when there is no use in asking: by type, or by instance id. */
  readonly #useless = new Map<string, number>();
  #regionUselessUntil = Number.NEGATIVE_INFINITY;
  #denial: { readonly error: unknown; readonly until: number } | undefined;
  /** The first question about a type, whose answer tells whether to ask about the others. */
  readonly #probes = new Map<string, Promise<unknown>>();

  constructor(options: NetworkTopologyOptions) {
    this.#options = options;
  }

  /**
   * The network nodes above an instance, from the top down; none where EC2 tells none. Rejects when it is worth asking again.
   * When the call is not allowed, one of all who ask is told by `denied`: the first in a while.
   */
  async of(instance: Instance, ask: Ask, denied: (error: AwsError) => void = () => {}): Promise<readonly string[]> {
    const known = this.#settled(instance);
    if (known !== undefined) return known;
    if (this.#isRequired(instance) || this.#supported.has(instance.type)) return this.#ask(instance, ask, denied);
    const probe = this.#probes.get(instance.type);
    if (probe !== undefined) {
      // Whatever comes of it, it is this type's first answer.
      await probe.catch(() => {});
      return this.#settled(instance) ?? this.#ask(instance, ask, denied);
    }
    const asking = this.#ask(instance, ask, denied);
    this.#probes.set(instance.type, asking);
    return asking.finally(() => this.#probes.delete(instance.type));
  }

  /** What can be said without asking; undefined when that is nothing. */
  #settled(instance: Instance): readonly string[] | undefined {
    const known = this.#known.get(instance.id);
    if (known !== undefined) return known;
    const now = this.#options.clock.monotonic();
    if (now < this.#regionUselessUntil || this.#isUseless(instance.type, now) || this.#isUseless(instance.id, now)) return [];
    if (this.#denial !== undefined && now < this.#denial.until) return this.#denied(instance, this.#denial.error);
    return undefined;
  }

  async #ask(instance: Instance, ask: Ask, denied: (error: AwsError) => void): Promise<readonly string[]> {
    const { topology, clock, log } = this.#options;
    try {
      const nodes = (await topology.networkNodes(instance.id, ask)) ?? [];
      if (nodes.length > 0) this.#keep(instance, nodes);
      else this.#learnUseless(instance);
      return nodes;
    } catch (error) {
      if (isAwsError(error, "unsupported")) {
        this.#regionUselessUntil = clock.monotonic() + dayMs;
        return [];
      }
      if (!isAwsError(error, "denied")) throw error;
      if (this.#denial === undefined || clock.monotonic() >= this.#denial.until) {
        log.warn("network topology labels are left out", { error });
        denied(error);
      }
      this.#denial = { error, until: clock.monotonic() + deniedMs };
      return this.#denied(instance, error);
    }
  }

  /** Who has not allowed the call can do without the labels, unless the machine is of a kind that is bought for its place in the network. */
  #denied(instance: Instance, error: unknown): readonly string[] {
    if (this.#isRequired(instance)) throw error;
    return [];
  }

  #keep(instance: Instance, nodes: readonly string[]): void {
    this.#supported.add(instance.type);
    this.#known.set(instance.id, nodes);
    if (this.#known.size > maxKept) this.#known.delete(this.#known.keys().next().value!);
  }

  #learnUseless(instance: Instance): void {
    // EC2 tells the topology of running instances only: an answer about another says nothing.
    if (instance.state !== "running") {
      if (this.#isRequired(instance)) throw new Error(`EC2 gives no network topology for ${instance.id} while it is ${instance.state}`);
      return;
    }
    const what = this.#isRequired(instance) || this.#supported.has(instance.type) ? instance.id : instance.type;
    this.#useless.set(what, this.#options.clock.monotonic() + dayMs);
    if (this.#useless.size > maxKept) this.#useless.delete(this.#useless.keys().next().value!);
  }

  #isUseless(what: string, now: number): boolean {
    return now < (this.#useless.get(what) ?? Number.NEGATIVE_INFINITY);
  }

  #isRequired({ type }: Instance): boolean {
    return this.#options.required.test(type);
  }
}
