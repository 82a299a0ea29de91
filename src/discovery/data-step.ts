/** Step C: what the account has for this cluster, as one document in a Secret. */

import { type AwsError, isAwsError } from "../aws/errors.ts";
import { secrets } from "../kube/builtin.ts";
import { askAws, type DiscoveryContext, fetchIfThere, getIfThere, publish } from "./context.ts";
import { type DataRead, dataReads } from "./data-reads.ts";
import { type Discovered, documentText } from "./document.ts";
import { type Infrastructure, readInfrastructure } from "./infrastructure.ts";
import { configurationSecret, discoveryKey, discoverySecret, infrastructureKey, labels } from "./objects.ts";
import { readDiscovery } from "./read-discovery.ts";

/** Reads and publishes the document. A part that cannot be read stays as it was published, and the others are published. */
export async function publishData(context: DiscoveryContext, signal: AbortSignal): Promise<void> {
  const { kube, cloud } = context;
  const infrastructure = await readInput(context, signal);
  const stored = await fetchIfThere(context, secrets, discoverySecret, signal);
  const before = readDiscovery(decoded(stored?.data?.[discoveryKey])) ?? {};
  const found = await readAll(context, infrastructure, before, signal);
  const text = documentText(cloud.region, found);
  const data = { [discoveryKey]: Buffer.from(text).toString("base64") };
  await publish(context, "discovery_data", `write Secret ${discoverySecret.name}`, signal, async (inner) => {
    const current = await getIfThere(kube, secrets, discoverySecret, inner);
    if (current === undefined) await kube.create(secrets, { metadata: { ...discoverySecret, labels }, data }, { signal: inner });
    else if (decoded(current.data?.[discoveryKey]) !== text)
      await kube.patch(secrets, discoverySecret, { merge: { data } }, { signal: inner });
  });
}

/** The infrastructure's output; a hybrid cluster has none. */
async function readInput(context: DiscoveryContext, signal: AbortSignal): Promise<Infrastructure> {
  try {
    const secret = await fetchIfThere(context, secrets, configurationSecret, signal);
    return readInfrastructure(decoded(secret?.data?.[infrastructureKey]));
  } catch (error) {
    signal.throwIfAborted();
    context.metrics.read("discovery_data", true);
    throw error;
  }
}

async function readAll(
  context: DiscoveryContext,
  infrastructure: Infrastructure,
  before: Discovered,
  signal: AbortSignal,
): Promise<Discovered> {
  const { cloud, clusterId, host, metrics } = context;
  let found: Discovered = {};
  let failed = false;
  for (const each of dataReads) {
    try {
      const read = await askAws(context, "discovery_data", signal, (ask) => each.read({ cloud, ask, infrastructure, clusterId, found }));
      found = { ...found, ...read };
    } catch (error) {
      signal.throwIfAborted();
      failed = true;
      found = { ...found, ...keptFrom(before, each) };
      host.log.error("a part of the discovery data cannot be read and stays as it was", { fields: each.fields, ...denial(error), error });
    }
  }
  metrics.read("discovery_data", failed);
  return found;
}

function keptFrom(before: Discovered, { fields }: DataRead): Discovered {
  return Object.fromEntries(Object.entries(before).filter(([field]) => fields.includes(field as keyof Discovered)));
}

/** What a policy has to allow, for the log. */
function denial(error: unknown): Pick<Partial<AwsError>, "iamAction"> {
  return isAwsError(error, "denied") ? { iamAction: error.iamAction } : {};
}

function decoded(value: string | undefined): string | undefined {
  return value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");
}
