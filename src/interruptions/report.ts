/** What is said of a Node's interruption: Events, metrics and the log. */
import { nodes, pods } from "../kube/builtin.ts";
import type { ObjectRef } from "../kube/event-correlator.ts";
import { objectRef } from "../kube/event-recorder.ts";
import { apiVersion } from "../kube/resource.ts";
import { messageOf } from "../runtime/message-of.ts";
import type { InterruptionParts } from "./controller.ts";
import { eventKinds, type HookRef } from "./event.ts";
import { podAnnotations } from "./event-annotations.ts";
import type { ActionOutcome } from "./hooks.ts";
import type { NodeState } from "./node-states.ts";
import { Paced } from "./paced.ts";
import { activeEvents, type NodePlan } from "./plan.ts";
import type { PodView } from "./pods.ts";
import type { Report } from "./situation.ts";

/** Says what a write has brought about. */
export function reporter(parts: Pick<InterruptionParts, "recorder" | "annotationsOf" | "metrics" | "host">) {
  const { recorder, metrics, host, annotationsOf = () => ({}) } = parts;
  const podEvents = new Paced(host.world.clock);
  const record = (state: NodeState, { type, reason, message }: Report, same?: string) => {
    recorder?.annotated(annotationsOf(state)).record(nodeRef(state), type, reason, message, same);
  };
  /** With what was refused of labels and taints, the write is not the success that it was to be. */
  const say = (state: NodeState, plan: NodePlan, planned: readonly Report[], refused?: string) => {
    const reports = refused === undefined ? planned : withoutMarks(planned, refused);
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
      const message = `Pod evicted due to node drain (node ${node})`;
      if (about !== undefined) podEvents.add(() => about.record(objectRef(pods, { metadata }), "Normal", "PodEviction", message));
    }
  };
  /** A hook cannot be let go. It is tried again. */
  say.hookFailed = (
    state: NodeState | undefined,
    node: string,
    { id, hook }: { readonly id: string; readonly hook: HookRef },
    error: unknown,
  ) => {
    const message = `${problems.PostDrain.message}: ${messageOf(error)}`;
    if (state !== undefined) record(state, { type: "Warning", reason: "PostDrainError", message }, `${hook.group} ${hook.hook}`);
    metrics.action("post-drain", false, node, id);
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

/** What is said in the place of a success that was none. */
const problems = {
  PreDrain: { reason: "PreDrainError", message: "There was a problem executing the pre-drain task", action: "pre-drain" },
  PostDrain: { reason: "PostDrainError", message: "There was a problem executing the post-drain task", action: "post-drain" },
} as const;

/** The reports of a write that was done but for labels or taints, which somebody refused. */
function withoutMarks(reports: readonly Report[], why: string): readonly Report[] {
  const instead = ({ reason, message, action }: (typeof problems)[keyof typeof problems], eventId?: string): Report => ({
    ...{ type: "Warning", reason, message: `${message}: ${why}`, action: { name: action, ok: false } },
    ...(eventId !== undefined && { eventId }),
  });
  const isTold = reports.some(({ reason }) => Object.hasOwn(problems, reason));
  const changed = reports.map((each) =>
    each.reason === "PreDrain" || each.reason === "PostDrain" ? instead(problems[each.reason], each.eventId) : each,
  );
  return isTold ? changed : [...changed, instead(problems.PostDrain)];
}

function nodeRef({ name, uid, resourceVersion }: NodeState): ObjectRef {
  return { apiVersion: apiVersion(nodes), kind: nodes.kind, name, uid, resourceVersion };
}
