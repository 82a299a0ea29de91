import type { Source } from "../runtime/controller.ts";
import type { Informer } from "./informer.ts";
import type { Frozen } from "./resource.ts";
import type { Identified } from "./store.ts";

/** Wakes a controller with the keys that a change of an object concerns. The informer is run by whoever owns it. */
export function watchSource<V extends Identified, I extends string>(
  informer: Informer<V, I>,
  keysOf: (before: Frozen<V> | undefined, after: Frozen<V> | undefined) => Iterable<string>,
): Source {
  return {
    name: informer.name,
    async start(enqueue, signal) {
      if (signal.aborted) return;
      const unsubscribe = informer.subscribe((before, after) => {
        for (const key of keysOf(before, after)) enqueue(key);
      });
      const stopped = new Promise<void>((resolve) => {
        signal.addEventListener(
          "abort",
          () => {
            unsubscribe();
            resolve();
          },
          { once: true },
        );
      });
      await Promise.race([informer.synced, stopped]);
    },
  };
}
