/** Which attributes a group has set, as it is written down on its Ingresses. */
import type { GroupContext, SurveyContext } from "./context.ts";
import { type Group, stackOf } from "./groups.ts";
import { type SetAttribute, setAttributesOf, setCapacity } from "./resets.ts";
import type { SeenIngress } from "./seen.ts";
import type { GroupSurvey } from "./survey.ts";
import { keyOf } from "./view.ts";

type Ingresses = Pick<SurveyContext["ingresses"], "get">;

/** Begins what is recorded of a group: an Ingress that moves takes with it what its former group has set elsewhere. */
const markOf = ({ id }: Group) => `${stackOf(id)} `;

/** Whoever was the first of the group before may have the record. Nothing without the gate. */
export function recordedAttributes(group: Group, { ingresses, settings }: Pick<SurveyContext, "ingresses" | "settings">) {
  if (!settings.gates.enhancedDefaults) return [];
  const mark = markOf(group);
  const own = holders(group, ingresses).flatMap(({ setAttributes }) => setAttributes.filter((each) => each.startsWith(mark)));
  const all = [...new Set(own.map((each) => each.slice(mark.length)))].toSorted();
  return settings.gates.capacityReservation ? all : all.filter((each) => each !== setCapacity);
}

function holders({ members, leaving }: Group, ingresses: Ingresses): readonly SeenIngress[] {
  return [...members.map(({ ingress }) => ingress), ...leaving].flatMap((view) => ingresses.get(keyOf(view)) ?? []);
}

/** Before anything is set: whoever comes after a crash in the middle must know of it. False: nothing may be set yet. */
export async function recordBefore(group: Group, survey: GroupSurvey, context: GroupContext, signal: AbortSignal): Promise<boolean> {
  const before = recordedAttributes(group, context);
  const asked = setAttributesOf(survey.desire.model).filter((each) => !before.includes(each));
  return asked.length === 0 || record(group, [...before, ...asked].toSorted(), context, signal);
}

/** After all of it was brought about. Where nothing is reset, because somebody is not understood, whoever leaves must not take the record along. */
export function recordAfter(group: Group, survey: GroupSurvey, context: GroupContext, signal: AbortSignal): Promise<boolean> {
  const { model } = survey.desire;
  const kept = model.keepsUnclaimed ? recordedAttributes(group, context) : [];
  return record(group, [...new Set([...kept, ...setAttributesOf(model)])].toSorted(), context, signal);
}

/** Nothing of the group is left to be reset. */
export const recordNothing = (group: Group, context: GroupContext, signal: AbortSignal): Promise<boolean> =>
  record(group, [], context, signal);

/** False where an Ingress has changed since it was seen. */
async function record(group: Group, all: readonly SetAttribute[], context: GroupContext, signal: AbortSignal): Promise<boolean> {
  if (!context.settings.gates.enhancedDefaults) return true;
  const [first] = group.members;
  const firstKey = first && keyOf(first.ingress);
  const kept = holders(group, context.ingresses).filter(({ view }) => !view.isDeleted);
  const mark = markOf(group);
  const own = all.map((each) => mark + each);
  let isRecorded = true;
  for (const ingress of kept) {
    const others = ingress.setAttributes.filter((each) => !each.startsWith(mark));
    const wanted = [...others, ...(keyOf(ingress.view) === firstKey ? own : [])];
    if (!(await context.report.recordAttributes(ingress, wanted.toSorted(), signal))) isRecorded = false;
  }
  return isRecorded;
}
