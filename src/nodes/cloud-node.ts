import type { Controller } from "../runtime/controller.ts";
import type { IpFamily } from "./addresses.ts";
import { Identities } from "./identify.ts";
import { nodeInitialisation } from "./initialise.ts";
import { NetworkTopology } from "./network-topology.ts";
import { manyAtOnce, type NodeParts } from "./parts.ts";
import { addressRefresh } from "./refresh.ts";

export interface CloudNodeSettings {
  readonly ipFamilies: readonly IpFamily[];
  /** Types whose network topology EC2 is known to tell. */
  readonly topologyInstanceTypes: RegExp;
  readonly byNameTag: boolean;
  readonly refreshMs: number;
  /** As flags give them; left out, nothing that can be joined waits. */
  readonly concurrentSyncs?: number | undefined;
  readonly concurrentStatusUpdates?: number | undefined;
}

/** What `cloud-node-controller` runs: initialisation, and the refresh of addresses. */
export function cloudNodeControllers(parts: NodeParts, settings: CloudNodeSettings): { initialisation: Controller; addresses: Controller } {
  const { host, cloud, self, nodes } = parts;
  const { ipFamilies, topologyInstanceTypes, byNameTag, refreshMs, concurrentSyncs, concurrentStatusUpdates } = settings;
  const identities = new Identities({ cloud, self, nodes, byNameTag });
  const networkTopology = new NetworkTopology({
    topology: cloud.topology,
    clock: host.world.clock,
    log: host.log,
    required: topologyInstanceTypes,
  });
  const concurrency = concurrentSyncs ?? manyAtOnce;
  return {
    initialisation: nodeInitialisation({ ...parts, identities, networkTopology, ipFamilies, concurrency }),
    addresses: addressRefresh({
      ...parts,
      identities,
      ipFamilies,
      periodMs: refreshMs,
      concurrency: concurrentStatusUpdates || concurrency,
    }),
  };
}
