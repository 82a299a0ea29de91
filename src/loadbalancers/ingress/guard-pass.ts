/** Puts in front of a group's load balancer what guards it: web ACLs, and the protection of Shield. */
import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import { again, type Outcome } from "../../runtime/controller.ts";
import { guardsUnknown, isGuardStep } from "../application/guards.ts";
import type { SeenApplication } from "../application/plan.ts";
import { annotationKey } from "./annotations.ts";
import type { GroupContext } from "./context.ts";
import type { Group } from "./groups.ts";
import { mentionedGuards } from "./guards.ts";
import type { GroupSurvey } from "./survey.ts";
import { logStep, telling, waitMs } from "./telling.ts";
import { keyOf } from "./view.ts";

/** After the load balancer serves: that something guards it badly is no reason not to. An error is told, and given back. */
export async function applyGuards(
  group: Group,
  { seen, desire }: GroupSurvey,
  made: ReadonlyMap<string, string>,
  context: GroupContext,
  ask: Ask,
): Promise<{ readonly outcome?: Outcome; readonly error?: unknown }> {
  const { inventory, settings } = context;
  const steps = seen.steps.filter(isGuardStep);
  const unknown = guardsUnknown(seen.seen as SeenApplication);
  if (steps.length === 0 && unknown === undefined) return {};
  const concerned = group.members.filter((member) => mentionedGuards([member], annotationKey, settings).length > 0);
  const authors = concerned.flatMap(({ ingress }) => context.ingresses.get(keyOf(ingress)) ?? []);
  const arn = (seen.seen as SeenApplication).loadBalancer?.arn ?? made.get(`load balancer ${desire.model.name}`) ?? "";
  try {
    const work = async () => {
      const applied = await apply(steps, inventory.cloud, { ...ask, made, onStep: logStep(context, group) });
      if (unknown) throw unknown;
      return applied;
    };
    const applied = await telling(authors, "FailedDeployModel", context, ask, work);
    return applied.kind === "waiting" ? { outcome: again(waitMs, applied.why) } : {};
  } catch (error) {
    ask.signal.throwIfAborted();
    return { error };
  } finally {
    inventory.cloud.protections.forget(arn);
  }
}
