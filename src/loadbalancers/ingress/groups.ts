/** Ingresses that share a load balancer: which are in a group, in which order, and which have left it. Pure. */
import { parseInteger } from "../values.ts";
import { annotationKey } from "./annotations.ts";
import type { ClassVerdict } from "./classes.ts";
import { type ClassParams, type IngressView, keyOf } from "./view.ts";

/** A group by its name, or an Ingress that is a group of its own. */
export type GroupId =
  | { readonly kind: "explicit"; readonly name: string }
  | { readonly kind: "implicit"; readonly namespace: string; readonly name: string };

/** As tags and hashes have it. */
export const stackOf = (group: GroupId) => (group.kind === "explicit" ? group.name : keyOf(group));

/** By which what concerns an Ingress in a group is remembered: one that moves asks for something else in each of the two. */
export const keyIn = (group: GroupId, ingress: string) => `${stackOf(group)} ${ingress}`;

const implicitFinalizer = "ingress.k8s.aws/resources";
const explicitFinalizer = "group.ingress.k8s.aws/";

export const finalizerOf = (group: GroupId) => (group.kind === "explicit" ? explicitFinalizer + group.name : implicitFinalizer);

/** The groups that finalizers on an Ingress speak of. */
export function groupsFinalized(ingress: IngressView): readonly GroupId[] {
  return ingress.finalizers.flatMap((finalizer): GroupId[] => {
    if (finalizer === implicitFinalizer) return [ownGroup(ingress)];
    return finalizer.startsWith(explicitFinalizer) ? [{ kind: "explicit", name: finalizer.slice(explicitFinalizer.length) }] : [];
  });
}

const ownGroup = ({ namespace, name }: IngressView): GroupId => ({ kind: "implicit", namespace, name });

export type Membership =
  | { readonly kind: "in"; readonly group: GroupId; readonly params?: ClassParams }
  /** In no group: it is deleted, or another controller's. */
  | { readonly kind: "none" }
  /** Its group has an impossible name: it counts as having left. */
  | { readonly kind: "invalid-group"; readonly message: string }
  /** Its class cannot be told: what it has stays, and it gets nothing new. */
  | { readonly kind: "invalid-class"; readonly message: string };

export function membershipOf(ingress: IngressView, verdict: ClassVerdict): Membership {
  if (ingress.isDeleted || verdict.kind === "foreign") return { kind: "none" };
  if (verdict.kind === "invalid") return { kind: "invalid-class", message: verdict.message };
  const { params } = verdict;
  const name = params?.group ? params.group.name : ingress.annotations[annotationKey("group.name")];
  const given = params && { params };
  if (name === undefined) return { kind: "in", group: ownGroup(ingress), ...given };
  const fault = groupNameFault(name);
  return fault === undefined
    ? { kind: "in", group: { kind: "explicit", name }, ...given }
    : { kind: "invalid-group", message: `invalid ingress group: ${fault}` };
}

function groupNameFault(name: string): string | undefined {
  if (!/^([a-z0-9][-a-z0-9.]*)?[a-z0-9]$/.test(name)) {
    return "groupName must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
  }
  return name.length > 63 ? "groupName must be no more than 63 characters" : undefined;
}

/** One Ingress of a group. */
export interface Member {
  readonly ingress: IngressView;
  readonly params?: ClassParams;
  /** Its class or its place in the group cannot be told: it keeps what it has. */
  readonly problem?: string;
  /** It is the class that cannot be told. */
  readonly isClassUnknown?: true;
}

export interface Group {
  readonly id: GroupId;
  /** In the order of their rules. */
  readonly members: readonly Member[];
  /** They carry its finalizer and are in it no longer. */
  readonly leaving: readonly IngressView[];
}

/** Everything that concerns a group, of all Ingresses there are. One that cannot be read is a problem of its own and nobody else's. */
export function groupOf(id: GroupId, ingresses: readonly IngressView[], membershipOf: (ingress: IngressView) => Membership): Group {
  const members: (Member & { readonly order: number })[] = [];
  const leaving: IngressView[] = [];
  const finalizer = finalizerOf(id);
  for (const ingress of ingresses) {
    const membership = membershipOf(ingress);
    const isFinalized = ingress.finalizers.includes(finalizer) && (id.kind === "explicit" || stackOf(id) === keyOf(ingress));
    if (membership.kind === "in" && stackOf(membership.group) === stackOf(id) && membership.group.kind === id.kind) {
      const { order, problem } = orderOf(ingress);
      members.push({ ingress, ...(membership.params && { params: membership.params }), order, ...(problem !== undefined && { problem }) });
    } else if (isFinalized && membership.kind === "invalid-class")
      members.push({ ingress, order: orderOf(ingress).order, problem: membership.message, isClassUnknown: true });
    else if (isFinalized) leaving.push(ingress);
  }
  const inOrder = members.toSorted((a, b) => a.order - b.order || compare(keyOf(a.ingress), keyOf(b.ingress)));
  return { id, members: inOrder.map(({ order, ...member }) => member), leaving };
}

/** Whether it has the address of this group: of its own; where its class cannot be told, of the only one that it has been in. */
export function isAddressed(ingress: IngressView, membership: Membership, id: GroupId): boolean {
  const its = membership.kind === "invalid-class" ? groupsFinalized(ingress) : membership.kind === "in" ? [membership.group] : [];
  return its.length === 1 && its.every((group) => finalizerOf(group) === finalizerOf(id) && stackOf(group) === stackOf(id));
}

const maxOrder = 1000;

/** Its place in its group. One that cannot be read is where it would be without. */
function orderOf(ingress: IngressView): { readonly order: number; readonly problem?: string } {
  const key = annotationKey("group.order");
  const given = ingress.annotations[key];
  if (given === undefined) return { order: 0 };
  const order = parseInteger(given);
  if (order === undefined) return { order: 0, problem: `failed to parse int64 annotation, ${key}: ${given}` };
  if (Math.abs(order) <= maxOrder) return { order };
  const message = `explicit Ingress group order must be within [-${maxOrder}:${maxOrder}], Ingress: ${keyOf(ingress)}, order: ${order}`;
  return { order: 0, problem: message };
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
