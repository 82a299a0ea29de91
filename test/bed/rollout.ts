/** A Deployment, its pods and their kubelets, as far as a target group notices: what is rolled out, and when it is ready. */

import type { Clock } from "../../src/runtime/world.ts";
import type { Chance } from "../simulation/chance.ts";
import type { BindingWorld } from "./binding-world.ts";

/** As much of a world as a Deployment needs: whoever makes its pods, and tells of them. */
export type RolloutWorld = Pick<BindingWorld, "pods" | "addressesOf" | "passed" | "turn" | "end" | "remove"> & {
  readonly world: { readonly clock: Pick<Clock, "monotonic"> };
};

interface RolloutOptions {
  readonly size: number;
  readonly chance: Chance;
  /** A pod is ready when this says so, too: always the same, or those that pods of this moment are given. */
  readonly gate?: string | (() => readonly string[]);
  /** Pods that there may be beyond its size; 2 when left out. */
  readonly surge?: number;
}

interface RolledPod {
  readonly name: string;
  readonly address: string;
  readonly generation: number;
  readonly createdAt: number;
  readonly gates: readonly string[];
  ready: boolean;
  /** When it is to be gone; undefined as long as nobody has asked it to end. */
  endsAt?: number;
}

export class Rollout {
  readonly name: string;
  readonly #w: RolloutWorld;
  readonly #options: RolloutOptions;
  #pods: RolledPod[] = [];
  #size: number;
  #generation = 1;
  /** So many were ready at once, and are from then on until fewer are asked for. */
  #promised = 0;

  constructor(w: RolloutWorld, name: string, options: RolloutOptions) {
    this.#w = w;
    this.name = name;
    this.#options = options;
    this.#size = options.size;
  }

  roll(): void {
    this.#generation++;
  }

  scale(size: number): void {
    this.#size = size;
    this.#promised = Math.min(this.#promised, size);
  }

  /** A pod ends without a successor. One behind gates has promised to stay. */
  async lose(): Promise<void> {
    const pod = this.#options.chance.pick(this.#staying());
    if (pod !== undefined && this.#options.gate === undefined) await this.#end(pod);
  }

  /** Every step that is due now. */
  async step(): Promise<void> {
    await this.#becomeReady();
    await this.#remove();
    const staying = this.#staying();
    const current = staying.filter(({ generation }) => generation === this.#generation);
    const { surge = 2 } = this.#options;
    const missing = Math.min(this.#size - current.length, this.#size + surge - staying.length);
    if (missing > 0) await this.#create(missing);
    const spare = staying.filter(({ ready }) => ready).length - this.#size;
    const old = staying.filter(({ generation }) => generation !== this.#generation);
    const extra = current.length > this.#size ? current.slice(this.#size) : [];
    const unready = old.filter(({ ready }) => !ready);
    for (const pod of [...unready, ...[...old.filter(({ ready }) => ready), ...extra].slice(0, Math.max(0, spare))]) await this.#end(pod);
    const ready = this.#staying().filter((pod) => pod.ready).length;
    this.#promised = Math.max(this.#promised, Math.min(ready, this.#size));
  }

  /** Healthy targets that it has a right to. */
  promised(): number {
    return this.#options.gate === undefined ? 0 : this.#promised;
  }

  /** Whether a pod of this address answers and has not been asked to end. */
  isServing(address: string): boolean {
    return this.#staying().some((pod) => pod.address === address);
  }

  /** Whether a pod of this address still answers: until it is gone, also after it was asked to end. */
  answers(address: string): boolean {
    return this.#pods.some((pod) => pod.address === address);
  }

  addresses(): readonly string[] {
    return this.#staying().map(({ address }) => address);
  }

  /** Those that exist for this long: whoever decided a moment ago has seen them. */
  addressesKnownFor(ms: number): readonly string[] {
    const now = this.#w.world.clock.monotonic();
    return this.#staying()
      .filter(({ createdAt }) => now - createdAt >= ms)
      .map(({ address }) => address);
  }

  readyAddresses(): readonly string[] {
    return this.#staying()
      .filter(({ ready }) => ready)
      .map(({ address }) => address);
  }

  isDone(): boolean {
    const staying = this.#staying();
    return staying.length === this.#size && staying.every(({ ready, generation }) => ready && generation === this.#generation);
  }

  #gates(): readonly string[] {
    const { gate } = this.#options;
    if (gate === undefined) return [];
    return typeof gate === "string" ? [gate] : gate();
  }

  #staying(): readonly RolledPod[] {
    return this.#pods.filter(({ endsAt }) => endsAt === undefined);
  }

  async #create(count: number): Promise<void> {
    const gates = this.#gates();
    const names = await this.#w.pods(this.name, count, gates.length > 0 ? { gates, ready: false } : {});
    const made = this.#w.addressesOf(this.name, names);
    for (const [i, name] of names.entries())
      this.#pods.push({
        name,
        address: made[i]!,
        generation: this.#generation,
        createdAt: this.#w.world.clock.monotonic(),
        gates,
        ready: gates.length === 0,
      });
  }

  async #becomeReady(): Promise<void> {
    const waiting = this.#staying().filter(({ ready }) => !ready);
    const passed = new Map([...new Set(waiting.flatMap(({ gates }) => gates))].map((gate) => [gate, this.#w.passed(gate)]));
    const ready = waiting.filter(({ name, gates }) => gates.every((gate) => passed.get(gate)?.has(name)));
    for (const pod of ready) pod.ready = true;
    const names = ready.map(({ name }) => name);
    if (names.length > 0) await this.#w.turn(this.name, names, { ready: true });
  }

  async #end(pod: RolledPod): Promise<void> {
    const graceSeconds = Math.floor(this.#options.chance.between(5, 40));
    pod.endsAt = this.#w.world.clock.monotonic() + graceSeconds * 1_000;
    await this.#w.end(this.name, pod.name, graceSeconds);
  }

  async #remove(): Promise<void> {
    const now = this.#w.world.clock.monotonic();
    const gone = this.#pods.filter(({ endsAt }) => endsAt !== undefined && endsAt <= now);
    this.#pods = this.#pods.filter((pod) => !gone.includes(pod));
    for (const { name } of gone) await this.#w.remove(this.name, name);
  }
}
