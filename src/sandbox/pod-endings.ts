/** What kubelets do about pods that are to go: a moment later, or when they have slept before, their containers have ended, and the pod is gone. */
import { pods } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Informer, Trimmed } from "../kube/informer.ts";
import type { Pod } from "../kube/types.ts";
import { sleep } from "../runtime/world.ts";

/** How long containers take to end here, whatever their grace period. */
const endMs = 500;

/** Ends pods until the signal aborts. */
export async function endPods(
  kube: KubeClient,
  seen: Informer<Trimmed<Pod>>,
  complain: (message: string, error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  const ending = new Set<string>();
  const end = async (namespace: string, name: string, uid: string, sleepMs: number) => {
    try {
      await sleep(kube.host.world.clock, sleepMs + endMs, signal);
      await kube.delete(pods, { namespace, name }, { uid, gracePeriodSeconds: 0, signal });
    } catch (error) {
      if (!signal.aborted) complain(`pod ${namespace}/${name} could not be ended`, error);
    } finally {
      ending.delete(uid);
    }
  };
  const unsubscribe = seen.subscribe((_, pod) => {
    const { name, namespace = "", uid, deletionTimestamp } = pod?.metadata ?? { name: "", uid: "" };
    if (deletionTimestamp === undefined || ending.has(uid)) return;
    ending.add(uid);
    const sleeps = (pod?.spec?.containers ?? []).map(({ lifecycle }) => lifecycle?.preStop?.sleep?.seconds ?? 0);
    void end(namespace, name, uid, Math.max(0, ...sleeps) * 1_000);
  });
  signal.addEventListener("abort", unsubscribe, { once: true });
}
