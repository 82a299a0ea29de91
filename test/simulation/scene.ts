/** Where a history takes place: the world, the cluster, the cloud, and what is true in them. */

import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { type Network, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { Shapes } from "../../src/sandbox/cloud/protocol/shapes.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import { asText, at } from "../../src/sandbox/cluster/embedded/json.ts";
import { type VirtualWorld, virtualWorld } from "../../src/sandbox/virtual-clock.ts";
import { type Chance, chanceOf } from "./chance.ts";
import { History } from "./history.ts";
import { annotation, tagKey } from "./keeper.ts";
import { leaseName } from "./replica.ts";
import { Certificates } from "./rotating-certificates.ts";
import { MetadataService } from "./stalling-metadata.ts";
import { streamedListsOf } from "./streamed-lists.ts";

/** Compiled once: they are the same in every history. */
const shapes = new Shapes();

export class Scene {
  readonly world: VirtualWorld;
  readonly history: History;
  readonly chance: Chance;
  readonly cluster: EmbeddedCluster;
  readonly cloud: Cloud;
  readonly network: Network;
  readonly certificates: Certificates;
  readonly metadata: MetadataService;

  constructor(seed: number) {
    this.world = virtualWorld(seed);
    this.history = new History(this.world.clock);
    this.chance = chanceOf(this.world.random);
    this.cluster = createEmbeddedCluster({ world: this.world, historyLimit: 200, streamedLists: streamedListsOf(seed) });
    this.cloud = createCloud({ world: this.world, seed, shapes });
    this.network = standardNetwork(this.cloud, { clusterId: "simulated", zones: 1 });
    this.certificates = new Certificates(this);
    this.metadata = new MetadataService(this);
  }

  /** Rule 5: whoever starts a write must hold the lease at that moment. */
  checkLeads(identity: string, doing: string): void {
    const lease = this.cluster.objects("leases.coordination.k8s.io").find(({ metadata }) => metadata.name === leaseName);
    const holder = asText(at(lease, "spec", "holderIdentity"));
    if (holder !== identity)
      this.history.broken("no write starts without the lease", `${doing} while the lease is held by ${holder || "nobody"}`);
  }

  /** What is wrong with the state of the world, were it final: what is missing, and what should not be there. */
  differences(): string[] {
    const found: string[] = [];
    const wanted = new Map<string, { team: string; instance: string }>();
    for (const node of this.cluster.objects("nodes")) {
      const team = asText(at(node, "metadata", "annotations", annotation));
      const instance = asText(at(node, "spec", "providerID"))
        .split("/")
        .at(-1)!;
      if (team !== "") wanted.set(node.metadata.name, { team, instance });
    }
    const records = this.cluster.objects("configmaps").filter(({ metadata }) => metadata.namespace === "demo");
    for (const record of records) {
      const wish = wanted.get(record.metadata.name);
      if (wish === undefined || record.metadata.deletionTimestamp !== undefined)
        found.push(`record ${record.metadata.name} should be gone`);
    }
    for (const [name, { team, instance }] of wanted) {
      const record = records.find(({ metadata }) => metadata.name === name);
      if (record === undefined) found.push(`record ${name} is missing`);
      else if (at(record, "data", "team") !== team || at(record, "data", "instance") !== instance) found.push(`record ${name} is outdated`);
    }
    const teams = new Map([...wanted.values()].map(({ team, instance }) => [instance, team]));
    for (const instance of this.cloud.account.ec2.instances.values()) {
      if (instance.state === "terminated" || instance.state === "shutting-down") continue;
      const [tag, wish] = [instance.tags[tagKey], teams.get(instance.id)];
      if (tag !== wish) found.push(`instance ${instance.id} is tagged ${tag ?? "with nothing"}, should be ${wish ?? "nothing"}`);
    }
    return found;
  }
}
