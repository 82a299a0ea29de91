/** The log's way out of the process: a file descriptor, written beside the event loop. */
import { write, writeSync } from "node:fs";
import type { LogDestination } from "./logs.ts";
import type { Clock } from "./world.ts";

/** What may wait for a slow reader; lines beyond it are dropped rather than kept for ever. */
const maxWaiting = 8 * 1024 * 1024;
/** A pipe that is full is tried again after this; a flush tries so often, and then gives up. */
const busy = { pauseMs: 100, flushTries: 20 };

/**
 * Writes lines asynchronously, so that a slow reader does not hold up the event loop. Lines that cannot be written are
 * lost, whatever the reason: a reader that is gone must never keep the process from working, nor from ending. (This is why
 * it is not the destination that comes with pino, sonic-boom 4: its flush repeats a write to a closed pipe for ever.)
 */
export function descriptorDestination(fd: number, clock: Clock): LogDestination {
  let waiting: string[] = [];
  let length = 0;
  let writing = false;

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
      else if (isBusy(error)) clock.after(busy.pauseMs, () => send(chunk));
      else send(take());
    });
  };

  return {
    write(line) {
      if (length + line.length > maxWaiting) return;
      waiting.push(line);
      length += line.length;
      if (!writing) send(take());
    },
    flush() {
      let chunk = take();
      for (let tries = 0; chunk.length > 0 && tries < busy.flushTries; ) {
        try {
          chunk = chunk.subarray(writeSync(fd, chunk));
        } catch (error) {
          // The reader is gone, or the disk is full: there is nobody to tell.
          if (!isBusy(error)) return;
          tries++;
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busy.pauseMs);
        }
      }
    },
  };
}

function isBusy(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EAGAIN" || code === "EBUSY";
}
