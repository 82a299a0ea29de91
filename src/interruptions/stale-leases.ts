/** Leases of replicas that are no more: each pod leaves one behind that did not end by itself, and nobody else removes them. */
import { leases } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import { sleep } from "../runtime/world.ts";
import { replicaLeasePrefix } from "./holders.ts";

/** A replica renews its Lease every two seconds: one that is the same after an hour has no holder. No wall clock is compared. */
const periodMs = 3_600_000;

/** Removes them, once an hour, until the signal aborts. */
export async function sweepReplicaLeases(kube: KubeClient, namespace: string, signal: AbortSignal): Promise<void> {
  let before: ReadonlyMap<string, string> = new Map();
  while (!signal.aborted) {
    try {
      before = await sweep(kube, namespace, before, signal);
    } catch (error) {
      if (signal.aborted) return;
      kube.host.log.warn("Leases of former replicas cannot be removed", { error });
    }
    await sleep(kube.host.world.clock, periodMs, signal).catch(() => {});
  }
}

/** Removes what is as it was; answers the version of what is left, by UID. */
async function sweep(
  kube: KubeClient,
  namespace: string,
  before: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const left = new Map<string, string>();
  const { items } = await kube.list(leases, { namespace, signal });
  for (const { metadata } of items) {
    const { name, uid, resourceVersion } = metadata;
    if (!name.startsWith(replicaLeasePrefix)) continue;
    if (before.get(uid) !== resourceVersion) left.set(uid, resourceVersion);
    else await kube.delete(leases, { namespace, name }, { uid, resourceVersion, signal }).catch(unlessChanged);
  }
  return left;
}

/** Somebody holds it again, or another replica was quicker. */
function unlessChanged(error: unknown): void {
  if (!isApiError(error, "not-found", "conflict")) throw error;
}
