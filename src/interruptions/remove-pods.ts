/** Evictions and deletions of pods, as many at once as the budget allows. */
import { pods } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import { refusalIn } from "../runtime/gate.ts";
import { messageOf } from "../runtime/message-of.ts";
import type { DeadlineBudget } from "./deadline-budget.ts";
import type { Attempt, PodRemoval } from "./pods.ts";
import type { WorkingMemory } from "./working-memory.ts";

/** A pod that may not go yet is asked for again after this long. */
const retryMs = 5_000;
/** A pod that was accepted and does not go is asked for again after this long: the answer may have been for another incarnation. */
const acceptedMs = 60_000;

export class PodRemover {
  readonly #kube: KubeClient;
  readonly #budget: DeadlineBudget;

  constructor(kube: KubeClient, budget: DeadlineBudget) {
    this.#kube = kube;
    this.#budget = budget;
  }

  /** Tries all of them, side by side, and remembers what became of each. Fails only when nothing may be written at all. */
  async remove(removals: readonly PodRemoval[], deadline: number | undefined, memory: WorkingMemory, signal: AbortSignal): Promise<void> {
    await Promise.all(
      removals.map((removal) =>
        this.#budget.run(deadline ?? Number.POSITIVE_INFINITY, async () => {
          signal.throwIfAborted();
          memory.attempts.set(removal.pod.metadata.uid, await this.#try(removal, signal));
        }),
      ),
    );
  }

  async #try(removal: PodRemoval, signal: AbortSignal): Promise<Attempt> {
    const { host } = this.#kube;
    const { how, pod } = removal;
    const named = `${pod.metadata.namespace}/${pod.metadata.name}`;
    host.log.info(how === "evict" ? `evicting pod ${named}` : `deleting pod ${named}`, { node: pod.node });
    try {
      await this.#send(removal, signal);
    } catch (error) {
      if (refusalIn(error) !== undefined || signal.aborted) throw error;
      // Gone, or another pod of the same name: either way this one has left.
      if (!isApiError(error, "not-found", "conflict")) {
        const refusal = isApiError(error) ? error.said : messageOf(error);
        host.log.warn(`error when evicting pods/"${pod.metadata.name}" -n "${pod.metadata.namespace}" (will retry after 5s)`, { refusal });
        return { how, accepted: false, refusal, retryAt: host.world.clock.now() + retryMs };
      }
    }
    return { how, graceSeconds: removal.graceSeconds, accepted: true, retryAt: host.world.clock.now() + acceptedMs };
  }

  async #send({ how, pod, graceSeconds }: PodRemoval, signal: AbortSignal): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    if (how === "delete") {
      await this.#kube.delete(
        pods,
        { namespace, name },
        { uid, signal, ...(graceSeconds !== undefined && { gracePeriodSeconds: graceSeconds }) },
      );
      return;
    }
    const eviction = {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name, namespace },
      deleteOptions: { preconditions: { uid }, ...(graceSeconds !== undefined && { gracePeriodSeconds: graceSeconds }) },
    };
    await this.#kube.createSubresource(pods, { namespace, name, subresource: "eviction" }, eviction, { signal, once: true });
  }
}
