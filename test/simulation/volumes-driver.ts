/** A driver that dies now and then, right after AWS has carried out a call and before it has seen the answer. */
import type { HttpRequest, HttpResponse } from "../../src/runtime/http.ts";
import { CsiError } from "../../src/volumes/csi/errors.ts";
import type { Driver, VolumeWorld } from "../bed/volume-world.ts";
import type { Chance } from "./chance.ts";
import type { History } from "./history.ts";

/** The caller has no answer: the driver died, or took too long. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
}

interface Life {
  readonly driver: Driver;
  /** Aborts with the process. */
  readonly died: AbortController;
}

export class FallibleDriver {
  crashes = true;
  readonly #scene: VolumeWorld;
  readonly #history: History;
  readonly #chance: Chance;
  #life: Life | undefined;

  constructor(scene: VolumeWorld, history: History, chance: Chance) {
    this.#scene = scene;
    this.#history = history;
    this.#chance = chance;
    this.#start();
  }

  /** Calls the driver and waits for so long. Rejects with what it refuses with, or `NoAnswer`. */
  call<T>(method: string, request: object, limitMs: number): Promise<T> {
    const life = this.#life;
    if (life === undefined) return Promise.reject(new NoAnswer("nobody listens"));
    const { clock } = this.#scene.world;
    const deadline = new AbortController();
    return new Promise<T>((resolve, reject) => {
      const give = (error: Error) => {
        cancel();
        reject(error);
        deadline.abort(new CsiError("Canceled", "the caller no longer waits"));
      };
      const onDeath = () => give(new NoAnswer("the driver died"));
      const cancel = clock.after(limitMs, () => give(new NoAnswer("the deadline has passed")));
      life.died.signal.addEventListener("abort", onDeath, { once: true });
      const settled = () => {
        cancel();
        life.died.signal.removeEventListener("abort", onDeath);
      };
      life.driver.methods[method]!(request as never, { name: method, signal: deadline.signal }).then(
        (value) => {
          settled();
          resolve(value as T);
        },
        (error: Error) => {
          settled();
          reject(error);
        },
      );
    });
  }

  #start(): void {
    const died = new AbortController();
    const transport = async (request: HttpRequest): Promise<HttpResponse> => {
      if (died.signal.aborted) return new Promise(() => {});
      const answer = await this.#scene.aws.handle(request);
      if (this.crashes && !died.signal.aborted && this.#chance.happens(0.01)) this.#crash(died);
      // A dead process sees nothing.
      return died.signal.aborted ? new Promise(() => {}) : answer;
    };
    this.#life = { driver: this.#scene.start(this.#scene.world, transport), died };
  }

  #crash(died: AbortController): void {
    this.#history.tell("driver", "dies");
    this.#life = undefined;
    died.abort();
    this.#scene.world.clock.after(this.#chance.between(500, 5_000), () => {
      this.#history.tell("driver", "starts");
      this.#start();
    });
  }
}
