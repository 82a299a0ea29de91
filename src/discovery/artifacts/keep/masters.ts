/**
 * Whether the controller manager has initialised every master. A cluster whose masters stay uninitialised has nowhere to run what the
 * provider brings, and the platform's installer waits for it. Masters are given two minutes; then who is late is told.
 */
import type { EventRecorder } from "../../../identity/event-reasons.ts";
import type { Nodes, SeenNode } from "../../../identity/node-view.ts";
import { nodes as nodeResource } from "../../../kube/builtin.ts";
import { objectRef } from "../../../kube/event-recorder.ts";
import { watchSource } from "../../../kube/watch-source.ts";
import { again, type Controller, done } from "../../../runtime/controller.ts";
import type { Host } from "../../../runtime/host.ts";

const uninitializedTaint = "node.cloudprovider.kubernetes.io/uninitialized";
const controlPlaneLabel = "node-role.kubernetes.io/control-plane";
const patienceMs = 120_000;
const key = "masters";

/** Masters that wait for the controller manager, by name. */
export function uninitialisedMasters(nodes: readonly SeenNode[]): readonly SeenNode[] {
  return nodes
    .filter(({ metadata, taints }) => controlPlaneLabel in metadata.labels && taints.some((taint) => taint.key === uninitializedTaint))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

export function masterWatch({
  host,
  nodes,
  recorder,
}: {
  readonly host: Host;
  readonly nodes: Nodes;
  readonly recorder: EventRecorder;
}): Controller & { problem(): string | undefined } {
  /** When a master was first seen to wait, by its uid; and which have been told of. */
  let waiting: ReadonlyMap<string, { readonly since: number; readonly told: boolean }> = new Map();
  let problem: string | undefined;
  return {
    name: "masters",
    concurrency: 1,
    sources: [watchSource(nodes, () => [key])],
    async reconcile() {
      const now = host.world.clock.monotonic();
      const seen = uninitialisedMasters(nodes.list()).map((node) => ({ node, since: waiting.get(node.metadata.uid)?.since ?? now }));
      const late = seen.filter(({ since }) => since + patienceMs <= now).map(({ node }) => node);
      const names = late.map(({ metadata }) => metadata.name);
      const untold = late.filter(({ metadata }) => waiting.get(metadata.uid)?.told !== true);
      waiting = new Map(seen.map(({ node, since }) => [node.metadata.uid, { since, told: late.includes(node) }]));
      problem = late.length === 0 ? undefined : `timeout waiting for master nodes: ${names.join(", ")}`;
      if (untold.length > 0) host.log.warn("masters are not initialised: is the controller manager running?", { masters: names });
      for (const node of untold) {
        const why = `It has had the taint ${uninitializedTaint} for two minutes or longer: is the controller manager running?`;
        recorder.record(objectRef(nodeResource, node), "Warning", "MasterUninitialized", why);
      }
      const next = Math.min(...seen.map(({ since }) => since + patienceMs - now).filter((left) => left > 0));
      return Number.isFinite(next) ? again(next, "masters are not initialised yet") : done;
    },
    problem: () => problem,
  };
}
