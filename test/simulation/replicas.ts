/** The processes of one world: two run, and whichever ends is followed by another. */

import type { VirtualWorld } from "../../src/sandbox/virtual-clock.ts";
import type { Chance } from "./chance.ts";
import type { Machine } from "./machine.ts";
import type { NetworkLink } from "./network-link.ts";

/** One process of the controller manager. */
export interface Resident {
  readonly name: string;
  readonly machine: Machine;
  readonly kubeLink: NetworkLink;
  readonly awsLink: NetworkLink;
  readonly leading: boolean;
  /** Runs until it ends by itself, crashes or has left; then `onExit` is called, unless it crashed. */
  run(onExit: () => void): void;
  /** Asks it to end in order. */
  leave(): void;
  /** Nothing of it happens any more. */
  crash(): void;
  /** Lets go of everything, after a crash: signals that somebody still listens to are kept in memory by Node. */
  bury(): void;
}

export class Replicas<R extends Resident> {
  readonly #scene: { readonly world: VirtualWorld; readonly chance: Chance };
  readonly #make: (name: string) => R;
  readonly #all: R[] = [];
  #running: readonly R[] = [];
  #started = 0;
  #closed = false;

  constructor(scene: { readonly world: VirtualWorld; readonly chance: Chance }, make: (name: string) => R) {
    this.#scene = scene;
    this.#make = make;
    this.#start();
    this.#start();
  }

  /** Those that run now. */
  all(): readonly R[] {
    return this.#running;
  }

  /** One is gone; another takes its place after a while. */
  replace(replica: Resident): void {
    if (!this.#running.some((other) => other === replica)) return;
    this.#running = this.#running.filter((other) => other !== replica);
    this.#scene.world.clock.after(this.#scene.chance.between(1000, 10_000), () => this.#start());
  }

  close(): void {
    this.#closed = true;
    for (const replica of this.#running) replica.crash();
    this.#running = [];
    for (const replica of this.#all) replica.bury();
  }

  #start(): void {
    if (this.#closed) return;
    const replica = this.#make(`replica-${++this.#started}`);
    this.#all.push(replica);
    this.#running = [...this.#running, replica];
    replica.run(() => this.replace(replica));
  }
}
