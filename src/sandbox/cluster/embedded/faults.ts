/** Bad days of an API server, by rule: refusals, delays, cut lines, answers that get lost. */
import type { HttpRequest, HttpResponse, Transport } from "../../../runtime/http.ts";
import { sleep, type World } from "../../../runtime/world.ts";

export type Effect =
  /** Answers in the API's place, with Retry-After when given. */
  | { readonly kind: "refuse"; readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly kind: "delay"; readonly ms: number }
  /** The line is cut before anything is done. */
  | { readonly kind: "reset" }
  /** The request is carried out and the line is cut before the answer arrives. */
  | { readonly kind: "lose-answer" }
  /** An admission webhook takes so long, and then lets the request pass, or fails. A client that gives up calls it off. */
  | { readonly kind: "webhook"; readonly ms: number; readonly fails: boolean }
  /** Neither an answer nor an end, until the client gives up. */
  | { readonly kind: "hang" };

export interface Fault {
  readonly match: (request: HttpRequest) => boolean;
  readonly effect: Effect;
  /** In how many of the matching requests it strikes, 0 to 1; always when absent. */
  readonly probability?: number;
  /** How often it strikes at most; without end when absent. */
  readonly times?: number;
}

/** A connection that ended, as sockets report it. */
export class ConnectionReset extends Error {
  override readonly name = "ConnectionReset";
  readonly code = "ECONNRESET";
  constructor() {
    super("read ECONNRESET");
  }
}

export class Faults {
  readonly #world: World;
  readonly #active = new Map<Fault, { left: number }>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Adds a fault; returns the function that takes it away. */
  add(fault: Fault): () => void {
    this.#active.set(fault, { left: fault.times ?? Number.POSITIVE_INFINITY });
    return () => this.#active.delete(fault);
  }

  clear(): void {
    this.#active.clear();
  }

  /** The transport, on a bad day. */
  over(send: Transport): Transport {
    return async (request) => {
      let loseAnswer = false;
      for (const effect of this.#striking(request)) {
        if (effect.kind === "refuse") return refusal(effect);
        if (effect.kind === "reset") throw new ConnectionReset();
        if (effect.kind === "hang") await never(request.signal);
        if (effect.kind === "webhook") {
          await sleep(this.#world.clock, effect.ms, request.signal);
          if (effect.fails) return refusal({ kind: "refuse", status: 500 }, webhookFailure);
        }
        if (effect.kind === "delay") await sleep(this.#world.clock, effect.ms, request.signal);
        if (effect.kind === "lose-answer") loseAnswer = true;
      }
      const response = await send(request);
      if (loseAnswer) throw new ConnectionReset();
      return response;
    };
  }

  #striking(request: HttpRequest): Effect[] {
    const effects: Effect[] = [];
    for (const [fault, state] of this.#active) {
      if (state.left <= 0 || !fault.match(request)) continue;
      if (fault.probability !== undefined && this.#world.random.number() >= fault.probability) continue;
      state.left--;
      effects.push(fault.effect);
    }
    return effects;
  }
}

const reasons: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  409: "Conflict",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

const webhookFailure =
  'Internal error occurred: failed calling webhook "slow.example.com": failed to call webhook: Post "https://slow.default.svc:443/": context deadline exceeded';

function refusal(
  effect: Extract<Effect, { kind: "refuse" }>,
  message = effect.status === 429 ? "too many requests, please try again later" : "refused by a fault that was injected",
): HttpResponse {
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason: reasons[effect.status] ?? "InternalError",
    details: effect.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: effect.retryAfterSeconds },
    code: effect.status,
  };
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (effect.retryAfterSeconds !== undefined) headers["retry-after"] = String(effect.retryAfterSeconds);
  return { status: effect.status, headers, body: once(JSON.stringify(status)) };
}

/** A body of one piece. */
export async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

function never(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
