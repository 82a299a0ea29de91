/** Brings the network load balancer in front of a group's own to what the group asks for, and registers the one behind with it. */
import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import { deregisterTargets, registerTargets } from "../../aws/elbv2-actions.ts";
import { isAwsError } from "../../aws/errors.ts";
import { type Step, step } from "../../aws/plan.ts";
import { again, type Outcome } from "../../runtime/controller.ts";
import { applySurvey } from "../apply.ts";
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
import type { Frontend } from "./frontend.ts";
import { frontend } from "./frontend-kind.ts";
import type { Group } from "./groups.ts";
import { frontOwnerOf } from "./owner.ts";
import type { GroupSurvey } from "./survey.ts";
import { logStep, staleMs, waitMs } from "./telling.ts";

/** AWS takes a load balancer as a target when it is active. */
const registrationMs = 15_000;

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
  const isCareful = front !== undefined && desire.model.keepsUnclaimed !== undefined;
  if (front && front.internal !== wish.model.internal && !isCareful) {
    await apply(frontend.planDeletion(front, owner.noun), context.inventory.cloud, { ...ask, onStep: logStep(context, group) });
    frontend.touch(front.name, context.inventory, owner.key);
    return { outcome: again(staleMs, "a load balancer of another scheme is made in front") };
  }
  const { inventory, host } = context;
  const seen = await surveyFrontend(owner, wish, front, behind.securityGroups, context, ask);
  const targetSets = new TargetSets();
  // What somebody may have said of it whom nobody understands now stays; what others need beside it is made.
  const steps = isCareful ? seen.steps.filter(({ effect }) => effect === "create") : seen.steps;
  const ensured = await applySurvey(
    { ...seen, steps },
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
  const outcome = await register(group, wish, arns, behind.arn, context, ask);
  return { ...told, ...(outcome && { outcome }) };
}

/** Looks, and changes nothing. */
export function surveyFrontend(
  owner: LoadBalancerOwner,
  wish: Frontend,
  front: FoundNetwork | undefined,
  securityGroups: readonly string[],
  { inventory, attributesAgeMs }: Pick<GroupContext, "inventory" | "attributesAgeMs">,
  ask: Ask,
): Promise<Survey> {
  const shared: SecurityGroups = { kind: "wanted", groups: securityGroups.map((id) => ({ kind: "given", id })) };
  const model = wish.sharesGroups ? { ...wish.model, securityGroups: shared } : wish.model;
  return survey(
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
}

/** A group of this type has one target: another one has to go first. */
async function register(
  group: Group,
  { ports }: Frontend,
  arns: ReadonlyMap<string, string>,
  behind: string,
  context: GroupContext,
  ask: Ask,
): Promise<Outcome | undefined> {
  const { cloud } = context.inventory;
  const steps: Step[] = [];
  for (const [name, port] of ports) {
    const TargetGroupArn = arns.get(name) ?? "";
    const present = await cloud.loadBalancers.targetHealth(TargetGroupArn, ask);
    const isWanted = ({ Target }: (typeof present)[number]) => Target?.Id === behind && Target.Port === port;
    const others = present.filter((each) => !isWanted(each) && each.TargetHealth?.State !== "draining");
    const where = `target group ${name}`;
    if (others.length > 0) {
      const Targets = others.map(({ Target }) => ({ Id: Target?.Id ?? "", ...(Target?.Port && { Port: Target.Port }) }));
      const words = { what: `deregister the former load balancer from ${where}`, why: "another one is behind it now" };
      steps.push(step(deregisterTargets, { TargetGroupArn, Targets }, words));
    }
    if (present.some((each) => isWanted(each) && each.TargetHealth?.State !== "draining")) continue;
    const words = { what: `register ${behind}, port ${port}, with ${where}`, why: "the load balancer in front forwards to it" };
    steps.push(step(registerTargets, { TargetGroupArn, Targets: [{ Id: behind, Port: port }] }, words));
  }
  try {
    await apply(steps, cloud, { ...ask, onStep: logStep(context, group) });
    return undefined;
  } catch (error) {
    // Until it is active, and has a listener on that port, AWS refuses it.
    if (!isAwsError(error, "invalid", "conflict", "limit-exceeded") || error.action !== registerTargets.name) throw error;
    return again(registrationMs, `the load balancer behind cannot be registered yet: ${error.detail}`);
  }
}

/** Says whether nothing of it is left. Goes before the one behind, which AWS keeps for as long as it is somebody's target. */
export async function removeFrontend(owner: LoadBalancerOwner, context: GroupContext, ask: Ask): Promise<boolean> {
  const { inventory, book } = context;
  const front = frontOwnerOf(owner);
  const removal = await remove(front, { inventory, settings: { disableNodeIngress: true }, book }, ask, {
    kinds: front.kinds,
    ages: freshAges,
    marksAgeMs: freshAges.presentMs,
    withGroups: false,
    onStep: ({ what, why }) => context.host.log.info(what, { why, group: owner.key }),
  });
  return removal.kind === "gone";
}
