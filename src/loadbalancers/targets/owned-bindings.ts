/** The TargetGroupBindings that are made for an owner of load balancers: which are there, and what makes them as they are wanted. */
import { deleteTargetGroup } from "../../aws/elbv2-actions.ts";
import { isStepOf, type Step } from "../../aws/plan.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import { sortedJson } from "../elbv2/actions.ts";
import {
  type BindingSpec,
  type Bindings,
  bindingFinalizer,
  type NetworkingPeer,
  type SeenBinding,
  targetGroupBindings,
} from "./binding.ts";

/** A TargetGroupBinding as it is wanted; the ARN of its target group is known when that stands. */
export interface BindingWish {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  /** Written when it is made. */
  readonly annotations?: Labels;
  /** Name of the target group in the model. */
  readonly targetGroup: string;
  readonly spec: Omit<BindingSpec, "targetGroupARN" | "targetGroupName">;
}

/** By which an owner's bindings are known. */
export type Labels = Readonly<Record<string, string>>;

export interface BindingParts {
  readonly kube: KubeClient;
  readonly bindings: Bindings;
}

/** Those that carry an owner's labels. */
export function bindingsOf(labels: Labels, bindings: Bindings): readonly SeenBinding[] {
  const pairs = Object.entries(labels);
  return bindings.list().filter(({ metadata }) => pairs.every(([key, value]) => metadata.labels[key] === value));
}

/** Whether a step deletes a target group that one of the bindings still fills. */
export function deletesBoundGroup(step: Step, bindings: readonly SeenBinding[]): boolean {
  const { TargetGroupArn: arn } = step.input as { readonly TargetGroupArn?: unknown };
  return isStepOf(step, deleteTargetGroup) && bindings.some(({ spec }) => spec.targetGroupARN === arn);
}

/** The ARN of a target group by its name in the model, and of the managed security group by its place-holder. */
export interface BindingIds {
  arnOf(targetGroup: string): string | undefined;
  groupId(placeholder: string): string;
}

/** Throws an error that keeps all bindings from being written, and returns from one that concerns this one alone. */
export type OnBindingError = (targetGroup: string | undefined, error: unknown) => void;

const throwsAll: OnBindingError = (_, error) => {
  throw error;
};

/** Creates what is missing and changes what differs. A binding is known by its target group: one of another name is as good. */
export async function writeBindings(
  labels: Labels,
  wishes: readonly BindingWish[],
  ids: BindingIds,
  { kube, bindings }: BindingParts,
  signal: AbortSignal,
  onError: OnBindingError = throwsAll,
): Promise<boolean> {
  const own = bindingsOf(labels, bindings);
  let changed = false;
  for (const wish of wishes) {
    const arn = ids.arnOf(wish.targetGroup);
    if (arn === undefined) continue;
    const spec = { ...resolved(wish.spec, ids), targetGroupARN: arn };
    const present = own.find((binding) => binding.spec.targetGroupARN === arn);
    if (present === undefined) {
      const { namespace, name, annotations } = wish;
      // From the start: who deletes it before its controller has seen it would leave pods with a gate that nobody opens any more.
      const finalizers = [bindingFinalizer];
      const metadata = { namespace, name, labels: wish.labels, finalizers, ...(annotations && { annotations }) };
      await kube.create(targetGroupBindings, { metadata, spec }, { signal }).catch((error: unknown) => {
        // Made a moment ago, and not seen yet: the next look compares it.
        if (!isApiError(error, "already-exists")) onError(wish.targetGroup, error);
      });
      changed = true;
    } else if (sortedJson(withoutDefaults(present.spec)) !== sortedJson(withoutDefaults(spec))) {
      const { namespace, name, uid } = present.metadata;
      const merge = { spec: replaced(present.spec, spec) };
      await kube
        .patch(targetGroupBindings, { namespace, name }, { merge, uid }, { signal })
        .catch((error: unknown) => onError(wish.targetGroup, error));
      changed = true;
    }
  }
  return changed;
}

/** Deletes those whose target groups nobody asks for. Their own controller empties the groups, and lets the bindings go. */
export async function deleteBindings(
  surplus: readonly SeenBinding[],
  { kube }: BindingParts,
  signal: AbortSignal,
  onError: OnBindingError = throwsAll,
): Promise<void> {
  for (const { metadata } of surplus) {
    if (metadata.deletionTimestamp !== undefined) continue;
    const { namespace, name, uid } = metadata;
    await kube.delete(targetGroupBindings, { namespace, name }, { uid, signal }).catch((error: unknown) => {
      if (!isApiError(error, "not-found", "conflict")) onError(undefined, error);
    });
  }
}

function resolved(spec: BindingWish["spec"], { groupId }: BindingIds): BindingWish["spec"] {
  if (!spec.networking?.ingress) return spec;
  const known = (peer: NetworkingPeer): NetworkingPeer =>
    peer.securityGroup ? { securityGroup: { groupID: groupId(peer.securityGroup.groupID) } } : peer;
  return { ...spec, networking: { ingress: spec.networking.ingress.map((rule) => ({ ...rule, from: rule.from.map(known) })) } };
}

/** What the server leaves out, or fills in, means the same. */
const withoutDefaults = (spec: object) => {
  const { multiClusterTargetGroup, ...rest } = spec as { readonly multiClusterTargetGroup?: boolean };
  return { ...rest, ...(multiClusterTargetGroup && { multiClusterTargetGroup }) };
};

/** A merge that also takes away what is not said any more, however deep it lies. */
function replaced(present: object, wanted: object): object {
  const gone = Object.keys(present).filter((key) => !(key in wanted));
  const kept = Object.entries(wanted).map(([key, value]) => {
    const before = (present as Readonly<Record<string, unknown>>)[key];
    return [key, isMap(before) && isMap(value) ? replaced(before, value) : value] as const;
  });
  return { ...Object.fromEntries(gone.map((key) => [key, null])), ...Object.fromEntries(kept) };
}

const isMap = (value: unknown): value is object => typeof value === "object" && value !== null && !Array.isArray(value);
