/** Watches how long the event loop keeps everybody waiting: it decides lease renewals and probes. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Host } from "./host.ts";
import { gauge, histogram } from "./metrics.ts";

/** Measures event-loop delays. */
export interface LoopDelays {
  /** The longest delay since the last call, in milliseconds. */
  takeLongestMs(): number;
}

/** The delays of the real event loop, sampled every 10 ms outside of JavaScript. */
export function machineLoopDelays(): LoopDelays {
  const resolution = 10;
  const monitor = monitorEventLoopDelay({ resolution });
  monitor.enable();
  return {
    takeLongestMs() {
      const longest = Math.max(0, monitor.max / 1e6 - resolution);
      monitor.reset();
      return longest;
    },
  };
}

const periodMs = 5_000;

/** Exports the longest delay of every five seconds, and logs one longer than `warnAboveMs`. Stops with the signal. */
export function watchEventLoop(
  host: Host,
  delays: LoopDelays,
  options: { readonly warnAboveMs: number; readonly signal: AbortSignal },
): void {
  const longest = gauge(host.metrics, {
    name: "fairlead_event_loop_longest_delay_seconds",
    help: "The longest time the event loop was blocked, in the last full five seconds.",
  });
  const all = histogram(host.metrics, {
    name: "fairlead_event_loop_delay_seconds",
    help: "The longest time the event loop was blocked, in each five seconds.",
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  let cancel: () => void = () => {};
  const look = () => {
    const ms = delays.takeLongestMs();
    longest.set(ms / 1000);
    all.observe(ms / 1000);
    if (ms > options.warnAboveMs) host.log.warn("the event loop was blocked", { ms: Math.round(ms) });
    cancel = host.world.clock.after(periodMs, look);
  };
  cancel = host.world.clock.after(periodMs, look);
  options.signal.addEventListener("abort", () => cancel(), { once: true });
}
