/** What is said of a route's attachment to each of its parents. Pure. */
import type { RouteFailure } from "./attachment.ts";
import { ownConditions, type Said, said } from "./conditions.ts";
import type { RuleFailure } from "./findings.ts";
import type { Moment } from "./status.ts";
import type { ParentRef, ParentStatus, RouteView } from "./view.ts";

/** Reasons that concern what a route refers to; all others concern whether it is accepted. */
const refReasons = ["RefNotPermitted", "InvalidKind", "BackendNotFound", "UnsupportedProtocol"];

const accepted = said("Accepted", true, "Accepted", "");
const resolved = said("ResolvedRefs", true, "ResolvedRefs", "");

/** Of an attachment that failed, or of one whose rules have failures. */
export function routeConditions(
  { rules }: Pick<RouteView, "rules">,
  attachment: RouteFailure | undefined,
  failures: readonly RuleFailure[],
): readonly Said[] {
  if (attachment) return [said("Accepted", false, attachment.reason, attachment.message), resolved];
  const isRef = ({ reason }: RouteFailure) => refReasons.includes(reason);
  const ref = failures.find(isRef);
  const bad = failures.filter((failure) => !isRef(failure));
  const references = ref ? said("ResolvedRefs", false, ref.reason, ref.message) : resolved;
  const [first] = bad;
  if (first === undefined) return [accepted, references];
  const count = new Set(bad.map(({ ruleIndex }) => ruleIndex)).size;
  if (count >= rules.length) return [said("Accepted", false, first.reason, first.message), references];
  const rest = `Dropped Rule ${first.ruleIndex}: ${first.message}`;
  return [accepted, references, said("PartiallyInvalid", true, "UnsupportedValue", rest)];
}

/** What a controller says about one parentRef of a route. */
export interface ParentVerdict {
  readonly ref: ParentRef;
  readonly conditions: readonly Said[];
}

/**
 * The parents of a route as they are to be stored. Only entries of this controller are touched: those of refs that were looked at
 * are as they were found, those of refs that are gone from the route go.
 */
export function parentsOf(
  route: Pick<RouteView, "parentRefs" | "namespace">,
  stored: readonly ParentStatus[],
  verdicts: readonly ParentVerdict[],
  controllerName: string,
  { generation, now }: Moment,
): readonly ParentStatus[] {
  const isSame = (a: ParentRef, b: ParentRef) => refKey(a, route.namespace) === refKey(b, route.namespace);
  const others = stored.filter((entry) => entry.controllerName !== controllerName);
  const own = stored.filter((entry) => entry.controllerName === controllerName);
  const kept = own.filter(
    ({ parentRef }) => route.parentRefs.some((ref) => isSame(ref, parentRef)) && !verdicts.some(({ ref }) => isSame(ref, parentRef)),
  );
  const looked = verdicts.map(({ ref, conditions }): ParentStatus => {
    const before = own.find(({ parentRef }) => isSame(parentRef, ref))?.conditions ?? [];
    return { parentRef: ref, controllerName, conditions: ownConditions(before, conditions, generation, now) };
  });
  const distinct = looked.filter((entry, i) => looked.findIndex((each) => isSame(each.parentRef, entry.parentRef)) === i);
  return [...others, ...kept, ...distinct].toSorted((a, b) => place(route, a, isSame) - place(route, b, isSame));
}

/** In the order of the route's own parentRefs, so that who writes first makes no difference. */
const place = (route: Pick<RouteView, "parentRefs">, { parentRef }: ParentStatus, isSame: (a: ParentRef, b: ParentRef) => boolean) => {
  const at = route.parentRefs.findIndex((ref) => isSame(ref, parentRef));
  return at < 0 ? route.parentRefs.length : at;
};

const refKey = ({ group, kind, namespace, name, sectionName, port }: ParentRef, home: string) =>
  JSON.stringify([group, kind, namespace || home, name, sectionName, port]);

/** The form of the API: what is empty is left out. */
export function refToApi({ group, kind, namespace, name, sectionName, port }: ParentRef): object {
  return { group, kind, ...(namespace && { namespace }), name, ...(sectionName && { sectionName }), ...(port > 0 && { port }) };
}
