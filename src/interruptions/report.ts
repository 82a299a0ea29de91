/** What is said of a Node's interruption: Events, metrics and the log. */
import { nodes, pods } from "../kube/builtin.ts";
import type { ObjectRef } from "../kube/event-correlator.ts";
import { objectRef } from "../kube/event-recorder.ts";
import { apiVersion } from "../kube/resource.ts";
import type { InterruptionParts } from "./controller.ts";
import { eventKinds, type HookRef } from "./event.ts";
import { podAnnotations } from "./event-annotations.ts";
import type { ActionOutcome } from "./hooks.ts";
import type { NodeState } from "./node-states.ts";
import { activeEvents, type NodePlan } from "./plan.ts";
import type { PodView } from "./pods.ts";
import type { Report } from "./situation.ts";

/** Says what a write has brought about. */
export function reporter(parts: Pick<InterruptionParts, "recorder" | "annotationsOf" | "metrics" | "host">) {
  const { recorder, metrics, host, annotationsOf = () => ({}) } = parts;
  const record = (state: NodeState, { type, reason, message }: Report) => {
    recorder?.annotated(annotationsOf(state)).record(nodeRef(state), type, reason, message);
  };
  /** With what was refused of labels and taints, the write is not the success that it was to be. */
  const say = (state: NodeState, plan: NodePlan, planned: readonly Report[], refused?: string) => {
    const reports =
      refused === undefined ? planned : planned.map((each) => (each.reason === "PreDrain" ? withoutMarks(each, refused) : each));
    if (refused !== undefined)
      host.log.warn("labels or taints of a Node are refused; it is written without them", { node: state.name, refused });
    for (const each of reports) {
      const { type, message, action, eventId = activeEvents(plan)[0]?.id ?? plan.events.at(-1)?.id ?? "" } = each;
      record(state, each);
      if (action !== undefined) metrics.action(action.name, action.ok, state.name, eventId);
      const fields = { "node-name": state.name, "event-id": eventId, "instance-id": state.instanceId, phase: plan.phase };
      const dispatched = plan.events.find(({ id, kind }) => id === eventId && eventKinds[kind].reason === each.reason);
      if (dispatched !== undefined) {
        host.log.info("Requesting instance drain", { ...fields, kind: eventKinds[dispatched.kind].name, description: message });
      } else if (type === "Warning") host.log.warn(message, fields);
      else host.log.info(message, fields);
    }
  };
  /** The Node may not be written at all. It is tried again. */
  say.failed = (state: NodeState, why: string) => {
    const message = `There was a problem while trying to cordon and drain the node: ${why}`;
    record(state, { type: "Warning", reason: "CordonAndDrainError", message });
  };
  /** Every pod of a Node whose drain begins. */
  say.pods = (node: string, drained: readonly PodView[]) => {
    host.log.info("Pods on node", { "node-name": node, pod_names: drained.map(({ metadata: { name } }) => name) });
    for (const { metadata } of drained) {
      const about = recorder?.annotated(podAnnotations(node, metadata.labels));
      about?.record(objectRef(pods, { metadata }), "Normal", "PodEviction", `Pod evicted due to node drain (node ${node})`);
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

/** The Node is cordoned, but for labels or taints that somebody refused. */
function withoutMarks({ eventId }: Report, why: string): Report {
  return {
    type: "Warning",
    reason: "PreDrainError",
    message: `There was a problem executing the pre-drain task: ${why}`,
    action: { name: "pre-drain", ok: false },
    ...(eventId !== undefined && { eventId }),
  };
}

function nodeRef({ name, uid, resourceVersion }: NodeState): ObjectRef {
  return { apiVersion: apiVersion(nodes), kind: nodes.kind, name, uid, resourceVersion };
}
