/** The annotation `dry-run-plan`, written with the gate IngressPlanAnnotation and taken away without it. */
import type { Ask } from "../../aws/ask.ts";
import { messageOf } from "../../runtime/message-of.ts";
import type { GroupContext } from "./context.ts";
import type { Group } from "./groups.ts";
import type { SeenIngress } from "./seen.ts";
import { stackJson } from "./stack-json.ts";
import type { GroupSurvey } from "./survey.ts";
import { keyOf } from "./view.ts";

/** With the gate the first member tells what the group asks for; nobody else does. That it cannot be written is no reason not to serve. */
export async function recordPlan(
  { id }: Group,
  members: readonly SeenIngress[],
  { desire }: GroupSurvey,
  { settings, report, host }: GroupContext,
  { signal }: Ask,
): Promise<void> {
  const text = settings.gates.planAnnotation ? stackJson(id, desire) : "";
  for (const [i, member] of members.entries()) {
    await report.recordPlan(member, i === 0 ? text : "", signal).catch((error: unknown) => {
      signal.throwIfAborted();
      host.log.warn("the plan cannot be written to an Ingress", { ingress: keyOf(member.view), error: messageOf(error) });
    });
  }
}
