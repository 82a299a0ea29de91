/** Which ListenerSets add their listeners to a Gateway. Pure. */
import type { LabelSelector } from "../targets/binding.ts";
import { matchesSelector, selectorProblem } from "../targets/selector.ts";
import { type AllowedNamespaces, type GatewayView, keyOf, type ListenerSetView } from "./view.ts";

export type NamespaceLabels = (namespace: string) => Readonly<Record<string, string>> | undefined;

export interface JoiningSets {
  /** In the order in which their listeners have the right of way. */
  readonly accepted: readonly ListenerSetView[];
  readonly rejected: readonly ListenerSetView[];
}

/** Those that name the Gateway. */
export function joiningSets(gateway: GatewayView, sets: readonly ListenerSetView[], labelsOf: NamespaceLabels): JoiningSets {
  const { namespace, name, allowedListeners } = gateway;
  const relevant = sets
    .filter(({ parent, isDeleted }) => !isDeleted && parent.kind === "Gateway" && parent.namespace === namespace && parent.name === name)
    .toSorted((a, b) => compareText(a.createdAt, b.createdAt) || compareText(keyOf(a), keyOf(b)));
  const isAllowed = (set: ListenerSetView) => allows(allowedListeners, namespace, set.namespace, labelsOf);
  return { accepted: relevant.filter(isAllowed), rejected: relevant.filter((set) => !isAllowed(set)) };
}

/** Whether something in one namespace may attach to something in another. */
export function allows({ from, selector }: AllowedNamespaces, home: string, namespace: string, labelsOf: NamespaceLabels): boolean {
  if (from === "All") return true;
  if (from === "Same") return home === namespace;
  if (from !== "Selector" || selector === undefined || selectorProblem(selector) !== undefined) return false;
  return matchesNamespace(selector, labelsOf(namespace));
}

const matchesNamespace = (selector: LabelSelector, labels: Readonly<Record<string, string>> | undefined) =>
  labels !== undefined && matchesSelector(selector, labels);

export const compareText = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1);
