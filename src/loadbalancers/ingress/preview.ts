/** Everything that would be done for the group of an Ingress, and nothing of it done. */
import type { Ask } from "../../aws/ask.ts";
import type { Step } from "../../aws/plan.ts";
import type { FoundApplication } from "../application/find.ts";
import { guardsUnknown } from "../application/guards.ts";
import { application } from "../application/kind.ts";
import type { SeenApplication } from "../application/plan.ts";
import { reconcileAges } from "../inventory.ts";
import { wantedGroups } from "../model.ts";
import { leftovers, planRemoval } from "../remove.ts";
import { gatedAnnotations, unknownAnnotations } from "./annotations.ts";
import { surveyCertificates } from "./certificate-pass.ts";
import { type ClassSources, classOf } from "./classes.ts";
import type { SurveyContext } from "./context.ts";
import { surveyFrontend } from "./frontend-pass.ts";
import { type Group, groupOf, groupsFinalized, membershipOf, stackOf } from "./groups.ts";
import { ownerOf } from "./owner.ts";
import type { IngressSettings } from "./settings.ts";
import { type GroupSurvey, surveyGroup } from "./survey.ts";
import { type IngressView, keyOf } from "./view.ts";

export interface GroupPreview {
  readonly group: Group;
  /** In the order they are carried out. */
  readonly steps: readonly Step[];
  /** What keeps the whole group from being served. */
  readonly problems: readonly string[];
  /** What is wrong with single members, and what they rely on in vain, by their keys. */
  readonly faults: ReadonlyMap<string, readonly string[]>;
  readonly warnings: ReadonlyMap<string, readonly string[]>;
  /** Undefined where everything has only to go. */
  readonly survey?: GroupSurvey;
}

/** The group that an Ingress is in, or is leaving; a text says why it is in none. */
export function groupFor(ingress: IngressView, all: readonly IngressView[], sources: ClassSources): Group | string {
  const membershipIn = (view: IngressView) => membershipOf(view, classOf(view, sources));
  const membership = membershipIn(ingress);
  const [left] = groupsFinalized(ingress);
  const id = membership.kind === "in" ? membership.group : left;
  if (id !== undefined) return groupOf(id, all, membershipIn);
  if ("message" in membership) return membership.message;
  return ingress.isDeleted ? "it is being deleted, and nothing of it is left" : "another controller serves its class";
}

/** Every group once, and why Ingresses are in none that mean to be, by their keys. Those of other controllers are left out. */
export function allGroups(
  all: readonly IngressView[],
  sources: ClassSources,
): { readonly groups: readonly Group[]; readonly refused: ReadonlyMap<string, string> } {
  const membershipIn = (view: IngressView) => membershipOf(view, classOf(view, sources));
  const refused = new Map<string, string>();
  const ids = new Map<string, Group["id"]>();
  for (const ingress of all) {
    const membership = membershipIn(ingress);
    if ("message" in membership) refused.set(keyOf(ingress), membership.message);
    const current = membership.kind === "in" ? [membership.group] : [];
    for (const id of [...current, ...groupsFinalized(ingress)]) ids.set(stackOf(id), id);
  }
  const sorted = [...ids].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { groups: sorted.map(([, id]) => groupOf(id, all, membershipIn)), refused };
}

export async function previewGroup(group: Group, context: SurveyContext, ask: Ask): Promise<GroupPreview> {
  const owner = ownerOf(group.id, context.settings);
  const warnings = warningsOf(group, context.settings);
  if (group.members.length === 0) {
    const { inventory } = context;
    const left = await leftovers(owner, { inventory, settings: { disableNodeIngress: true } }, owner.kinds, reconcileAges, ask);
    const { unwanted } = await surveyCertificates(group, context, ask);
    const steps = [...planRemoval(left, owner), ...unwanted.flatMap(({ removal }) => removal)];
    return { group, steps, problems: [], faults: new Map(), warnings };
  }
  const certificates = await surveyCertificates(group, context, ask);
  const survey = await surveyGroup(group, owner, context, certificates, ask);
  const { seen, desire, replaced, front } = survey;
  const unknown = guardsUnknown(seen.seen as SeenApplication);
  if (unknown) throw unknown;
  const groups = wantedGroups(desire.model).map((entry) =>
    entry.kind === "given" ? entry.id : (seen.seen.managedGroup?.id ?? entry.group.name),
  );
  const inFront = desire.frontend ? (await surveyFrontend(owner, desire, desire.frontend, front, groups, context, ask)).steps : [];
  const deletion = (some: readonly FoundApplication[]) => some.flatMap((lb) => application.planDeletion(lb, owner.noun));
  const { unwanted } = await surveyCertificates(group, context, ask, [...desire.faults.keys()]);
  const cleared = unwanted.flatMap(({ removal }) => removal);
  // Where the old one has to go first, what is made in its place is planned when it is gone.
  const steps =
    replaced.inTheWay.length > 0
      ? deletion(replaced.inTheWay)
      : [...seen.steps, ...inFront, ...deletion(replaced.loadBalancers), ...cleared];
  const problems = seen.problems.map(({ message }) => message);
  return {
    group,
    // Certificates are requested first, and everything else waits for them.
    steps: [...certificates.steps, ...(problems.length > 0 ? [] : steps)],
    problems,
    faults: desire.faults,
    warnings,
    survey,
  };
}

function warningsOf({ members }: Group, { gates }: IngressSettings): ReadonlyMap<string, readonly string[]> {
  return new Map(
    members.flatMap(({ ingress }) => {
      const odd = [...gatedAnnotations(ingress.annotations, gates), ...unknownAnnotations(ingress.annotations)];
      return odd.length > 0 ? [[keyOf(ingress), odd.map(({ message }) => message)] as const] : [];
    }),
  );
}

/** `group shop`, or `Ingress shop/web` where it is by itself. */
export const groupTitle = ({ id }: Group) => (id.kind === "explicit" ? `Ingress group ${stackOf(id)}` : `Ingress ${stackOf(id)}`);
