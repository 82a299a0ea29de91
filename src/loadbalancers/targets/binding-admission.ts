/** Admission of TargetGroupBindings: what is filled in when one is made, and what is refused. */
import type { TargetGroup } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Ask } from "../../aws/ask.ts";
import type { Cloud } from "../../aws/cloud.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { type AdmissionRequest, allow, record, type Verdict } from "../admission/review.ts";
import type { BindingSpec } from "./binding.ts";
import { defaultsFor, factsOf, groupProblems, isComplete, type OtherBinding, sharingProblem, specProblems } from "./validate.ts";

export interface BindingAdmissionParts {
  /** Where the group of a binding is. */
  cloudOf(spec: BindingSpec): Cloud;
  /** Other bindings of a group. */
  others(arn: string, uid: string): readonly OtherBinding[];
  /** The cluster's own VPC: a binding that named none before may be said to be of it. */
  readonly vpc: string | undefined;
}

const mustName = "must provide either TargetGroupARN or TargetGroupName";

/** Fills in what a new binding leaves to its target group. */
export async function defaultBinding(request: AdmissionRequest, parts: BindingAdmissionParts, signal: AbortSignal): Promise<Verdict> {
  const spec = specIn(request.object);
  if (request.operation !== "CREATE") return allow;
  if (!spec.targetGroupARN && !spec.targetGroupName) return { kind: "deny", category: "checkTargetGroupArnOrName", message: mustName };
  if (isComplete(spec) && spec.ipAddressType !== undefined) return allow;
  const looked = await lookUp(spec, parts, signal);
  if ("verdict" in looked) return looked.verdict;
  const facts = factsOf(looked.group);
  const unsupported = groupProblems({ serviceRef: spec.serviceRef }, facts).at(0);
  if (unsupported) return { kind: "deny", category: defaultingCategory[unsupported.category] ?? "", message: unsupported.message };
  const defaults = Object.entries(defaultsFor(spec, facts)).filter(([, value]) => value !== "");
  return { kind: "allow", patch: defaults.map(([field, value]) => ({ op: "add", path: `/spec/${field}`, value })) };
}

const defaultingCategory: Readonly<Record<string, string>> = {
  checkTargetType: "defaultingTargetType",
  checkTargetGroupIPAddressType: "defaultingIPAddressType",
};

/** Refuses what could never be carried out, and changes of what must stay. */
export async function validateBinding(request: AdmissionRequest, parts: BindingAdmissionParts, signal: AbortSignal): Promise<Verdict> {
  const spec = specIn(request.object);
  const before = request.operation === "UPDATE" ? specIn(request.oldObject) : undefined;
  // Our own finalizer, checkpoint and labels, and those of others: whatever the spec is like, it is not what is asked about.
  if (before !== undefined && JSON.stringify(before) === JSON.stringify(spec)) return allow;
  const changed = before ? changedFields(before, spec) : [];
  const problem =
    specProblems(spec).find(({ category }) => category === "checkRequiredFields") ??
    (changed.length > 0 ? immutable(changed) : undefined) ??
    specProblems(spec).at(0) ??
    alreadyBound(request, spec, parts);
  if (problem) return { kind: "deny", category: problem.category, message: problem.message };
  if (!spec.targetGroupARN) return allow;
  if (before === undefined) return validateGroup(spec, parts, signal);
  const filled = filledFields(before, spec, parts);
  return filled.length === 0 ? allow : validateFilled(filled, spec, parts, signal);
}

async function validateGroup(spec: BindingSpec, parts: BindingAdmissionParts, signal: AbortSignal): Promise<Verdict> {
  const looked = await lookUp(spec, parts, signal);
  if ("verdict" in looked) return looked.verdict;
  // A binding without an address type means IPv4.
  const problem = groupProblems({ ipAddressType: "ipv4", ...spec }, factsOf(looked.group)).at(0);
  return problem ? { kind: "deny", category: problem.category, message: problem.message } : allow;
}

