/** The metadata service of the replicas' machines, from which they have their keys: it may stall in any phase of an answer. */
import type { Transport } from "../../src/runtime/http.ts";
import { sleep } from "../../src/runtime/world.ts";
import { launchNodes } from "../../src/sandbox/cloud/network.ts";
import type { Machine } from "./machine.ts";
import type { Replica } from "./replica.ts";
import type { Scene } from "./scene.ts";
import { endsInTime } from "./time-limits.ts";

/** What the product promises of every question to it. */
const limitMs = 5_000;
const address = "169.254.169.254";

export class MetadataService {
  /** The machine that all replicas run on, as far as AWS knows. */
  readonly instanceId: string;
  readonly #scene: Scene;
  readonly #answer: Transport;
  #stalls: "never" | "before the answer" | "in the middle of the answer" = "never";

  constructor(scene: Scene) {
    this.#scene = scene;
    this.instanceId = launchNodes(scene.cloud, scene.network, 1)[0]!.id;
    this.#answer = scene.cloud.imds(this.instanceId);
  }

  /** The network of a machine: the metadata service is on it, and AWS beyond it. */
  nextTo(machine: Machine, aws: Transport): Transport {
    return async (request) => {
      if (request.url.hostname !== address) return aws(request);
      if (!machine.alive || this.#stalls === "before the answer") await until(request.signal);
      const answer = await this.#answer(request);
      await machine.running();
      // Whoever reads it may be as deaf as a connection that nobody closes: the limit must hold without its help.
      return this.#stalls === "never" ? answer : { ...answer, body: nothing() };
    };
  }

  /** For a while it answers by half, or not at all. */
  stall(): void {
    const { chance, world, history } = this.#scene;
    this.#stalls = chance.pick(["before the answer", "in the middle of the answer"] as const)!;
    history.tell("faults", `the metadata service stalls ${this.#stalls}`);
    world.clock.after(chance.between(2_000, 60_000), () => {
      this.#stalls = "never";
    });
  }

  /** Asks it on each replica's behalf, until the signal aborts. */
  async askAround(replicas: () => readonly Replica[], signal: AbortSignal): Promise<void> {
    const { chance, world } = this.#scene;
    while (!signal.aborted) {
      for (const replica of replicas()) if (replica.machine.alive) void this.#ask(replica);
      await sleep(world.clock, chance.between(1_000, 8_000), signal).catch(() => {});
    }
  }

  async #ask(replica: Replica): Promise<void> {
    const asking = replica.metadata.instanceId();
    asking.then(
      (id) => {
        if (id !== this.instanceId) this.#scene.history.broken("the metadata service is understood", `${id} is not ${this.instanceId}`);
      },
      () => {},
    );
    await endsInTime(this.#scene, replica.machine, limitMs, `${replica.name}'s question to the metadata service`, asking);
  }
}

function until(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  await new Promise(() => {});
}
