/** What wakes the Service controller. */
import type { Nodes } from "../../identity/node-view.ts";
import { keyOf } from "../../kube/store.ts";
import type { Source } from "../../runtime/controller.ts";
import { type Clock, sleep } from "../../runtime/world.ts";
import { concernsTargets } from "./nodes.ts";
import { needsCleanup, type SeenService, type Services } from "./seen.ts";

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
        const waits = before !== undefined || !either.published || needsCleanup(either);
        enqueue(keyOf(either), waits ? "user" : "background");
      });
      signal.addEventListener("abort", unsubscribe, { once: true });
      await Promise.race([services.synced, aborted(signal)]);
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Nodes often come and go in numbers: what happens within this time is looked at together. */
const gatherMs = 1_000;

/** Changes of Nodes, each a reason to look at the targets of all these Services. */
export function nodeSource(nodes: Nodes, clock: Clock, keys: () => readonly string[]): Source {
  return {
    name: nodes.name,
    async start(enqueue, signal) {
      // Those that are there at the start are seen by every Service's first look.
      await Promise.race([nodes.synced, aborted(signal)]);
      let cancel: (() => void) | undefined;
      const tell = () => {
        cancel = undefined;
        for (const key of keys()) enqueue(key, "user");
      };
      let told = false;
      const unsubscribe = nodes.subscribe((before, after) => {
        if (told && concernsTargets(before, after)) cancel ??= clock.after(gatherMs, tell);
      });
      told = true;
      signal.addEventListener("abort", () => {
        unsubscribe();
        cancel?.();
      });
    },
  };
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

/** Somebody else's word that a key is to be looked at. */
export function wakeSource(name: string, listen: (wake: (key: string) => void) => void): Source {
  return {
    name,
    async start(enqueue) {
      listen((key) => enqueue(key));
    },
  };
}
