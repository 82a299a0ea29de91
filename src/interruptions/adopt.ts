/** Nodes that the reference has cordoned for a restart: its labels, read as the plan that it does not write. Pure. */
import { labels, uncordonAfterReboot } from "./node-change.ts";
import { activeEvents, type NodePlan } from "./plan.ts";
import type { PlannedNode } from "./situation.ts";

/** Whether a Node carries the labels by which the reference knows that it has to uncordon it. */
export function awaitsRestart({ labels: carried }: Pick<PlannedNode, "labels">): boolean {
  return carried[labels.action] === uncordonAfterReboot && carried[labels.eventId] !== undefined;
}

/**
 * The plan that such labels stand for, unless the plan of the Node knows of it already. `bootedAt` is when the machine was started, in
 * wall-clock milliseconds: undefined where that is not known, and then nothing is taken over.
 */
export function adoptedPlan(node: PlannedNode, bootedAt: number | undefined, me: string): NodePlan | undefined {
  const { plan, bootId } = node;
  const id = node.labels[labels.eventId];
  const written = node.labels[labels.actionTime] ?? "";
  if (bootedAt === undefined || id === undefined || !awaitsRestart(node) || !/^\d+$/.test(written)) return undefined;
  if (plan !== undefined && (activeEvents(plan).length > 0 || plan.events.some((event) => event.id === id))) return undefined;
  const at = Number(written) * 1000;
  return {
    revision: plan?.revision ?? 0,
    phase: "ended",
    holder: me,
    events: [
      ...(plan?.events ?? []),
      {
        id,
        kind: "maintenance",
        policy: "drain",
        description: "taken over from aws-node-termination-handler",
        startTime: at,
        restarts: true,
        end: "done",
      },
    ],
    cordonedByUs: true,
    // The reference does not say of which boot its labels are; it compares times.
    bootId: bootedAt > at ? `before ${bootId}` : bootId,
    since: at,
  };
}

/** When a machine was started, from what its file of uptime says; undefined when it cannot be read. */
export function bootTime(uptime: string, now: number): number | undefined {
  const seconds = Number.parseFloat(uptime.trim().split(" ")[0] ?? "");
  return Number.isFinite(seconds) ? now - Math.trunc(seconds) * 1000 : undefined;
}
