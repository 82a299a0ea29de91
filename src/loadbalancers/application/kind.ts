/**
 * Application load balancers: listeners with rules. Known by their owner's marks; which targets are in their groups, and what
 * those let in, is said by bindings and written by others.
 */
import { modifyLoadBalancerAttributes } from "../../aws/elbv2-actions.ts";
import { healthOf } from "../elbv2/health.ts";
import { markedLoadBalancers, markedTargetGroups } from "../elbv2/marked.ts";
import { hostnameOf, type LoadBalancerKind, namesWith } from "../kind.ts";
import type { ApplicationLoadBalancer } from "../model.ts";
import { type SeenTargetGroup, standsFor } from "../target-group-plan.ts";
import { withoutStrangers } from "../target-groups.ts";
import { conditionsText } from "./conditions.ts";
import { type FoundApplication, foundApplication } from "./find.ts";
import { attributesKey, observeApplication } from "./observe.ts";
import { planApplication, planApplicationDeletion, type SeenApplication, unwantedGroups } from "./plan.ts";

export const application: LoadBalancerKind<ApplicationLoadBalancer, SeenApplication, FoundApplication> = {
  name: "application",

  async find(name, inventory, ages, ask) {
    const description = await inventory.loadBalancers.get(name, ages, ask);
    return description?.Type === "application" ? foundApplication(description) : undefined;
  },

  async findMarked(owner, inventory, maxAgeMs, ask) {
    return (await markedLoadBalancers("application", owner, inventory, maxAgeMs, ask)).map(foundApplication);
  },

  namesBehind: async (hostname, { loadBalancers }, maxAgeMs, ask, by) => namesWith(hostname, await loadBalancers.all(maxAgeMs, ask, by)),

  tags: ({ arn }, { cloud }, ask) => cloud.loadBalancers.tags(arn, ask),
  targetGroups: async (owner, _standing, inventory, maxAgeMs, ask) =>
    // Groups of load balancers belong to one that stands in front.
    (await markedTargetGroups(owner, inventory, maxAgeMs, ask)).map(({ item }) => item).filter(({ TargetType }) => TargetType !== "alb"),
  managedGroupName: ({ securityGroupName }) => securityGroupName,

  observe: observeApplication,
  observeTargets: async () => nothing,
  async withoutStrangers(seen, model, owner, inventory, ask) {
    const unwanted = unwantedGroups(model, seen.targetGroups);
    const isUnwanted = (group: SeenTargetGroup) => unwanted.includes(group);
    return { ...seen, targetGroups: await withoutStrangers(seen.targetGroups, isUnwanted, owner, inventory, ask) };
  },
  health: (_found, { targetGroups }, inventory, ask) => healthOf(targetGroups, ({ name }) => `target group ${name}`, inventory, ask),

  withTargets: (model) => model,
  plan: (model, seen, vpc) => planApplication(model, vpc, seen),
  planDeletion: planApplicationDeletion,
  registered: () => new Set(),
  planTargets: () => [],

  afterParts: (model, seen, made) => ({
    ...seen,
    targetGroups: model.targetGroups.map((group) => {
      const present = seen.targetGroups.find((each) => standsFor(each, group));
      return {
        ...group,
        arn: present?.arn ?? made.get(`target group ${group.name}`) ?? "",
        name: present?.name ?? group.name,
        targets: [],
      };
    }),
  }),
  refreshTargets: async (_name, seen) => seen,
  afterTargets: (seen) => seen,
  hostnameIn(output) {
    const { LoadBalancers = [] } = output as { readonly LoadBalancers?: readonly { readonly DNSName?: string }[] };
    return hostnameOf({ ...LoadBalancers[0] }) || undefined;
  },
  rememberAttributes({ model, seen, steps, isNew }, key, { networkAttributes }, now) {
    const isWritten = isNew || steps.some(({ action }) => action.name === modifyLoadBalancerAttributes.name);
    const attributes = { ...seen.loadBalancer?.attributes, ...model.attributes };
    if (isWritten) networkAttributes.offer(attributesKey(model.name, key), attributes, now);
  },
  forgetAttributes: (name, key, { networkAttributes }) => networkAttributes.invalidate(attributesKey(name, key)),

  touch: (name, inventory, by) => inventory.loadBalancers.touch(name, by),
  touchTargets() {},
  touchParts(model, seen, inventory, by) {
    for (const { name } of [...model.targetGroups, ...seen.targetGroups]) inventory.targetGroups.touch(name, by);
    const { arn, listeners = [] } = seen.loadBalancer ?? {};
    const rules = listeners.flatMap((listener) => listener.rules);
    for (const part of [...seen.targetGroups, ...listeners, ...rules]) inventory.touchTags(part.arn);
    if (arn === undefined) return;
    inventory.touchTags(arn);
    if (model.guards) inventory.cloud.protections.forget(arn);
  },

  ruleMarks: () => ({ descriptions: [], sources: [] }),
  ruleSources: async () => ({ ownGroups: [], subnetCidrs: [] }),
  usage: async () => ({ ports: [], sources: [] }),

  describe: (model) =>
    model.listeners.flatMap(({ protocol, port, rules }) => [
      `${protocol}:${port}`,
      ...rules.map(({ priority, conditions, why }) => `${protocol}:${port} rule ${priority}: ${conditionsText(conditions)} (${why})`),
    ]),
  plannedTargetGroups: ({ targetGroups }) => targetGroups.map(({ name, port }) => ({ name, port, listenerPort: undefined })),
};

const nothing: SeenApplication = { kind: "application", targetGroups: [], isForeignTag: () => false };
