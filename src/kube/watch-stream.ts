/** One watch connection, from opening to its end. */

import { yieldingBetween } from "../runtime/event-loop-turns.ts";
import type { HttpResponse } from "../runtime/http.ts";
import type { Clock } from "../runtime/world.ts";
import { JsonLines } from "./json-lines.ts";

/** One line of a watch. */
export interface WatchEvent {
  readonly type: string;
  readonly object: object;
}

/** The connection is open but silent: nobody can tell whether anything is at the other end. */
export class Stalled extends Error {
  override readonly name = "Stalled";
}

/** A line that is no event. Nothing that comes after it on this connection can be trusted. */
export class MalformedLine extends Error {
  override readonly name = "MalformedLine";
  /** The line was cut off: all lines before it were whole. */
  readonly half: boolean;
  constructor(message: string, options: { readonly half: boolean; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.half = options.half;
  }
}

export interface WatchReading {
  readonly clock: Clock;
  /** For messages: `watch nodes`. */
  readonly what: string;
  readonly signal: AbortSignal;
  open(signal: AbortSignal): Promise<HttpResponse>;
  onOpen(): void;
  onEvent(event: WatchEvent): void;
  /** How long silence is borne at this moment. */
  silenceMs(): number;
}

/**
 * Reads a watch until the server closes it in good order. Rejects with `Stalled`, `MalformedLine`, whatever `onEvent`
 * throws, the error of the opening or of the wire; with the signal's reason when it aborts. The connection is gone then.
 */
export async function readWatch(reading: WatchReading): Promise<void> {
  const connection = new AbortController();
  const onAbort = () => connection.abort(reading.signal.reason);
  reading.signal.throwIfAborted();
  reading.signal.addEventListener("abort", onAbort, { once: true });
  const silence = new Silence(reading, (error) => connection.abort(error));
  const yielding = yieldingBetween(reading.clock);
  const lines = new JsonLines((line) => reading.onEvent(parsed(line, reading.what)));
  try {
    const { body } = await reading.open(connection.signal);
    reading.onOpen();
    for await (const chunk of body) {
      silence.broken();
      await yielding(() => lines.push(chunk));
      connection.signal.throwIfAborted();
    }
  } catch (error) {
    if (connection.signal.aborted) throw connection.signal.reason;
    throw lines.broken && !(error instanceof MalformedLine) ? halfLine(reading.what, error) : error;
  } finally {
    silence.stop();
    reading.signal.removeEventListener("abort", onAbort);
    connection.abort();
  }
  if (lines.broken) throw halfLine(reading.what);
}

function halfLine(what: string, cause?: unknown): MalformedLine {
  return new MalformedLine(`${what}: the connection ended in the middle of a line`, { half: true, cause });
}

function parsed(line: string, what: string): WatchEvent {
  let event: Partial<WatchEvent> | null;
  try {
    event = JSON.parse(line) as Partial<WatchEvent> | null;
  } catch {
    // The parser's message would quote the object, which may be a Secret.
    throw new MalformedLine(`${what}: a line is not JSON (${line.length} characters)`, { half: false });
  }
  if (typeof event?.type !== "string" || typeof event.object !== "object" || event.object === null) {
    throw new MalformedLine(`${what}: a line is not a watch event`, { half: false });
  }
  return event as WatchEvent;
}

/** Watches for silence with one timer in flight, set anew only when it fires: bytes may come thousands of times a second. */
class Silence {
  readonly #reading: WatchReading;
  readonly #onStall: (error: Stalled) => void;
  #last: number;
  #cancel: () => void;

  constructor(reading: WatchReading, onStall: (error: Stalled) => void) {
    this.#reading = reading;
    this.#onStall = onStall;
    this.#last = reading.clock.monotonic();
    this.#cancel = this.#wait(reading.silenceMs());
  }

  broken(): void {
    this.#last = this.#reading.clock.monotonic();
  }

  stop(): void {
    this.#cancel();
  }

  #wait(ms: number): () => void {
    const { clock, what, silenceMs } = this.#reading;
    return clock.after(ms, () => {
      const leftMs = this.#last + silenceMs() - clock.monotonic();
      if (leftMs > 0) this.#cancel = this.#wait(leftMs);
      else this.#onStall(new Stalled(`${what}: no byte for ${Math.round((clock.monotonic() - this.#last) / 1000)} s`));
    });
  }
}
