/** The life of a long-running process: its parts start in order, end in reverse, and the first that fails ends it all. */
import { type Election, LeadershipLost } from "./election.ts";
import type { Host } from "./host.ts";
import { sleep } from "./world.ts";

export interface Part {
  readonly name: string;
  /** Resolves when what stands on it may start. Long work must end when `life.stopping` aborts. */
  start(life: Life): Promise<void>;
  /** Ends it; unfinished work is cut when the deadline aborts. Also called when `start` was cut short. */
  stop?(deadline: AbortSignal): Promise<void>;
  /** How long `stop` may take. */
  readonly stopLimitMs?: number;
}

/** What a part knows of the whole. */
export interface Life {
  /** Aborts when the process is asked to end. */
  readonly stopping: AbortSignal;
  /** Ends the process with this error. */
  fail(error: unknown): void;
}

const defaultStopLimitMs = 5_000;
/** After an error there is only so much patience: somebody else should take over. */
const failedStopLimitMs = 2_000;

/**
 * Runs the parts until `stop` aborts; resolves when all have ended. Rejects with the first failure: at once when the
 * lease is lost, because nothing this process still did could be right, else after a brief attempt to end in order.
 */
export async function live(host: Host, parts: readonly Part[], stop: AbortSignal): Promise<void> {
  const failure = Promise.withResolvers<never>();
  const stopping = new AbortController();
  const onStop = () => stopping.abort(stop.reason);
  if (stop.aborted) onStop();
  stop.addEventListener("abort", onStop, { once: true });
  const life: Life = { stopping: stopping.signal, fail: (error) => failure.reject(error) };
  const begun: Part[] = [];
  try {
    await Promise.race([failure.promise, startAll(parts, begun, life).then(() => aborted(stopping.signal))]);
    host.log.info("stopping", { why: String(stop.reason instanceof Error ? stop.reason.message : stop.reason) });
    await Promise.race([lossOnly(failure.promise), stopAll(host, begun)]);
  } catch (error) {
    stopping.abort(error);
    if (!(error instanceof LeadershipLost)) await stopAll(host, begun, failedStopLimitMs);
    throw error;
  } finally {
    stop.removeEventListener("abort", onStop);
  }
}

/** Waits for the lease before what stands on it may start, and gives it up at the end. */
export function leaderPart(election: Election): Part {
  return {
    name: "leader election",
    async start(life) {
      await election.lead(life.stopping);
      void election.lost.then(life.fail);
    },
    stop: (deadline) => election.release(deadline),
  };
}

/** Competes for a second lease beside what runs already, and calls back on winning it. */
export function secondLeasePart(election: Election, whenLeading: () => Promise<void>): Part {
  return {
    name: "migration leader election",
    async start(life) {
      const compete = async () => {
        await election.lead(life.stopping);
        void election.lost.then(life.fail);
        await whenLeading();
      };
      compete().catch((error) => {
        if (!life.stopping.aborted) life.fail(error);
      });
    },
    stop: (deadline) => election.release(deadline),
  };
}

async function startAll(parts: readonly Part[], begun: Part[], life: Life): Promise<void> {
  for (const part of parts) {
    if (life.stopping.aborted) return;
    begun.push(part);
    try {
      await part.start(life);
    } catch (error) {
      // Being asked to end while waiting for something is no failure.
      if (life.stopping.aborted) return;
      throw error;
    }
  }
}

async function stopAll(host: Host, begun: readonly Part[], mostMs = Number.POSITIVE_INFINITY): Promise<void> {
  for (const part of begun.toReversed()) {
    if (part.stop === undefined) continue;
    const limitMs = Math.min(mostMs, part.stopLimitMs ?? defaultStopLimitMs);
    const deadline = new AbortController();
    const done = new AbortController();
    const cut = async () => {
      await sleep(host.world.clock, limitMs, done.signal);
      deadline.abort(new Error(`${part.name} did not stop within ${limitMs} ms`));
      // A moment to notice that it was cut.
      await sleep(host.world.clock, 1_000, done.signal);
      throw deadline.signal.reason;
    };
    try {
      await Promise.race([part.stop(deadline.signal), cut()]);
    } catch (error) {
      host.log.warn("a part of the process did not stop in order", { part: part.name, error });
    } finally {
      done.abort();
    }
  }
}

/** While ending, other failures are no news; a lost lease still means that no write may follow. */
function lossOnly(failure: Promise<never>): Promise<never> {
  return failure.catch((error) => {
    if (error instanceof LeadershipLost) throw error;
    return new Promise<never>(() => {});
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
