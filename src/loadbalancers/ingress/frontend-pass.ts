/** Brings the network load balancer in front of a group's own to what the group asks for, and registers the one behind with it. */
import type { Ask } from "../../aws/ask.ts";
import type { Step } from "../../aws/plan.ts";
import { again, type Outcome } from "../../runtime/controller.ts";
import { applySurvey } from "../apply.ts";
import { registerBalancers } from "../elbv2/balancer-targets.ts";
import { refusesDeletion } from "../elbv2/load-balancer-parts.ts";
import { retire } from "../elbv2/replacement.ts";
import { findLoadBalancers } from "../find.ts";
import { freshAges } from "../inventory.ts";
import type { SecurityGroups } from "../model.ts";
import type { FoundNetwork } from "../network/find.ts";
import type { SeenNetwork } from "../network/plan.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import { remove } from "../remove.ts";
import { type Survey, survey } from "../survey.ts";
import { TargetSets } from "../targets/target-set.ts";
import { noTargets } from "../targets.ts";
import type { GroupContext } from "./context.ts";
import type { GroupDesire } from "./desire.ts";
import type { Frontend } from "./frontend.ts";
import { frontend } from "./frontend-kind.ts";
import type { Group } from "./groups.ts";
import { frontOwnerOf } from "./owner.ts";
import type { GroupSurvey } from "./survey.ts";
import { logStep, staleMs, waitMs } from "./telling.ts";

/** The load balancer that traffic goes to, and the security groups on it. */
export interface Behind {
  readonly arn: string;
  readonly securityGroups: readonly string[];
}

export interface FrontendState {
  readonly hostname?: string;
  /** Something is left to do. */
  readonly outcome?: Outcome;
}

export async function ensureFrontend(
  group: Group,
  owner: LoadBalancerOwner,
  { desire, front }: GroupSurvey,
  behind: Behind,
  context: GroupContext,
  ask: Ask,
): Promise<FrontendState> {
  const wish = desire.frontend;
  if (wish === undefined) {
    // What somebody asked for whom nobody understands now stays.
    if (front === undefined || desire.faults.size > 0) return front ? { hostname: front.hostname } : {};
    const isGone = await removeFrontend(owner, context, ask);
    return isGone ? {} : { outcome: again(waitMs, "the load balancer in front goes") };
  }
  if (front && front.internal !== wish.model.internal && !desire.model.keepsUnclaimed) {
    await retire([front], frontOwnerOf(owner), context.inventory, ask, logStep(context, group));
    return { outcome: again(staleMs, "a load balancer of another scheme is made in front") };
  }
  const { inventory, host } = context;
  const seen = await surveyFrontend(owner, desire, wish, front, behind.securityGroups, context, ask);
  const targetSets = new TargetSets();
  const ensured = await applySurvey(
    seen,
    {
      inventory,
      clock: host.world.clock,
      onStep: logStep(context, group),
      targetSets,
      began: targetSets.now(),
      wanted: async () => noTargets,
    },
    ask,
  );
  const hostname = ensured.hostname ?? front?.hostname;
  const told = hostname === undefined ? {} : { hostname };
  if (ensured.applied.kind === "waiting") return { ...told, outcome: again(waitMs, ensured.applied.why) };
  const { targetGroups } = frontend.afterParts(wish.model, seen.seen as SeenNetwork, ensured.applied.made);
  const arns = new Map(wish.model.targetGroups.map(({ name }, i) => [name, targetGroups[i]?.arn ?? ""]));
  const targets = [...wish.ports].map(([name, port]) => ({ group: { name, arn: arns.get(name) ?? "" }, balancer: behind.arn, port }));
  const outcome = await registerBalancers(targets, inventory.cloud, ask, logStep(context, group));
  return { ...told, ...(outcome && { outcome }) };
}

/** Looks, and changes nothing. */
export async function surveyFrontend(
  owner: LoadBalancerOwner,
  { model: behind }: Pick<GroupDesire, "model">,
  wish: Frontend,
  front: FoundNetwork | undefined,
  securityGroups: readonly string[],
  { inventory, attributesAgeMs }: Pick<GroupContext, "inventory" | "attributesAgeMs">,
  ask: Ask,
): Promise<Survey> {
  const shared: SecurityGroups = { kind: "wanted", groups: securityGroups.map((id) => ({ kind: "given", id })) };
  const model = wish.sharesGroups ? { ...wish.model, securityGroups: shared } : wish.model;
  const seen = await survey(
    {
      kind: frontend,
      standing: front ? [front] : [],
      newName: model.name,
      targets: noTargets,
      observe: {
        owner: frontOwnerOf(owner),
        tags: true,
        targetGroupAttributes: false,
        attributesKey: JSON.stringify(model.attributes),
        attributesAgeMs,
        managed: { attributes: Object.keys(model.attributes).length > 0, listenerAttributes: [], capacity: false },
      },
      desire: () => ({
        model,
        subnets: { kind: "chosen", subnets: [], verdicts: [] },
        access: { kind: "from-group", loadBalancer: model.name },
        problems: [],
        warnings: [],
      }),
      problemsWith: ({ problems }) => problems,
    },
    inventory,
    ask,
  );
  // What somebody may have said of it whom nobody understands now stays; what others need beside it is made.
  const isCareful = front !== undefined && behind.keepsUnclaimed !== undefined;
  return isCareful ? { ...seen, steps: seen.steps.filter(({ effect }) => effect === "create") } : seen;
}

/** Says whether nothing of it is left. Goes before the one behind, which AWS keeps for as long as it is somebody's target. */
export async function removeFrontend(owner: LoadBalancerOwner, context: GroupContext, ask: Ask): Promise<boolean> {
  const { inventory, book } = context;
  const front = frontOwnerOf(owner);
  const onStep = ({ what, why }: Step) => context.host.log.info(what, { why, group: owner.key });
  try {
    const removal = await remove(front, { inventory, settings: { disableNodeIngress: true }, book }, ask, {
      kinds: front.kinds,
      ages: freshAges,
      marksAgeMs: freshAges.presentMs,
      withGroups: false,
      onStep,
    });
    return removal.kind === "gone";
  } catch (error) {
    if (!refusesDeletion(error)) throw error;
    const { found } = await findLoadBalancers(front, inventory, freshAges, ask);
    await retire(found as readonly FoundNetwork[], front, inventory, ask, onStep);
    return false;
  }
}
