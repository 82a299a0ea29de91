/** Events: what users read in `kubectl describe`. Recording never waits and never fails; sending happens behind it. */
import type { Host } from "../runtime/host.ts";
import { counter } from "../runtime/metrics.ts";
import { redact } from "../runtime/redact.ts";
import { jittered, sleep } from "../runtime/world.ts";
import { events } from "./builtin.ts";
import type { KubeClient } from "./client.ts";
import type { ApiErrorReason } from "./errors.ts";
import { isApiError } from "./errors.ts";
import type { ObjectRef, Occurrence, Sending } from "./event-correlator.ts";
import { EventCorrelator } from "./event-correlator.ts";
import type { KubeObject, Resource } from "./resource.ts";
import { apiVersion } from "./resource.ts";
import type { Event } from "./types.ts";

/** Records events in the name of one component, for any of these reasons. */
export interface EventRecorder<Reason extends string> {
  /**
   * Says the same again by counting it. `same` tells what that is when messages differ in times and request ids only; the
   * Event then carries the latest of them.
   */
  record(object: ObjectRef, type: "Normal" | "Warning", reason: Reason, message: string, same?: string): void;
  /** The same recorder with these annotations on every Event. */
  annotated(annotations: Readonly<Record<string, string>>): EventRecorder<Reason>;
}

/** A reference to an object read through this resource. */
export function objectRef(
  of: Resource<KubeObject>,
  object: {
    readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid?: string; readonly resourceVersion?: string };
  },
): ObjectRef {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  return { apiVersion: apiVersion(of), kind: of.kind, name, namespace, uid, resourceVersion };
}

/** A large cluster that joins at once says one thing of every Node. */
const queueLimit = 10_000;
const triesAtMost = 5;
const firstPauseMs = 1_000;
/** After these another try may help; after any other the server has said no. */
const mayPass: readonly ApiErrorReason[] = ["unreachable", "timeout", "unavailable", "internal", "too-many-requests"];

/** The pipeline that all recorders of a process share. Its client's gate should let Events through in a dry run too. */
export class EventPipeline {
  readonly #client: KubeClient;
  readonly #host: Host;
  readonly #correlator: EventCorrelator;
  readonly #dropped;
  readonly #givenUp = new AbortController();
  #queue: Occurrence[] = [];
  #pumping: Promise<void> | undefined;

  constructor(client: KubeClient) {
    this.#client = client;
    this.#host = client.host;
    this.#correlator = new EventCorrelator(this.#host.world);
    this.#dropped = counter(this.#host.metrics, {
      name: "fairlead_events_dropped_total",
      help: "Events that were not sent: too many about one object, too many waiting, refused by the server, or unsent at the end.",
      labels: ["why"],
    });
  }

  /** A recorder for a part of the product, which may name the machine that it runs on. */
  recorder(component: string, source: Pick<Occurrence, "host" | "annotations"> = {}): EventRecorder<string> {
    return {
      record: (object, type, reason, message, same) => {
        if (this.#queue.length >= queueLimit || this.#givenUp.signal.aborted) {
          this.#dropped.inc({ why: "queue" });
          return;
        }
        const atMs = this.#host.world.clock.now();
        // Messages quote what AWS, the API server and other programs have said.
        this.#queue.push({ object, type, reason, message: redact(message), same, component, ...source, atMs });
        this.#pumping ??= this.#pump();
      },
      annotated: (annotations) => this.recorder(component, { ...source, annotations: { ...source.annotations, ...annotations } }),
    };
  }

  /** Resolves when everything recorded so far is sent. When the signal aborts first, the rest is given up for good. */
  async flush(signal: AbortSignal): Promise<void> {
    const giveUp = () => this.#givenUp.abort();
    if (signal.aborted) giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    await this.#pumping;
    signal.removeEventListener("abort", giveUp);
  }

  /** Sends what is queued, one by one: the count of an event must not overtake its creation. */
  async #pump(): Promise<void> {
    // Not within the caller's turn: recording is free.
    await undefined;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      try {
        if (this.#givenUp.signal.aborted) this.#dropped.inc({ why: "shutdown" });
        else await this.#deliver(this.#correlator.correlate(next));
      } catch (error) {
        this.#dropped.inc({ why: this.#givenUp.signal.aborted ? "shutdown" : "refused" });
        this.#host.log.v(2)?.warn("an event was not recorded", { reason: next.reason, object: next.object.name, error });
      }
    }
    this.#pumping = undefined;
  }

  async #deliver(sending: Sending): Promise<void> {
    if (sending.kind === "drop") {
      this.#dropped.inc({ why: "rate" });
      return;
    }
    const { clock, random } = this.#host.world;
    for (let tried = 1; ; tried++) {
      try {
        await this.#send(sending.kind, sending.event);
        return;
      } catch (error) {
        if (!isApiError(error, ...mayPass) || tried >= triesAtMost) throw error;
        const pauseMs = Math.max(firstPauseMs * 2 ** (tried - 1), error.retryAfterMs ?? 0);
        await sleep(clock, jittered(random, pauseMs, 0.5), this.#givenUp.signal);
      }
    }
  }

  async #send(kind: "create" | "count", event: Event): Promise<void> {
    const signal = this.#givenUp.signal;
    if (kind === "count") {
      const { count, lastTimestamp, message } = event;
      const { namespace, name } = event.metadata;
      try {
        await this.#client.patch(events, { namespace, name: name! }, { strategic: { count, lastTimestamp, message } }, { signal });
        return;
      } catch (error) {
        // Events live an hour: the one to count on is gone, so it is said anew.
        if (!isApiError(error, "not-found")) throw error;
      }
    }
    try {
      await this.#client.create(events, event, { signal });
    } catch (error) {
      // An earlier try whose answer was lost.
      if (!isApiError(error, "already-exists")) throw error;
    }
  }
}
