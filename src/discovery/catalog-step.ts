/** Step B: the instance types of the region, as the catalogue of the cluster autoscaler. */
import { type Catalog, catalogOf, sameEntries } from "./catalog.ts";
import { askAws, type DiscoveryContext, getIfThere, publish } from "./context.ts";
import { catalogName, catalogs } from "./objects.ts";

/** Nothing can be made of what AWS answered. */
class NoInstanceTypes extends Error {
  override readonly name = "NoInstanceTypes";
}

/** Reads and publishes the catalogue; what was published stays when it cannot be read. */
export async function publishCatalog(context: DiscoveryContext, signal: AbortSignal): Promise<void> {
  const { kube } = context;
  const { entries } = await readCatalog(context, signal);
  await publish(context, "instance_types", `write InstanceTypesCatalog ${catalogName}`, signal, async (inner) => {
    const stored = await getIfThere(kube, catalogs, { name: catalogName }, inner);
    if (stored === undefined) await kube.create(catalogs, { metadata: { name: catalogName }, instanceTypes: entries }, { signal: inner });
    else if (!sameEntries(entries, stored.instanceTypes ?? []))
      await kube.patch(catalogs, { name: catalogName }, { merge: { instanceTypes: entries } }, { signal: inner });
  });
}

async function readCatalog(context: DiscoveryContext, signal: AbortSignal): Promise<Catalog> {
  const { cloud, host, metrics } = context;
  try {
    const catalog = catalogOf(await askAws(context, "instance_types", signal, (ask) => cloud.instanceTypes.all(ask)));
    metrics.skippedTypes(catalog.skipped.length);
    for (const skipped of catalog.skipped) host.log.warn("an instance type is left out of the catalogue", { why: skipped });
    if (catalog.entries.length === 0) throw new NoInstanceTypes("AWS describes no instance type: the catalogue stays as it is");
    metrics.read("instance_types", false);
    return catalog;
  } catch (error) {
    signal.throwIfAborted();
    metrics.read("instance_types", true);
    throw error;
  }
}
