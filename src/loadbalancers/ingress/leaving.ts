/** Ingresses that leave a group for which nothing can be built: they need not wait until the others are understood. */
import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import type { SeenApplication } from "../application/plan.ts";
import { type SeenTargetGroup, targetGroupDeletion } from "../target-group-plan.ts";
import { bindingsOf, deleteBindings } from "../targets/owned-bindings.ts";
import { removeCertificates } from "./certificate-pass.ts";
import type { GroupContext } from "./context.ts";
import { type Group, stackOf } from "./groups.ts";
import { bindingLabels } from "./names.ts";
import type { GroupSurvey } from "./survey.ts";
import { letAllGo, logStep, telling, warnLeaving } from "./telling.ts";
import { keyOf } from "./view.ts";

/** Where no load balancer stands, only target groups and certificates can be left of them; with the next look after these they are let go. */
export async function leaveUnbuilt(group: Group, survey: GroupSurvey, context: GroupContext, ask: Ask): Promise<void> {
  const { seen, replaced, certificates } = survey;
  if (group.leaving.length === 0 || seen.found !== undefined || replaced.loadBalancers.length > 0) return;
  const { inventory } = context;
  const left = (seen.seen as SeenApplication).targetGroups.filter((each) => isOfLeaving(each, group));
  if (left.length === 0) {
    const staying = group.members.map(({ ingress }) => keyOf(ingress));
    const { isCleared, complaint } = await removeCertificates(group, certificates, { for: staying }, context, ask, logStep(context, group));
    warnLeaving(group, complaint, context);
    if (isCleared) await letAllGo(group, context, ask);
    return;
  }
  const arns = new Set<string | undefined>(left.map(({ arn }) => arn));
  const bound = bindingsOf(bindingLabels(group.id), context.bindings).filter(({ spec }) => arns.has(spec.targetGroupARN));
  const leaving = group.leaving.flatMap((view) => context.ingresses.get(keyOf(view)) ?? []);
  await telling(leaving, "FailedDeployModel", context, ask, async () => {
    try {
      await apply(left.map(targetGroupDeletion), inventory.cloud, { ...ask, onStep: logStep(context, group) });
    } finally {
      for (const { name } of left) inventory.targetGroups.touch(name, stackOf(group.id));
    }
    await deleteBindings(bound, context, ask.signal);
  });
}

/** Where the names of two Ingresses fit, the longer one is meant. */
function isOfLeaving({ part = "" }: SeenTargetGroup, { members, leaving }: Group): boolean {
  const staying = members.map(({ ingress }) => ({ key: keyOf(ingress), isLeaving: false }));
  const going = leaving.map((ingress) => ({ key: keyOf(ingress), isLeaving: true }));
  const [owner] = [...staying, ...going].filter(({ key }) => part.startsWith(`${key}-`)).toSorted((a, b) => b.key.length - a.key.length);
  return owner?.isLeaving ?? false;
}
