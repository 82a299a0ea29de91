/** Waits for an API server that has just been started. */
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import { type Clock, sleep } from "../runtime/world.ts";
import { ApiServerUnhealthy } from "./errors.ts";

/** Asks once a second, for ten seconds. */
export async function apiServerAnswers(client: KubeClient, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await client.raw("/healthz", { signal, timeoutMs: 5_000 });
      return;
    } catch (cause) {
      signal.throwIfAborted();
      // A refusal proves that the server is up.
      if (isApiError(cause, "forbidden", "unauthorized")) return;
      if (tries === 10) throw new ApiServerUnhealthy(cause);
      await sleep(clock, 1_000, signal);
    }
  }
}
