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
  let since: number | undefined;
  let problem: string | undefined;
  return {
    name: "masters",
    concurrency: 1,
    sources: [watchSource(nodes, () => [key])],
    async reconcile() {
      const late = uninitialisedMasters(nodes.list());
      if (late.length === 0) {
        since = problem = undefined;
        return done;
      }
      const now = host.world.clock.monotonic();
      since ??= now;
      const left = since + patienceMs - now;
      if (left > 0) return again(left, "masters are not initialised yet");
      const names = late.map(({ metadata }) => metadata.name);
      if (problem === undefined) {
        host.log.warn("masters are not initialised: is the controller manager running?", { masters: names });
        for (const node of late) {
          const why = `It has had the taint ${uninitializedTaint} for two minutes or longer: is the controller manager running?`;
          recorder.record(objectRef(nodeResource, node), "Warning", "MasterUninitialized", why);
        }
      }
      problem = `timeout waiting for master nodes: ${names.join(", ")}`;
      return done;
    },
    problem: () => problem,
  };
}
