/** One question to the API server and its answer: credentials, gate, time limit, retries, typed errors. */
import type { WriteGate } from "../runtime/gate.ts";
import type { Host } from "../runtime/host.ts";
import type { HttpResponse } from "../runtime/http.ts";
import { bodyText } from "../runtime/http.ts";
import { counter, histogram } from "../runtime/metrics.ts";
import { jittered, sleep, TimedOut, within } from "../runtime/world.ts";
import { codeOf, KubeConfigError } from "./config/access.ts";
import type { Opened, Session } from "./connections.ts";
import { ApiError, answerError, isApiError } from "./errors.ts";
import type { SemaphoreShare } from "./semaphore.ts";
import { underAll } from "./signals.ts";
import type { TokenBucket } from "./token-bucket.ts";

/** What is asked of the server. */
export interface Call {
  /** For people and for the gate: `patch nodes/ip-10-0-0-1/status`. */
  readonly asked: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  /** The form of the answer; JSON unless told otherwise. */
  readonly accept?: string;
  /** Asking twice does no more than asking once: it is asked again after a failure that may pass. */
  readonly repeatable: boolean;
  /** Never asked again by itself, not even when the server is busy: whoever calls decides. */
  readonly once?: boolean;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

export interface ExchangeOptions {
  readonly host: Host;
  readonly session: Session;
  readonly gate: WriteGate;
  readonly userAgent: string;
  readonly timeoutMs: number;
  readonly limiter: TokenBucket | undefined;
  /** Its calls wait for no place among those in work. */
  readonly urgent: boolean;
}

const triesAtMost = 4;
const firstPauseMs = 100;

/** Sends calls as one identity, through one gate. */
export class Exchange {
  readonly options: ExchangeOptions;
  readonly #share: SemaphoreShare;
  readonly #requests;
  readonly #durations;

