/**
 * Keeps somebody told of the state of a resource: lists, watches, and takes up again whatever happens in between.
 *
 *     list ──► watch ──► orderly close, half a line, wire error, silence ──► watch again from the last version seen
 *       ▲                410, malformed line, any other refusal in a watch ─┐
 *       └────────────────────────────────────────────────────────────────┘
 *
 * A list is streamed (a watch that begins with the whole state) and, when that fails, fetched by pages. It never ends but
 * by its signal. It pauses only after errors, and before a list that follows soon after another.
 */

import { backOffMs } from "../runtime/back-off.ts";
import type { Host } from "../runtime/host.ts";
import { messageOf } from "../runtime/message-of.ts";
import { jittered, sleep } from "../runtime/world.ts";
import type { KubeClient } from "./client.ts";
import type { ApiErrorReason, Status } from "./errors.ts";
import { isApiError, statusError } from "./errors.ts";
import type { InformerMetrics } from "./informer-metrics.ts";
import { walkPages } from "./list.ts";
import type { KubeObject, Resource, Stored } from "./resource.ts";
import { nameOf } from "./resource.ts";
import type { WatchEvent } from "./watch-stream.ts";
import { MalformedLine, readWatch, Stalled } from "./watch-stream.ts";

/** Which objects of a resource. */
export interface Scope {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Where the reflector tells what it sees. `A` is what the receiver makes of an object as soon as it is parsed. */
export interface Mirror<T extends KubeObject, A> {
  admit(object: Stored<T>): A;
  /** A list begins: what is not put until it ends is gone. */
  beginList(): void;
  put(admitted: A): void;
  remove(object: Stored<T>): void;
  endList(): void;
}

export interface ReflectorOptions<T extends KubeObject, A> {
  readonly host: Host;
  readonly client: KubeClient;
  readonly of: Resource<T>;
  readonly scope: Scope;
  readonly mirror: Mirror<T, A>;
  readonly metrics: InformerMetrics;
}

const silenceMs = 90_000;
/** While the first state is streamed; a server that knows how never pauses this long. */
const silenceInListMs = 30_000;
const watchLastsSeconds = 300;
const backoff = { baseMs: 500, maxMs: 15_000 };
/** A watch that ended sooner and told nothing is a fault, however orderly: taking it up at once would be a hot loop. */
const shortestWatchMs = 1_000;
/** A watch that told something, or lasted this long, shows that all is well: earlier failures are forgotten. */
const goodWatchMs = 10_000;
/** After so many refusals of the version we stand at, it is worth nothing: list anew. */
const refusalsBeforeRelist = 5;
const endOfInitialEvents = "k8s.io/initial-events-end";

/** The server closed a streamed list before its end, or never marks it: it does not know streamed lists. */
class NotStreamed extends Error {
  override readonly name = "NotStreamed";
}

/** Lists and watches one resource until its signal aborts. */
export class Reflector<T extends KubeObject, A> {
  readonly #options: ReflectorOptions<T, A>;
  readonly #what: string;
  /** Where to take up the watch; undefined when a list is needed. */
  #version: string | undefined;
  /** Within a streamed list, before its end mark. */
  #listing = false;
  #streams = true;
  /** When the last list was complete (monotonic). */
  #listedAt: number | undefined;
  /** Lists in a row that were of no use for long. */
  #shortLived = 0;
  #listed = false;
  #opened = false;
  /** Whether this watch has told anything since it stood. */
  #progressed = false;
  /** Since when this watch stands (monotonic). */
  #freshAt: number | undefined;
  #failures = 0;
  /** Whether the log's last word on this resource is a complaint. */
  #complained = false;

