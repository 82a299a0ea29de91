/**
 * Application load balancers: listeners with rules. Known by their owner's marks; which targets are in their groups, and what
 * those let in, is said by bindings and written by others.
 */
import { filledByBindings, withoutStrangeGroups } from "../elbv2/bound.ts";
import { healthOf } from "../elbv2/health.ts";
import { elbv2 } from "../elbv2/kind.ts";
import { markedLoadBalancers, markedTargetGroups } from "../elbv2/marked.ts";
import type { LoadBalancerKind } from "../kind.ts";
import type { ApplicationLoadBalancer } from "../model.ts";
import { conditionsText } from "./conditions.ts";
import { type FoundApplication, foundApplication } from "./find.ts";
import { observeApplication } from "./observe.ts";
import { planApplication, planApplicationDeletion, type SeenApplication, unwantedGroups } from "./plan.ts";

export const application: LoadBalancerKind<ApplicationLoadBalancer, SeenApplication, FoundApplication> = {
  ...elbv2,
  ...filledByBindings,
  name: "application",

  async find(name, inventory, ages, ask) {
    const description = await inventory.loadBalancers.get(name, ages, ask);
    return description?.Type === "application" ? foundApplication(description) : undefined;
  },

  async findMarked(owner, inventory, maxAgeMs, ask) {
    return (await markedLoadBalancers("application", owner, inventory, maxAgeMs, ask)).map(foundApplication);
  },

  targetGroups: async (owner, _standing, inventory, maxAgeMs, ask) =>
    // Groups of load balancers belong to one that stands in front.
    (await markedTargetGroups(owner, inventory, maxAgeMs, ask)).map(({ item }) => item).filter(({ TargetType }) => TargetType !== "alb"),

  observe: observeApplication,
  observeTargets: async () => nothing,
  withoutStrangers: (seen, model, owner, inventory, ask) =>
    withoutStrangeGroups(seen, unwantedGroups(model, seen.targetGroups), owner, inventory, ask),
  health: (_found, { targetGroups }, inventory, ask) => healthOf(targetGroups, ({ name }) => `target group ${name}`, inventory, ask),

  plan: (model, seen, vpc) => planApplication(model, vpc, seen),
  planDeletion: planApplicationDeletion,

  touchParts(model, seen, inventory, by) {
    for (const { name } of [...model.targetGroups, ...seen.targetGroups]) inventory.targetGroups.touch(name, by);
    const { arn, listeners = [] } = seen.loadBalancer ?? {};
    const rules = listeners.flatMap((listener) => listener.rules);
    for (const part of [...seen.targetGroups, ...listeners, ...rules]) inventory.touchTags(part.arn);
    if (arn === undefined) return;
    inventory.touchTags(arn);
    if (model.guards) inventory.cloud.protections.forget(arn);
  },

  describe: (model) =>
    model.listeners.flatMap(({ protocol, port, rules }) => [
      `${protocol}:${port}`,
      ...rules.map(({ priority, conditions, why }) => `${protocol}:${port} rule ${priority}: ${conditionsText(conditions)} (${why})`),
    ]),
  plannedTargetGroups: ({ targetGroups }) => targetGroups.map(({ name, port }) => ({ name, port, listenerPort: undefined })),
};

const nothing: SeenApplication = { kind: "application", targetGroups: [], isForeignTag: () => false };
