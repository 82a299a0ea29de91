/** The network between one replica and one server: it takes time, and it can be cut, slow or lossy. */
import type { HttpRequest, HttpResponse, Transport } from "../../src/runtime/http.ts";
import { sleep, type World } from "../../src/runtime/world.ts";
import { ConnectionReset } from "../../src/sandbox/cluster/embedded/faults.ts";
import { type Chance, chanceOf } from "./chance.ts";
import type { Machine } from "./machine.ts";

export interface NetworkLinkOptions {
  readonly world: World;
  readonly machine: Machine;
  readonly server: Transport;
  /** Told of every request at the moment it leaves the replica. */
  readonly onSend: (request: HttpRequest) => void;
  /** Told how every request ended, as far as the replica can know. */
  readonly onAnswer: (request: HttpRequest, how: string) => void;
}

/** A way to a server that can fail. */
export class NetworkLink {
  /** Nothing passes: `silent` lets requests hang, `refusing` fails them at once. */
  partition: "none" | "silent" | "refusing" = "none";
  /** How often a request that was carried out has its answer lost. */
  lossRate = 0;
  /** The longest way of a request or an answer. */
  slownessMs = 10;
  readonly #options: NetworkLinkOptions;
  readonly #chance: Chance;
  #cuts = new AbortController();

  constructor(options: NetworkLinkOptions) {
    this.#options = options;
    this.#chance = chanceOf(options.world.random);
  }

  /** Breaks what is open now: watches end with an error. */
  cut(): void {
    this.#cuts.abort(new ConnectionReset());
    this.#cuts = new AbortController();
  }

  heal(): void {
    this.partition = "none";
    this.lossRate = 0;
    this.slownessMs = 10;
  }

  readonly send: Transport = async (request) => {
    const { machine, server, onSend, onAnswer } = this.#options;
    if (!machine.alive) await never();
    onSend(request);
    const line = AbortSignal.any([this.#cuts.signal, ...(request.signal === undefined ? [] : [request.signal])]);
    try {
      await this.#travel(line);
      // What has arrived is carried out in one go: giving up now does not undo it.
      const response = await server({ ...request, signal: line });
      const lost = this.#chance.happens(this.lossRate);
      await this.#travel(line);
      if (lost) throw new ConnectionReset();
      await machine.running();
      onAnswer(request, String(response.status));
      return { ...response, body: this.#carried(response, line) };
    } catch (error) {
      await machine.running();
      onAnswer(request, line.aborted ? `cut: ${(line.reason as Error).message}` : (error as Error).message);
      throw line.aborted ? line.reason : error;
    }
  };

  async #travel(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options.world;
    await sleep(clock, this.#chance.between(0.5, this.slownessMs), signal);
    if (this.partition === "refusing") throw new ConnectionReset();
    while (this.partition === "silent") await sleep(clock, 1000, signal);
  }

  async *#carried(response: HttpResponse, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { machine } = this.#options;
    try {
      for await (const chunk of response.body) {
        await this.#travel(signal);
        await machine.running();
        yield chunk;
      }
    } catch (error) {
      await machine.running();
      throw error;
    }
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
