/** How many instances carry the tag of what is acted on, and how many of them are Nodes here: gauges of the reference. */
import type { Registry } from "prom-client";
import { neverAborted } from "../aws/abort.ts";
import type { Cloud } from "../aws/cloud.ts";
import { claimedInstance, type Nodes } from "../identity/node-view.ts";
import type { Host } from "../runtime/host.ts";
import { gauge } from "../runtime/metrics.ts";
import { scope, scopeLabels } from "./action-metrics.ts";

/** EC2 is asked this often at most, and only while somebody reads the metrics. */
const ageMs = 30_000;

interface TaggedParts {
  readonly host: Host;
  readonly cloud: Pick<Cloud, "instances">;
  readonly nodes: Nodes;
  readonly tag: string;
}

/** Exports both. A look-up that fails leaves them as they were, as with the reference. */
export function exportTaggedNodes(registry: Registry, { host, cloud, nodes, tag }: TaggedParts): void {
  const { clock } = host.world;
  let askedAt = Number.NEGATIVE_INFINITY;
  const refresh = () => {
    if (clock.monotonic() - askedAt < ageMs) return;
    askedAt = clock.monotonic();
    void count().catch((error: unknown) => host.log.warn("tagged instances cannot be counted", { tag, error }));
  };
  const count = async () => {
    const tagged = new Set<string>();
    const ask = { cause: "interruption metrics", signal: neverAborted };
    for await (const page of cloud.instances.pages([{ name: "tag-key", values: [tag] }], ask)) for (const { id } of page) tagged.add(id);
    instances.set(scope, tagged.size);
    known.set(scope, nodes.list().filter((node) => tagged.has(claimedInstance(node) ?? "")).length);
  };
  const instances = gauge(registry, {
    name: "nth_tagged_instances",
    help: "Number of EC2 instances that carry the tag of managed instances",
    labels: scopeLabels,
    collect: refresh,
  });
  const known = gauge(registry, {
    name: "nth_tagged_nodes",
    help: "Number of Nodes whose EC2 instance carries the tag of managed instances",
    labels: scopeLabels,
  });
  for (const each of [instances, known]) each.set(scope, 0);
}
