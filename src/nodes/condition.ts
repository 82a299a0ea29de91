/**
 * The condition that tells, on the Node itself, why the cloud's part of it is not done. It is there only while something
 * is amiss: a Node that is right carries none, so Nodes that others initialised are not touched.
 */
import { cloudCondition, type NodeCondition } from "../identity/node-view.ts";
import { redact } from "../runtime/redact.ts";

/** What is amiss. `False`: the Node is not initialised. `True`: it is, and a label that nothing waits for is still to come. */
export interface NodeProblem {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

/** Initialised, with labels still to come. */
export const labelsPending = "LabelsPending";

/** The entry for a strategic merge of `status.conditions`; undefined when the condition is as wanted. */
export function conditionChange(existing: NodeCondition | undefined, wanted: NodeProblem | undefined, nowMs: number): object | undefined {
  if (wanted === undefined) return existing === undefined ? undefined : { type: cloudCondition, $patch: "delete" };
  const { status, reason } = wanted;
  const message = redact(wanted.message);
  if (existing?.status === status && existing.reason === reason && existing.message === message) return undefined;
  const now = `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
  return {
    type: cloudCondition,
    status,
    reason,
    message,
    lastHeartbeatTime: now,
    ...(existing?.status === status ? {} : { lastTransitionTime: now }),
  };
}