/** What was not said before may be said now, if it is what the target group is: so a binding is completed after the fact. */
async function validateFilled(
  filled: readonly string[],
  spec: BindingSpec,
  parts: BindingAdmissionParts,
  signal: AbortSignal,
): Promise<Verdict> {
  const looked = await lookUp(spec, parts, signal);
  if ("verdict" in looked) return looked.verdict;
  const { group } = looked;
  const otherName = Boolean(spec.targetGroupName) && spec.targetGroupName !== group.TargetGroupName;
  const wrong = [
    ...groupProblems(spec, factsOf(group)).flatMap(({ category }) => fieldOf[category] ?? []),
    ...(otherName ? ["targetGroupARN"] : []),
  ].filter((field) => filled.includes(field));
  return wrong.length === 0 ? allow : { kind: "deny", ...immutable(wrong) };
}

const fieldOf: Readonly<Record<string, string>> = {
  checkTargetType: "targetType",
  checkTargetGroupIPAddressType: "ipAddressType",
  checkTargetGroupVpcID: "vpcID",
};

const immutableFields = ["targetGroupARN", "targetType", "ipAddressType", "vpcID"] as const;

/** Fields that had a value and have another, or none. */
function changedFields(before: BindingSpec, after: BindingSpec): readonly string[] {
  return immutableFields.filter((field) => Boolean(before[field]) && before[field] !== after[field]);
}

/** Fields that had no value and have one now that has to be looked up. */
function filledFields(before: BindingSpec, after: BindingSpec, { vpc }: BindingAdmissionParts): readonly string[] {
  const known = { ipAddressType: "ipv4", vpcID: vpc } as Readonly<Record<string, string | undefined>>;
  return immutableFields.filter((field) => !before[field] && after[field] && after[field] !== known[field]);
}

const immutable = (fields: readonly string[]) => ({
  category: "checkImmutableFields",
  message: `TargetGroupBinding update may not change these immutable fields: ${fields.map((field) => `spec.${field}`).join(",")}`,
});

function alreadyBound({ object }: AdmissionRequest, spec: BindingSpec, { others }: BindingAdmissionParts) {
  if (!spec.targetGroupARN) return undefined;
  const { uid } = record(record(object).metadata);
  const problem = sharingProblem(spec, others(spec.targetGroupARN, String(uid ?? "")));
  return problem && { category: "checkExistingTargetGroups", message: problem.message };
}

type LookedUp = { readonly group: TargetGroup } | { readonly verdict: Verdict };

/** A group that is not there is a mistake; AWS that does not answer is none of the author's business. */
async function lookUp(spec: BindingSpec, { cloudOf }: BindingAdmissionParts, signal: AbortSignal): Promise<LookedUp> {
  const { targetGroupARN: arn, targetGroupName: name = "" } = spec;
  const category = arn ? firstDefaulting(spec) : "getArnFromNameIfNeeded";
  const ask: Ask = { cause: "admission of a TargetGroupBinding", signal, urgency: "user" };
  try {
    const { loadBalancers } = cloudOf(spec);
    const group = await (arn ? loadBalancers.targetGroupAt(arn, ask) : loadBalancers.targetGroup(name, ask));
    if (group !== undefined) return { group };
    const message = `expecting a single targetGroup with query [${arn || name}] but got 0`;
    return { verdict: { kind: "deny", category, message } };
  } catch (error) {
    signal.throwIfAborted();
    return { verdict: { kind: "pass", category, why: `target group ${arn || name} cannot be looked up now: ${messageOf(error)}` } };
  }
}

/** For which field the target group is looked up first, in the words of the reference's metric. */
function firstDefaulting({ targetType, ipAddressType, vpcID, targetGroupProtocol }: BindingSpec): string {
  if (!targetType) return "defaultingTargetType";
  if (!ipAddressType) return "defaultingIPAddressType";
  if (!vpcID) return "defaultingVpcID";
  return targetGroupProtocol ? "checkTargetGroupIPAddressType" : "defaultingTargetGroupProtocol";
}

/** As its author wrote it: what is no text counts as absent, and is refused by the schema. */
function specIn(object: unknown): BindingSpec {
  const spec = record(record(object).spec);
  const { name = "", port = 0 } = record(spec.serviceRef) as { readonly name?: string; readonly port?: number | string };
  return { ...(spec as Partial<BindingSpec>), serviceRef: { name, port } };
}