  constructor(options: ExchangeOptions) {
    this.options = options;
    this.#share = options.session.semaphore.share();
    const { metrics } = options.host;
    this.#requests = counter(metrics, {
      name: "rest_client_requests_total",
      help: "Requests to the API server by status code, method and host.",
      labels: ["code", "method", "host"],
    });
    this.#durations = histogram(metrics, {
      name: "rest_client_request_duration_seconds",
      help: "Time to the first byte of the API server's answer, by verb and host.",
      labels: ["verb", "host"],
      buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
    });
  }

  /**
   * Asks when there is a place among the calls in work, and hands a successful answer to `read`. The time limit covers
   * everything: the wait for a place, retries, the end of the reading; `read` is called anew with every retry.
   */
  async ask<T>(call: Call, read: (answer: HttpResponse) => Promise<T>): Promise<T> {
    const endsAt = this.options.host.world.clock.monotonic() + this.#limitMs(call);
    const leave = await this.#enter(call, endsAt);
    try {
      return await this.#ask(call, read, endsAt);
    } finally {
      leave();
    }
  }

  #limitMs(call: Call): number {
    return call.timeoutMs ?? this.options.timeoutMs;
  }

  /** Resolves when it is the call's turn, with the function that gives its place back. Hundreds may wait: each with little. */
  async #enter(call: Call, endsAt: number): Promise<() => void> {
    const { limiter, urgent, host } = this.options;
    const { clock } = host.world;
    const leave = urgent ? () => {} : () => this.#share.leave();
    call.signal?.throwIfAborted();
    if (limiter === undefined && (urgent || this.#share.tryEnter())) return leave;
    let entered = false;
    try {
      await within(clock, endsAt - clock.monotonic(), call.asked, call.signal, async (signal) => {
        await limiter?.take(signal);
        if (!urgent) await this.#share.enter(signal);
        // Between the place being given and this line, and again before the wait is over, whoever asked may have given up.
        if (signal.aborted) leave();
        else entered = true;
      });
    } catch (error) {
      if (entered) leave();
      throw error instanceof TimedOut ? this.#neverSent(call, error) : error;
    }
    // The place may come at the very moment that ends the wait: nothing is sent only to be cut off.
    if (clock.monotonic() < endsAt) return leave;
    leave();
    throw this.#neverSent(call);
  }

  async #ask<T>(call: Call, read: (answer: HttpResponse) => Promise<T>, endsAt: number): Promise<T> {
    const { gate } = this.options;
    const { clock } = this.options.host.world;
    return underAll([call.signal, isWrite(call) ? gate.lost : undefined], (outer) =>
      within(clock, endsAt - clock.monotonic(), call.asked, outer, async (signal) => {
        for (let tried = 1; ; tried++) {
          try {
            return await read(await this.#authorized(call, signal));
          } catch (error) {
            const pauseMs = this.#pauseBeforeRetry(call, error, tried);
            if (signal.aborted || pauseMs === undefined || clock.monotonic() + pauseMs >= endsAt) throw error;
            await sleep(clock, pauseMs, signal);
          }
        }
      }).catch((error) => {
        throw this.#explained(call, error, outer);
      }),
    );
  }

  /** Opens a stream that lasts. No time limit and no retry: whoever watches has its own, and ends it with the signal. */
  async open(call: Call, signal: AbortSignal): Promise<HttpResponse> {
    await this.options.limiter?.take(signal);
    try {
      return await this.#authorized(call, signal);
    } catch (error) {
      throw this.#explained(call, error, signal);
    }
  }

  /**
   * The answer of a success. After a 401, or when TLS fails, credentials and certificates are got anew and the server is
   * asked once more: it did nothing yet.
   */
  async #authorized(call: Call, signal: AbortSignal): Promise<HttpResponse> {
    const { session } = this.options;
    const opened = await session.open(signal);
    try {
      return await this.#send(call, opened, signal);
    } catch (error) {
      if (isApiError(error, "unauthorized")) {
        session.config.refused(opened.access);
        return this.#send(call, await session.open(signal), signal);
      }
      if (!isOfTheWire(error) || !aboutTrust.test(codeOf(error))) throw error;
      session.config.tlsFailed();
      // An alert of the other side, unlike our own refusal of its certificate, may come after what was sent.
      if (!call.repeatable && isWrite(call) && alert.test(codeOf(error))) throw error;
      const again = await session.open(signal);
      if (again.connections === opened.connections) throw error;
      return this.#send(call, again, signal);
    }
  }

  async #send(call: Call, { connections, access }: Opened, signal: AbortSignal): Promise<HttpResponse> {
    const { session, gate, userAgent, host } = this.options;
    const url = urlOf(session.config.server, call);
    const beforeSend = isWrite(call) ? () => gate.check(call.asked) : undefined;
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    const request = {
      method: call.method,
      url,
      headers: {
        accept: call.accept ?? "application/json",
        "user-agent": userAgent,
        ...access.headers,
        ...(body === undefined ? {} : { "content-type": call.contentType ?? "application/json" }),
      },
      body,
      signal,
      beforeSend,
    };
    const startedAt = host.world.clock.monotonic();
    // Once now, which is the moment of sending where there is no socket, and once when a socket is at hand.
    beforeSend?.();
    const answer = await connections.send(request).catch((error: unknown) => {
      this.#requests.inc({ code: "<error>", method: call.method, host: url.host });
      throw error;
    });
    this.#requests.inc({ code: String(answer.status), method: call.method, host: url.host });
    this.#durations.observe({ verb: call.method, host: url.host }, (host.world.clock.monotonic() - startedAt) / 1000);
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw answerError(call.asked, answer.status, answer.headers, await bodyText(answer, 1024 * 1024));
  }

  /** How long to wait before asking again; undefined when that would be wrong or pointless. */
  #pauseBeforeRetry(call: Call, error: unknown, tried: number): number | undefined {
    if (tried >= triesAtMost || call.once) return undefined;
    const { random } = this.options.host.world;
    const backOff = jittered(random, firstPauseMs * 2 ** (tried - 1), 1);
    if (isApiError(error, "too-many-requests"))
      return error.retryAfterMs === undefined ? backOff : jittered(random, error.retryAfterMs, 0.1);
    if (!call.repeatable) return undefined;
    if (!(error instanceof ApiError)) return isOfTheWire(error) ? backOff : undefined;
    // What a server does not implement, it will not implement a moment later.
    const mayPass = (error.status >= 500 && error.status !== 501) || error.reason === "unavailable";
    return mayPass ? Math.max(backOff, error.retryAfterMs ?? 0) : undefined;
  }

  #neverSent(call: Call, cause?: TimedOut): ApiError {
    const said = `not sent within ${this.#limitMs(call) / 1000} s: other calls of the same client took all that time`;
    return new ApiError({ reason: "timeout", status: 0, asked: call.asked, said, cause });
  }

  #explained(call: Call, error: unknown, outer: AbortSignal): unknown {
    if (outer.aborted) return outer.reason;
    if (error instanceof TimedOut) {
      const said = `no answer from ${this.options.session.config.server.origin} within ${this.#limitMs(call) / 1000} s`;
      return new ApiError({ reason: "timeout", status: 0, asked: call.asked, said, cause: error });
    }
    const { server, origin, concern } = this.options.session.config;
    const kept = concern === undefined ? "" : `; what was read before is still used: ${concern}`;
    if (isApiError(error, "unauthorized") && kept !== "") return new ApiError({ ...error, said: `${error.said}${kept}`, cause: error });
    if (!isOfTheWire(error)) return error;
    const code = codeOf(error);
    const remedy = aboutTrust.test(code)
      ? `check the certificates in ${origin}${kept}`
      : `check that the API server runs and that the address, from ${origin}, is right`;
    return new ApiError({
      reason: "unreachable",
      status: 0,
      asked: call.asked,
      said: `cannot reach ${server.origin} (${code}); ${remedy}`,
      cause: error,
    });
  }
}

const aboutTrust = /CERT|SELF_SIGNED|UNABLE_TO_|ISSUER|ERR_TLS|ERR_SSL|OSSL/;
const alert = /^ERR_SSL/;

function isWrite(call: Call): boolean {
  return call.method !== "GET";
}

/** Neither our own refusal nor the server's: something between us and it. */
function isOfTheWire(error: unknown): boolean {
  return error instanceof Error && typeof (error as { code?: unknown }).code === "string" && !(error instanceof KubeConfigError);
}

function urlOf(server: URL, call: Call): URL {
  const url = new URL(server.pathname.replace(/\/$/, "") + call.path, server);
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return url;
}
