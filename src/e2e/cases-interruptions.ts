/** The case of interruptions: a simulated one, on a Node that the user gives up for it. AWS has nothing to do with it. */
import { interruptionPlanAnnotation, simulatedInterruptionAnnotation } from "../identity/node-view.ts";
import { nodes, pods } from "../kube/builtin.ts";
import type { Stored } from "../kube/resource.ts";
import type { Node } from "../kube/types.ts";
import { uuid } from "../runtime/world.ts";
import type { Case } from "./cases.ts";
import { type Context, eventually, expect, NotHere, nameOf } from "./context.ts";
import { startPod } from "./pods.ts";

/** What handlers put on a Node besides the cordon: taints of these keys, and this label with their name. */
const taintPrefix = "aws-node-termination-handler/";
const excludeLabel = "node.kubernetes.io/exclude-from-external-load-balancers";

interface PlanEvent {
  readonly id?: string;
  readonly end?: unknown;
}

/** Whether the plan on a Node says that this event has come to its end. */
export function hasEnded(plan: string | undefined, eventId: string): boolean {
  try {
    const { events = [] } = JSON.parse(plan ?? "{}") as { readonly events?: readonly PlanEvent[] };
    return events.some(({ id, end }) => id === eventId && end !== undefined);
  } catch {
    return false;
  }
}

/** The change that makes a Node what it was; what others have put on it meanwhile stays. Pure. */
export function putBack(before: Node, now: Node): object {
  const wasThere = new Set(before.spec?.taints?.map(({ key }) => key));
  const taints = now.spec?.taints ?? [];
  const kept = taints.filter(({ key }) => wasThere.has(key) || !key.startsWith(taintPrefix));
  const annotations = [simulatedInterruptionAnnotation, interruptionPlanAnnotation].map((key) => [
    key,
    key === interruptionPlanAnnotation ? (before.metadata?.annotations?.[key] ?? null) : null,
  ]);
  const label = before.metadata?.labels?.[excludeLabel] ?? null;
  return {
    metadata: {
      // Of this moment: a taint that comes in between must not be lost.
      resourceVersion: now.metadata?.resourceVersion,
      annotations: Object.fromEntries(annotations),
      ...(label === null && now.metadata?.labels?.[excludeLabel] !== undefined && { labels: { [excludeLabel]: null } }),
    },
    spec: {
      ...(!before.spec?.unschedulable && { unschedulable: null }),
      ...(kept.length < taints.length && { taints: kept }),
    },
  };
}

async function restore(context: Context, before: Stored<Node>): Promise<void> {
  const { kube, ask } = context;
  const { name } = before.metadata;
  const { items } = await kube.list(nodes, { fieldSelector: `metadata.name=${name}`, signal: ask.signal });
  const [now] = items;
  // One that is gone, or was made anew meanwhile, has nothing of this run.
  if (now?.metadata.uid !== before.metadata.uid) return;
  await kube.patch(nodes, { name }, { merge: putBack(before, now) }, { signal: ask.signal });
}

export const interruptionCases: readonly Case[] = [
  {
    name: "interruption-drain",
    checks: "a Node whose interruption is announced (simulated) is cordoned and its pods are evicted; then it is put back",
    async run(context) {
      const { kube, namespace, ask, interruptNode: name, world } = context;
      if (name === "") throw new NotHere("--interrupt-node, a Node whose pods may be evicted, and the termination handler");
      if (!context.pods) throw new NotHere("pods that run");
      const before = await kube.get(nodes, { name }, { signal: ask.signal });
      expect(before.spec?.unschedulable !== true, `Node ${name} is cordoned already`);
      await startPod(context, "evicted", { args: ["pause"], node: name }, "Running");
      const [id, at] = [uuid(world.random), world.clock.now()];
      context.undo.set(`Node ${name} as it was`, (inPeace) => restore(inPeace, before));
      const asked = { [simulatedInterruptionAnnotation]: JSON.stringify({ kind: "spot", id, at }) };
      await kube.patch(nodes, { name }, { merge: { metadata: { annotations: asked } } }, { signal: ask.signal });
      await eventually(context, async () => {
        const { spec, metadata } = await kube.get(nodes, { name }, { signal: ask.signal });
        expect(spec?.unschedulable === true, `Node ${name} is not cordoned: does a termination handler run for it?`);
        const left = await kube.list(pods, { namespace, fieldSelector: `metadata.name=${nameOf(context, "evicted")}`, signal: ask.signal });
        expect(left.items.length === 0, "its pod is not evicted");
        expect(hasEnded(metadata.annotations?.[interruptionPlanAnnotation], `simulated-spot-${id}`), "the drain has not come to its end");
      });
      await restore(context, before);
      context.undo.delete(`Node ${name} as it was`);
    },
  },
];
