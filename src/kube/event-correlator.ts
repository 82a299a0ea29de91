/** Decides what becomes of an event: said for the first time, counted up on an earlier one, combined, or dropped. */
import type { World } from "../runtime/world.ts";
import { Lru } from "./lru.ts";
import { TokenBucket } from "./token-bucket.ts";
import type { Event } from "./types.ts";

/** The object an event is about. */
export interface ObjectRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Something that happened and is to be told. */
export interface Occurrence {
  readonly object: ObjectRef;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** What counts as the same thing said again; the message unless given. For messages that differ in times and request ids only. */
  readonly same?: string | undefined;
  /** Which part of the product says it. */
  readonly component: string;
  /** The machine that it runs on, where that is told. */
  readonly host?: string | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly atMs: number;
}

/** What to send: a new event, a higher count on one sent before, or nothing. */
export type Sending = { readonly kind: "create" | "count"; readonly event: Event } | { readonly kind: "drop" };

const remembered = 4096;
const similarBeforeCombining = 10;
const similarWithinMs = 600_000;
const burst = 25;
const refillPerSecond = 1 / 300;
const maxMessageLength = 1024;
const maxNameLength = 253;
const combinedPrefix = "(combined from similar events): ";

/** An event on the server and how often it has been said. */
interface Series {
  readonly name: string;
  readonly firstMs: number;
  count: number;
}

/** Correlates as clients in Go do, so that a flood of events becomes a few that count. */
export class EventCorrelator {
  readonly #world: World;
  readonly #series = new Lru<Series>(remembered);
  readonly #similar = new Lru<{ readonly things: Set<string>; lastMs: number }>(remembered);
  readonly #buckets = new Lru<TokenBucket>(remembered);

  constructor(world: World) {
    this.#world = world;
  }

  correlate(occurrence: Occurrence): Sending {
    const { component, type, reason, atMs } = occurrence;
    const { apiVersion, kind, namespace, name, uid } = occurrence.object;
    const about = [component, apiVersion, kind, namespace, name, uid].join("\n");
    const group = [about, type, reason].join("\n");
    const combined = this.#isOneTooMany(group, occurrence);
    const series = this.#series.getOr(combined ? group : `${group}\n${occurrence.same ?? occurrence.message}`, () => ({
      name: this.#nameFor(occurrence),
      firstMs: atMs,
      count: 0,
    }));
    series.count++;
    // What is dropped here still counts: the next one that passes carries the whole count.
    const bucket = this.#buckets.getOr(about, () => new TokenBucket(this.#world.clock, refillPerSecond, burst));
    if (!bucket.tryTake()) return { kind: "drop" };
    const message = `${combined ? combinedPrefix : ""}${occurrence.message}`.slice(0, maxMessageLength);
    return { kind: series.count === 1 ? "create" : "count", event: eventOf(occurrence, series, message) };
  }

  #isOneTooMany(group: string, { message, same = message, atMs }: Occurrence): boolean {
    const similar = this.#similar.getOr(group, () => ({ things: new Set<string>(), lastMs: atMs }));
    if (atMs - similar.lastMs > similarWithinMs) similar.things.clear();
    similar.lastMs = atMs;
    if (similar.things.has(same)) return false;
    if (similar.things.size >= similarBeforeCombining) return true;
    similar.things.add(same);
    return false;
  }

  #nameFor({ object, atMs }: Occurrence): string {
    const nanoseconds = BigInt(Math.floor(atMs)) * 1_000_000n + BigInt(Math.floor(this.#world.random.number() * 1_000_000));
    const suffix = `.${nanoseconds.toString(16)}`;
    return object.name.slice(0, maxNameLength - suffix.length) + suffix;
  }
}

function eventOf(occurrence: Occurrence, { name, count, firstMs }: Series, message: string): Event {
  const { object, type, reason, component, host, annotations, atMs } = occurrence;
  return {
    metadata: { name, namespace: object.namespace || "default", ...(annotations && { annotations }) },
    involvedObject: { ...object },
    type,
    reason,
    message,
    count,
    firstTimestamp: wholeSeconds(firstMs),
    lastTimestamp: wholeSeconds(atMs),
    source: { component, ...(host !== undefined && { host }) },
    reportingComponent: component,
  };
}

/** Event times carry no fraction: the server refuses none, but readers of Go's events expect none. */
function wholeSeconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
