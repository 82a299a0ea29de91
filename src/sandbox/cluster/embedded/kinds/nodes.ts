import { asList, asObject, asText, copy, type JsonObject, type KubeObject, same } from "../json.ts";
import type { Behaviour } from "../resources.ts";
import { type FieldError, fieldErrors } from "../status.ts";

const emptyStatus: JsonObject = {
  daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
  nodeInfo: {
    machineID: "",
    systemUUID: "",
    bootID: "",
    kernelVersion: "",
    osImage: "",
    containerRuntimeVersion: "",
    kubeletVersion: "",
    kubeProxyVersion: "",
    operatingSystem: "",
    architecture: "",
  },
};

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export const nodes: Behaviour = {
  empty: { spec: {}, status: emptyStatus },
  selectable: { "spec.unschedulable": (node) => String(asObject(node.spec).unschedulable === true) },
  complete(node, before) {
    const spec = asObject(node.spec);
    node.spec = spec;
    if (before === undefined) taintNotReady(spec);
    completePodCidrs(spec);
    const status = { ...copy(emptyStatus), ...asObject(node.status) };
    status.nodeInfo = { ...asObject(emptyStatus.nodeInfo), ...asObject(status.nodeInfo) };
    if (status.capacity !== undefined) status.allocatable ??= copy(status.capacity);
    if (Array.isArray(status.conditions)) {
      status.conditions = status.conditions.map((condition) => ({
        lastHeartbeatTime: null,
        lastTransitionTime: null,
        ...asObject(condition),
      }));
    }
    node.status = status;
  },
  validate(node, before) {
    const errors = taintErrors(node);
    if (before === undefined) return errors;
    const [spec, old] = [asObject(node.spec), asObject(before.spec)];
    if (asList(old.podCIDRs).length > 0 && !same(spec.podCIDRs, old.podCIDRs)) {
      errors.push(fieldErrors.forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid'));
    }
    if (asText(old.providerID) !== "" && spec.providerID !== old.providerID) {
      errors.push(fieldErrors.forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid'));
    }
    return errors;
  },
};

/** Admission puts this taint on every new Node; the node controller takes it off when the Node is ready. */
function taintNotReady(spec: JsonObject): void {
  const taints = asList(spec.taints);
  const present = taints.some((taint) => {
    const { key, effect } = asObject(taint);
    return key === "node.kubernetes.io/not-ready" && effect === "NoSchedule";
  });
  if (!present) spec.taints = [...taints, { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }];
}

function completePodCidrs(spec: JsonObject): void {
  const [first] = asList(spec.podCIDRs);
  if (asText(spec.podCIDR) !== "" && first === undefined) spec.podCIDRs = [spec.podCIDR!];
  else if (first !== undefined && asText(spec.podCIDR) === "") spec.podCIDR = first;
}

function taintErrors(node: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, item] of asList(asObject(node.spec).taints).entries()) {
    const taint = asObject(item);
    const field = `metadata.taints[${i}]`;
    if (asText(taint.effect) === "") errors.push(fieldErrors.required(`${field}.effect`));
    else if (!effects.includes(asText(taint.effect))) errors.push(fieldErrors.unsupported(`${field}.effect`, taint.effect!, effects));
    const identity = `${asText(taint.key)}:${asText(taint.effect)}`;
    if (seen.has(identity)) {
      const shown = { Key: taint.key ?? "", Value: taint.value ?? "", Effect: taint.effect ?? "", TimeAdded: taint.timeAdded ?? null };
      errors.push(fieldErrors.duplicate(field, shown, "taints must be unique by key and effect pair"));
    }
    seen.add(identity);
  }
  return errors;
}
