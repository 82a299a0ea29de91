/** What is said of a Node's interruption: Events, metrics and the log. */
import { nodes } from "../kube/builtin.ts";
import type { ObjectRef } from "../kube/event-correlator.ts";
import { apiVersion } from "../kube/resource.ts";
import type { InterruptionParts } from "./controller.ts";
import type { HookRef } from "./event.ts";
import type { ActionOutcome } from "./hooks.ts";
import type { NodeState } from "./node-states.ts";
import { activeEvents, type NodePlan } from "./plan.ts";
import type { Report } from "./situation.ts";

/** Says what a write has brought about. */
export function reporter({ recorder, metrics, host }: Pick<InterruptionParts, "recorder" | "metrics" | "host">) {
  const record = (state: NodeState, { type, reason, message }: Report) => {
    recorder?.record(nodeRef(state), type, reason, message);
  };
  const say = (state: NodeState, plan: NodePlan, reports: readonly Report[]) => {
    for (const each of reports) {
      const { type, message, action, eventId = activeEvents(plan)[0]?.id ?? plan.events.at(-1)?.id ?? "" } = each;
      record(state, each);
      if (action !== undefined) metrics.action(action.name, action.ok, state.name, eventId);
      const fields = { "node-name": state.name, "event-id": eventId, "instance-id": state.instanceId, phase: plan.phase };
      if (type === "Warning") host.log.warn(message, fields);
      else host.log.info(message, fields);
    }
  };
  /** What became of a hook. */
  say.hook = (
    state: NodeState | undefined,
    node: string,
    { id, hook }: { readonly id: string; readonly hook: HookRef },
    result: "CONTINUE" | "ABANDON",
    outcome: ActionOutcome,
    why: string,
  ) => {
    const fields = { "node-name": node, "event-id": id, "instance-id": hook.instanceId, group: hook.group, hook: hook.hook, why };
    if (outcome === "over") {
      host.log.info("Auto Scaling no longer waits for the lifecycle hook", fields);
      return;
    }
    if (result === "CONTINUE") {
      host.log.info("Completed ASG Lifecycle Hook", fields);
      return;
    }
    host.log.warn("Abandoned ASG Lifecycle Hook", fields);
    const message = `Lifecycle hook ${hook.hook} of ${hook.group} was abandoned: ${why}`;
    if (state !== undefined) record(state, { type: "Warning", reason: "PostDrainError", message });
    metrics.action("post-drain", false, node, id);
  };
  return say;
}

function nodeRef({ name, uid, resourceVersion }: NodeState): ObjectRef {
  return { apiVersion: apiVersion(nodes), kind: nodes.kind, name, uid, resourceVersion };
}