  constructor(options: ReflectorOptions<T, A>) {
    this.#options = options;
    this.#what = nameOf(options.of, options.scope);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options.host.world;
    while (!signal.aborted) {
      this.#freshAt = undefined;
      this.#progressed = false;
      let trouble: unknown;
      try {
        await this.#pass(signal);
        if (!this.#lasted(shortestWatchMs)) trouble = new Error(`watch ${this.#what}: closed as soon as it was opened`);
      } catch (error) {
        if (signal.aborted) break;
        trouble = error;
      }
      if (this.#lasted(goodWatchMs)) this.#failures = 0;
      this.#options.metrics.stale(clock.now());
      const pauseMs = this.#pauseAfter(trouble);
      if (pauseMs > 0) await sleep(clock, pauseMs, signal).catch(() => {});
    }
  }

  /** From where we stand to the end of one connection. */
  async #pass(signal: AbortSignal): Promise<void> {
    if (this.#version !== undefined) return this.#watch(signal, { resourceVersion: this.#version });
    this.#countList();
    if (this.#streams) {
      try {
        return await this.#streamedList(signal);
      } catch (error) {
        if (signal.aborted || !this.#listing || isApiError(error, ...sayNothingOfTheVersion)) throw error;
        // A refusal that may pass (500 while etcd lacks a feature) is asked again at the next list; a clear no is not.
        if (saysNotStreamed(error)) this.#streams = false;
        this.#count(error);
        const why = messageOf(error);
        this.#options.host.log.v(2)?.info("the list could not be streamed, listing by pages", { resource: this.#what, why });
      } finally {
        this.#listing = false;
      }
    }
    this.#version = await this.#pagedList(signal);
    return this.#watch(signal, { resourceVersion: this.#version });
  }

  async #streamedList(signal: AbortSignal): Promise<void> {
    this.#listing = true;
    this.#options.mirror.beginList();
    await this.#watch(signal, { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", resourceVersion: "" });
    if (this.#listing) throw new NotStreamed(`watch ${this.#what}: the streamed list ended without its end mark`);
  }

  async #pagedList(signal: AbortSignal): Promise<string> {
    const { client, of, scope, mirror } = this.#options;
    const fetch = (page: Scope & { readonly signal: AbortSignal }) => client.page(of, page, (object) => mirror.admit(object));
    const version = await walkPages(
      fetch,
      { ...scope, signal },
      {
        begin: () => mirror.beginList(),
        page(items) {
          for (const item of items) mirror.put(item);
        },
      },
    );
    mirror.endList();
    this.#listedAt = this.#options.host.world.clock.monotonic();
    return version;
  }

  #watch(signal: AbortSignal, from: Readonly<Record<string, string>>): Promise<void> {
    const { client, of, scope, host, metrics } = this.#options;
    const query = {
      ...scope,
      ...from,
      allowWatchBookmarks: "true",
      timeoutSeconds: String(Math.floor(jittered(host.world.random, watchLastsSeconds, 1))),
    };
    return readWatch({
      clock: host.world.clock,
      what: `watch ${this.#what}`,
      signal,
      open: (connection) => client.watch(of, query, connection),
      onOpen: () => {
        if (this.#opened) metrics.reconnected();
        this.#opened = true;
        if (!this.#listing) this.#fresh();
      },
      onEvent: (event) => this.#take(event),
      silenceMs: () => (this.#listing ? silenceInListMs : silenceMs),
    });
  }

  #take({ type, object }: WatchEvent): void {
    const { mirror, host } = this.#options;
    if (type === "ERROR") throw watchError(this.#what, object as Status);
    if (!this.#listing) this.#progressed = true;
    const stored = object as Stored<T>;
    const version = stored.metadata?.resourceVersion;
    if (typeof version !== "string") throw new MalformedLine(`watch ${this.#what}: an event without a resourceVersion`, { half: false });
    if (type === "ADDED" || type === "MODIFIED") mirror.put(mirror.admit(stored));
    else if (type === "DELETED") mirror.remove(stored);
    else if (type !== "BOOKMARK") host.log.warn("unknown type of watch event", { resource: this.#what, type });
    else if (this.#listing) this.#endStreamedList(stored);
    if (!this.#listing) this.#version = version;
  }

  #endStreamedList(bookmark: Stored<T>): void {
    if (bookmark.metadata.annotations?.[endOfInitialEvents] !== "true")
      throw new NotStreamed(`watch ${this.#what}: bookmarks do not mark the end of the list`);
    this.#listing = false;
    this.#options.mirror.endList();
    this.#listedAt = this.#options.host.world.clock.monotonic();
    this.#fresh();
  }

  #fresh(): void {
    this.#freshAt = this.#options.host.world.clock.monotonic();
    if (this.#complained) this.#options.host.log.info("connected to the API server again", { resource: this.#what });
    this.#complained = false;
    this.#options.metrics.fresh();
  }

  #lasted(ms: number): boolean {
    if (this.#progressed) return true;
    return this.#freshAt !== undefined && this.#options.host.world.clock.monotonic() - this.#freshAt >= ms;
  }

  #countList(): void {
    if (this.#listed) this.#options.metrics.relisted();
    this.#listed = true;
  }

  /** Notes what ended a connection, decides whether the version we stand at is still good, and how long to wait. */
  #pauseAfter(trouble: unknown): number {
    if (trouble === undefined) return 0;
    const { host } = this.#options;
    this.#failures++;
    const first = this.#failures === 1;
    this.#count(trouble);
    if (this.#needsList(trouble)) this.#version = undefined;
    const log = first ? host.log : host.log.v(2);
    this.#complained ||= first;
    log?.warn(explained(trouble, this.#what), { resource: this.#what, failures: this.#failures });
    const beforeListMs = this.#version === undefined ? this.#pauseBeforeList() : 0;
    // These say nothing of the server's health, and the sooner we are back the better; unless it happens again.
    if (first && (trouble instanceof Stalled || trouble instanceof MalformedLine || isApiError(trouble, "gone"))) return beforeListMs;
    return Math.max(beforeListMs, this.#backOff(this.#failures), isApiError(trouble) ? (trouble.retryAfterMs ?? 0) : 0);
  }

  /** Whatever a watch told before it failed, a list is dear: when the last one was of use for a moment only, the next one waits. */
  #pauseBeforeList(): number {
    if (this.#listedAt === undefined) return 0;
    const lastedMs = this.#options.host.world.clock.monotonic() - this.#listedAt;
    this.#shortLived = lastedMs < goodWatchMs ? this.#shortLived + 1 : 0;
    return this.#shortLived < 2 ? 0 : this.#backOff(this.#shortLived);
  }

  #backOff(failures: number): number {
    return jittered(this.#options.host.world.random, backOffMs(backoff, failures), 1);
  }

  #count(trouble: unknown): void {
    const { metrics } = this.#options;
    if (trouble instanceof Stalled) metrics.stalled();
    if (trouble instanceof MalformedLine) metrics.malformed();
  }

  #needsList(trouble: unknown): boolean {
    if (trouble instanceof MalformedLine) return !trouble.half;
    if (!isApiError(trouble) || sayNothingOfTheVersion.includes(trouble.reason)) return false;
    return trouble.status < 500 || this.#failures >= refusalsBeforeRelist;
  }
}

/** Neither that the version is too old nor that lists are not streamed: no server, no right, no capacity. */
const sayNothingOfTheVersion: readonly ApiErrorReason[] = ["unreachable", "unauthorized", "forbidden", "too-many-requests"];

function saysNotStreamed(error: unknown): boolean {
  return error instanceof NotStreamed || error instanceof Stalled || isApiError(error, "bad-request", "invalid", "not-allowed");
}

/** An ERROR event carries a Status with its own code; a watch that was already open ends with it. */
function watchError(what: string, status: Status): Error {
  return statusError(`watch ${what}`, status.code ?? 500, status);
}

function explained(trouble: unknown, what: string): string {
  const message = messageOf(trouble);
  if (isApiError(trouble, "forbidden")) return `${message}; grant this identity get, list and watch on ${what}`;
  // Errors of the wire do not know what they interrupted.
  return message.includes(what) ? message : `watch ${what}: the connection was lost: ${message}`;
}
