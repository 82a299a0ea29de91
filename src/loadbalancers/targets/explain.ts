/** One page about a TargetGroupBinding: what it fills, what is registered and what not, and what to do next. Pure. */
import { section } from "../explain-sections.ts";
import type { SeenBinding } from "./binding.ts";
import type { Resolved } from "./endpoints.ts";
import { gateAnswer, gateOf } from "./gates.ts";
import { isDraining, matchTargets, type SeenTarget } from "./group-targets.ts";

export interface ExplainedBinding {
  readonly binding: SeenBinding;
  /** What is wrong with it, and with its group. */
  readonly problems: readonly string[];
  readonly resolved: Resolved;
  /** Undefined when there is no such group, or it may not be read. */
  readonly targets: readonly SeenTarget[] | undefined;
  /** Texts of the Warning Events that are still kept. */
  readonly events: readonly string[];
}

const maxLines = 50;

export function explainBinding(facts: ExplainedBinding): string {
  const { binding, problems, resolved, targets = [], events } = facts;
  const { spec, status, metadata } = binding;
  const endpoints = resolved.kind === "endpoints" ? resolved.endpoints : [];
  const { matched, missing, surplus } = matchTargets(endpoints, targets);
  const gate = gateOf(metadata.name);
  const gated = endpoints.flatMap(({ pod }) => (pod?.gates.includes(gate) ? [pod] : []));
  const oddities = resolved.kind === "endpoints" ? resolved.problems : [resolved.why];
  const state = ({ state: is, reason, description }: SeenTarget) => [is || "not known", reason, description].filter(Boolean).join(": ");
  return [
    `TargetGroupBinding ${metadata.namespace}/${metadata.name}`,
    ...section("What it fills", [
      `target group ${spec.targetGroupARN ?? spec.targetGroupName ?? "that it does not name"}`,
      `with ${spec.targetType === "instance" ? "nodes" : "pods"} of Service ${metadata.namespace}/${spec.serviceRef.name}, port ${spec.serviceRef.port}`,
      ...(spec.iamRoleArnToAssume ? [`as role ${spec.iamRoleArnToAssume}`] : []),
      ...(spec.multiClusterTargetGroup ? ["shared with other bindings: each deregisters only what it has registered"] : []),
    ]),
    ...section(
      "What it says of itself",
      (status.conditions ?? []).map(
        ({ type, status: is, reason, message }) => `${type} is ${is}${reason ? `, ${reason}` : ""}${message ? `: ${message}` : ""}`,
      ),
    ),
    ...section("What is wrong", [...problems, ...oddities]),
    ...section("Targets", [
      ...limited(
        matched.map(([{ id, port, pod }, target]) => `${id}:${port} ${state(target)}${pod ? `  (pod ${pod.metadata.name})` : ""}`),
      ),
      ...limited(missing.map(({ id, port, pod }) => `${id}:${port} not registered yet${pod ? `  (pod ${pod.metadata.name})` : ""}`)),
      ...limited(surplus.map((target) => `${target.id}:${target.port} ${state(target)}, to be deregistered`)),
      ...limited(targets.filter(isDraining).map((target) => `${target.id}:${target.port} ${state(target)}`)),
    ]),
    ...section(
      "Pods that wait",
      limited(
        gated.flatMap((pod) => {
          const answer = gateAnswer(pod, gate);
          if (answer?.status === "True") return [];
          return [
            `${pod.metadata.name}: ${answer === undefined ? "not told yet" : [answer.reason, answer.message].filter(Boolean).join(": ")}`,
          ];
        }),
      ),
    ),
    ...section("Warnings", events),
    ...section("What to do next", [nextStep(facts, { missing: missing.length, matched })]),
    "",
  ].join("\n");
}

function nextStep(
  { binding, problems, resolved, targets }: ExplainedBinding,
  { missing, matched }: { readonly missing: number; readonly matched: readonly (readonly [unknown, SeenTarget])[] },
): string {
  if (binding.metadata.deletionTimestamp !== undefined) return "Wait: it is being deleted, and goes when its targets are deregistered.";
  if (problems.length > 0) return "Fix what is wrong: until then nothing is registered or deregistered.";
  if (resolved.kind !== "endpoints") return "Create the Service and its port, or correct spec.serviceRef.";
  if (targets === undefined) return "Look at the target group: it cannot be read with your credentials.";
  if (resolved.endpoints.length === 0) return "Look at the Service: it has no ready endpoint that could be registered.";
  if (missing > 0) return "Wait: the load balancer controller registers the rest. If it does not, look at its log and at the Events.";
  if (matched.some(([, { state }]) => state === "unhealthy"))
    return "Look at the health check of the target group, and at what the targets let in (spec.networking): some do not answer it.";
  if (matched.some(([, { state }]) => state === "unused"))
    return "Give the target group a listener: no load balancer forwards to it, so AWS checks no target.";
  return matched.every(([, { state }]) => state === "healthy")
    ? "Nothing: it is as it should be."
    : "Wait: targets are being checked for the first time.";
}

const limited = (lines: readonly string[]) =>
  lines.length <= maxLines ? lines : [...lines.slice(0, maxLines), `and ${lines.length - maxLines} more`];
