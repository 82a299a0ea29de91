/** From the discoverer's options to running cycles, and to their end. */
import { Clouds } from "../../aws/cloud.ts";
import { Discoverer } from "../../discovery/discoverer.ts";
import { DiscoveryMetrics } from "../../discovery/metrics.ts";
import { loadKubeConfig } from "../../kube/config/load.ts";
import { build } from "../../process/build.ts";
import { KubeClients } from "../../process/clients.ts";
import { ConfigurationFailed } from "../../process/errors.ts";
import type { Network } from "../../process/operate.ts";
import { goDuration } from "../../runtime/flags-go.ts";
import { openGate } from "../../runtime/gate.ts";
import type { Host } from "../../runtime/host.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { within } from "../../runtime/world.ts";
import type { Options } from "./flags.ts";
import { serve } from "./serve.ts";

/** In the user agent. */
const component = "cloud-data-discoverer";
const serverGraceMs = 10_000;

export interface Operation {
  readonly options: Options;
  readonly host: Host;
  readonly network: Network;
  /** Asks for a graceful end. */
  readonly stop: AbortSignal;
  /** How what is served is reached: by a socket unless told otherwise. */
  readonly serve?: typeof serve;
}

/** Runs until asked to stop. */
export async function operate({ options, host, network, stop, serve: listen = serve }: Operation): Promise<void> {
  const { region, clusterId } = options;
  if (clusterId === "") host.log.warn("CLUSTER_UUID is not set: subnets and orphaned disks of the cluster are not discovered");
  const clients = await clientsOf(options, host, network);
  // Its reference elects no leader: it is one replica that is never started beside another, and each of its writes can be repeated.
  const gate = openGate();
  const clouds = new Clouds({ host, transport: network.aws, gate, settings: { region, serviceOverrides: [] }, version: build.version });
  const discoverer = new Discoverer({
    host,
    kube: clients.named(component, gate),
    cloud: clouds.in(region),
    clusterId: clusterId === "" ? undefined : clusterId,
    metrics: new DiscoveryMetrics(host.metrics),
  });
  const serving = await listen(options, host, () => discoverer.problem());
  host.log.info("discovering", { region, period: goDuration(options["discovery-period"]) });
  try {
    await discoverer.run(options["discovery-period"], stop);
  } catch (error) {
    if (error !== stop.reason) throw error;
    host.log.info("stopping", { why: messageOf(error) });
  } finally {
    await within(host.world.clock, serverGraceMs, "stop serving", undefined, (signal) => serving.stop(signal)).catch(() => {});
    await clients.close();
  }
}

async function clientsOf({ kubeconfig }: Options, host: Host, network: Network): Promise<KubeClients> {
  try {
    return new KubeClients(host, await loadKubeConfig(host.world, { kubeconfig }), { component, ownAccounts: false }, network.kube);
  } catch (cause) {
    throw new ConfigurationFailed(messageOf(cause), { cause });
  }
}
