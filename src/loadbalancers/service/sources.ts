/** What wakes the Service controller. */
import { keyOf } from "../../kube/store.ts";
import type { Source } from "../../runtime/controller.ts";
import { type Clock, sleep } from "../../runtime/world.ts";
import type { SeenService, Services } from "../service-state.ts";
import { taskOf } from "./seen.ts";

/** Changes of Services that matter. What has its address already when it is first seen waits for no one: edits go before it. */
export function serviceSource(
  services: Services,
  concerned: (before: SeenService | undefined, after: SeenService | undefined) => boolean,
): Source {
  return {
    name: services.name,
    async start(enqueue, signal) {
      const unsubscribe = services.subscribe((before, after) => {
        const either = after ?? before;
        if (either === undefined || !concerned(before, after)) return;
        const waits = before !== undefined || either.published.length === 0 || taskOf(either).kind === "clean-up";
        enqueue(keyOf(either), waits ? "user" : "background");
      });
      signal.addEventListener("abort", unsubscribe, { once: true });
      await Promise.race([services.synced, aborted(signal)]);
    },
  };
}

/** Resolves when it is. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

const driftTickMs = 60_000;

/** Services whose turn it is to be read fully, asked for once a minute. */
export function driftSource(clock: Clock, due: () => readonly string[]): Source {
  return {
    name: "drift",
    async start(enqueue, signal) {
      const tick = async () => {
        for (;;) {
          await sleep(clock, driftTickMs, signal);
          for (const key of due()) enqueue(key, "background");
        }
      };
      tick().catch(() => {});
    },
  };
}

/** Somebody else's word that a key is to be looked at. Nothing at all is looked at before `ready` is. */
export function wakeSource(name: string, listen: (wake: (key: string) => void) => void, ready?: Promise<unknown>): Source {
  return {
    name,
    async start(enqueue, signal) {
      listen((key) => enqueue(key));
      if (ready !== undefined) await Promise.race([ready, aborted(signal)]);
    },
  };
}
