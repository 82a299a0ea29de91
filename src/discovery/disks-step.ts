/** Step D: disks that nobody knows, as a metric. */
import { askAws, type DiscoveryContext } from "./context.ts";
import { diskFilters, type KnownVolume, orphanedDisks } from "./disks.ts";
import { persistentVolumes } from "./objects.ts";
import { retrying } from "./retry.ts";

const listLimitMs = 30_000;

/** Tells of orphans. Without the cluster's id no disk can be attributed to it, and nothing is said. */
export async function reportDisks(context: DiscoveryContext, signal: AbortSignal): Promise<void> {
  const { cloud, clusterId, host, metrics } = context;
  try {
    const volumes =
      clusterId === undefined ? [] : await askAws(context, "disks_meta", signal, (ask) => cloud.volumes.list(diskFilters(clusterId), ask));
    const known = volumes.length === 0 ? [] : await listVolumes(context, signal);
    metrics.orphans(orphanedDisks(volumes, known, host.world.clock.now()));
    metrics.read("disks_meta", false);
    metrics.written("disks_meta", false);
  } catch (error) {
    signal.throwIfAborted();
    metrics.read("disks_meta", true);
    throw error;
  }
}

/** What PersistentVolumes say of their disks, page by page: nothing else of them is kept. */
async function listVolumes({ host, kube }: DiscoveryContext, signal: AbortSignal): Promise<readonly KnownVolume[]> {
  return retrying(host, "list PersistentVolumes", listLimitMs, signal, async (inner) => {
    const known: KnownVolume[] = [];
    let next: string | undefined;
    do {
      const page = await kube.page(
        persistentVolumes,
        { limit: 500, signal: inner, ...(next && { continue: next }) },
        ({ metadata, spec }) => ({
          name: metadata.name,
          handle: spec?.csi?.volumeHandle ?? spec?.awsElasticBlockStore?.volumeID?.split("/").at(-1),
        }),
      );
      known.push(...page.items);
      next = page.continue;
    } while (next);
    return known;
  });
}
