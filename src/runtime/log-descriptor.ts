/** The log's way out of the process: a file descriptor, written beside the event loop. */
import { write, writeSync } from "node:fs";
import type { LogDestination } from "./logs.ts";
import type { Clock } from "./world.ts";

/** What may wait for a slow reader; lines beyond it are dropped rather than kept for ever. */
const maxWaiting = 8 * 1024 * 1024;
/** Lines are gathered for so long before they are written. A flush does not wait. */
const gatherMs = 5;
/** A pipe that is full is tried again after this; a flush, which holds up everything else, sooner, so often, and then gives up. */
const busy = { pauseMs: 100, flushPauseMs: 10, flushTries: 200 };

/**
 * Writes lines asynchronously, so that a slow reader does not hold up the event loop. Lines that cannot be written are
 * lost, whatever the reason: a reader that is gone must never keep the process from working, nor from ending. (This is why
 * it is not the destination that comes with pino, sonic-boom 4: its flush repeats a write to a closed pipe for ever.)
 */
export function descriptorDestination(fd: number, clock: Clock): LogDestination {
  let waiting: string[] = [];
  let length = 0;
  let writing = false;
  /** What a full pipe has not taken yet, and the way to call off its next attempt. */
  let refused: { readonly chunk: Buffer; readonly callOff: () => void } | undefined;

  const take = (): Buffer => {
    const chunk = Buffer.from(waiting.join(""));
    waiting = [];
    length = 0;
    return chunk;
  };
  const send = (chunk: Buffer): void => {
    if (chunk.length === 0) {
      writing = false;
      return;
    }
    writing = true;
    write(fd, chunk, (error, written) => {
      if (!error) send(written < chunk.length ? chunk.subarray(written) : take());
      else if (isBusy(error)) pause(chunk);
      else send(take());
    });
  };
  const pause = (chunk: Buffer): void => {
    const callOff = clock.after(busy.pauseMs, () => {
      refused = undefined;
      send(chunk);
    });
    refused = { chunk, callOff };
  };

  return {
    write(line) {
      if (length + line.length > maxWaiting) return;
      waiting.push(line);
      length += line.length;
      if (writing) return;
      writing = true;
      // A thousand nodes write thousands of lines in a second: those of some milliseconds go out together.
      clock.after(gatherMs, () => send(take()));
    },
    flush() {
      // Also what waits for its next attempt: the last line must neither pass it nor be glued to half of another.
      const earlier = refused;
      earlier?.callOff();
      refused = undefined;
      let chunk = Buffer.concat([earlier?.chunk ?? Buffer.alloc(0), take()]);
      for (let tries = 0; chunk.length > 0 && tries < busy.flushTries; ) {
        try {
          chunk = chunk.subarray(writeSync(fd, chunk));
        } catch (error) {
          // The reader is gone, or the disk is full: there is nobody to tell.
          if (!isBusy(error)) break;
          tries++;
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busy.flushPauseMs);
        }
      }
      if (earlier !== undefined) send(chunk);
    },
  };
}

function isBusy(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EAGAIN" || code === "EBUSY";
}
