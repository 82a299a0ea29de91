/** Step D: disks that nobody knows, as a metric. */
import { askAws, type DiscoveryContext } from "./context.ts";
import { diskFilters, type KnownVolume, type OrphanedDisk, orphanedDisks } from "./disks.ts";
import { persistentVolumes } from "./objects.ts";
import { retrying } from "./retry.ts";

const listLimitMs = 30_000;

/** Tells of orphans. Without the cluster's id no disk can be attributed to it, and nothing is said. */
export async function reportDisks(context: DiscoveryContext, signal: AbortSignal): Promise<void> {
  const { clusterId, metrics } = context;
  try {
    metrics.orphans(clusterId === undefined ? [] : await findOrphans(context, clusterId, signal));
    metrics.read("disks_meta", false);
    metrics.written("disks_meta", false);
  } catch (error) {
    signal.throwIfAborted();
    metrics.read("disks_meta", true);
    throw error;
  }
}

/**
 * A disk that goes with its PersistentVolume between the two reads would be an orphan for a whole period: those that seem to be are looked for once
 * more.
 */
async function findOrphans(context: DiscoveryContext, clusterId: string, signal: AbortSignal): Promise<readonly OrphanedDisk[]> {
  const { cloud, host } = context;
  const read = () => askAws(context, "disks_meta", signal, (ask) => cloud.volumes.list(diskFilters(clusterId), ask));
  const volumes = await read();
  if (volumes.length === 0) return [];
  const orphans = orphanedDisks(volumes, await listVolumes(context, signal), host.world.clock.now());
  if (orphans.length === 0) return [];
  const left = new Set((await read()).map(({ id }) => id));
  return orphans.filter(({ id }) => left.has(id));
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
