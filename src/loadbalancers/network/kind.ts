/** Network load balancers: a target group behind each listener, and clients that reach the nodes with their own addresses. */
import { healthOf } from "../elbv2/health.ts";
import { attributesOf, elbv2 } from "../elbv2/kind.ts";
import { markedLoadBalancers } from "../elbv2/marked.ts";
import { marksOfClients } from "../groups/claims.ts";
import { reconcileAges } from "../inventory.ts";
import type { LoadBalancerKind } from "../kind.ts";
import type { NetworkLoadBalancer } from "../model.ts";
import { planTargets, type SeenTargetGroup } from "../target-group-plan.ts";
import {
  isBehind,
  marked,
  namedTargetGroups,
  observeGroups,
  plannedTargetGroups,
  registeredIn,
  registrableIn,
  withoutStrangers,
} from "../target-groups.ts";
import { accepted } from "../targets.ts";
import { type FoundNetwork, foundNetwork } from "./find.ts";
import { seeListener } from "./observe.ts";
import { planNetwork, planNetworkDeletion, type SeenNetwork } from "./plan.ts";

export const network: LoadBalancerKind<NetworkLoadBalancer, SeenNetwork, FoundNetwork> = {
  ...elbv2,
  name: "network",

  async find(name, inventory, ages, ask) {
    const description = await inventory.loadBalancers.get(name, ages, ask);
    return description?.Type === "network" ? foundNetwork(description) : undefined;
  },
  async findMarked(owner, inventory, maxAgeMs, ask) {
    return (await markedLoadBalancers("network", owner, inventory, maxAgeMs, ask)).map(foundNetwork);
  },
  targetGroups: (owner, standing, inventory, maxAgeMs, ask) => namedTargetGroups(owner, standing[0]?.arn, inventory, maxAgeMs, ask),

  async observe(found, options, inventory, ask) {
    const { loadBalancers } = inventory.cloud;
    const { owner } = options;
    const [groups, listeners, attributes] = await Promise.all([
      plannedTargetGroups(owner, found?.arn, inventory, found ? reconcileAges.presentMs : reconcileAges.absentMs, ask),
      found ? loadBalancers.listeners(found.arn, ask) : [],
      found ? attributesOf(found, options, inventory, ask) : {},
    ]);
    const targetGroups = await observeGroups(groups, options.targetGroupAttributes, inventory, ask);
    if (found === undefined) return { kind: "network", targetGroups };
    const { arn, securityGroups } = found;
    return { kind: "network", loadBalancer: { arn, securityGroups, attributes, listeners: listeners.map(seeListener) }, targetGroups };
  },
  async observeTargets({ arn }, owner, inventory, ask) {
    const named = await namedTargetGroups(owner, arn, inventory, reconcileAges.presentMs, ask);
    const used = named.filter((group) => isBehind(group, arn));
    const own = await marked(used, owner, inventory, ask);
    return { kind: "network", targetGroups: await observeGroups(own, false, inventory, ask) };
  },
  async withoutStrangers(seen, model, owner, inventory, ask) {
    const isUnwanted = ({ name }: SeenTargetGroup) => !model.targetGroups.some((group) => group.name === name);
    return { ...seen, targetGroups: await withoutStrangers(seen.targetGroups, isUnwanted, owner, inventory, ask) };
  },
  health: (_found, { targetGroups }, inventory, ask) => healthOf(targetGroups, ({ port }) => `port ${port}`, inventory, ask),

  withTargets(model, seen, targets) {
    const targetGroups = model.targetGroups.map((group) => {
      const present = seen.targetGroups.find(({ name }) => name === group.name);
      return { ...group, targets: registrableIn(present, targets) };
    });
    return { ...model, targetGroups };
  },
  plan: (model, seen, vpc) => planNetwork(model, vpc, seen),
  planDeletion: (found, askedBy) => planNetworkDeletion(found.name, { loadBalancer: found, targetGroups: [] }, askedBy),
  registered: ({ targetGroups }) => new Set(targetGroups.flatMap(({ targets }) => targets.map(({ id }) => id))),
  planTargets: (_name, { targetGroups }, targets, askedBy) =>
    targetGroups.flatMap((group) =>
      planTargets({ name: group.name, port: group.port, targets: registrableIn(group, targets) }, group.arn, group.targets, askedBy),
    ),

  afterParts(model, seen, made) {
    const targetGroups = model.targetGroups.map((group) => {
      const present = seen.targetGroups.find(({ name }) => name === group.name);
      return { ...group, arn: present?.arn ?? made.get(`target group ${group.name}`) ?? "", targets: present?.targets ?? [] };
    });
    return { kind: "network", targetGroups };
  },
  async refreshTargets(_name, seen, { cloud }, ask) {
    const refreshed = seen.targetGroups.map(async (group) => ({
      ...group,
      targets: registeredIn(await cloud.loadBalancers.targetHealth(group.arn, ask), group.port),
    }));
    return { ...seen, targetGroups: await Promise.all(refreshed) };
  },
  afterTargets(seen, targets, refused) {
    const targetGroups = seen.targetGroups.map((group) => ({
      ...group,
      targets: accepted(registrableIn(group, targets), refused).map((id) => ({ id, port: group.port })),
    }));
    return { ...seen, targetGroups };
  },

  touchTargets(_name, { targetGroups }, inventory, by) {
    for (const { name } of targetGroups) inventory.targetGroups.touch(name, by);
  },
  touchParts(model, seen, inventory, by) {
    for (const { name } of [...model.targetGroups, ...seen.targetGroups]) inventory.targetGroups.touch(name, by);
  },

  ruleMarks: marksOfClients,
  async ruleSources(model, _seen, found, _made, inventory, ask) {
    const { subnets } = await inventory.network(ask);
    const wanted = found?.subnets ?? model.subnets.map(({ subnet }) => subnet);
    const subnetCidrs = subnets.filter(({ id }) => wanted.includes(id)).map(({ cidr }) => cidr);
    return { ownGroups: [], subnetCidrs: subnetCidrs.toSorted() };
  },
  async usage(name, inventory, ask) {
    const standing = await inventory.loadBalancers.get(name, reconcileAges, ask);
    if (standing === undefined) return { ports: [], sources: [] };
    const groups = await inventory.targetGroups.all(reconcileAges.presentMs, ask);
    const used = groups.filter(({ LoadBalancerArns = [] }) => LoadBalancerArns.includes(standing.LoadBalancerArn ?? ""));
    return { ports: used.flatMap(({ Port = 0, HealthCheckPort }) => [Port, Number(HealthCheckPort)]), sources: [] };
  },

  describe: (model) =>
    model.listeners.map(({ protocol, port, forward }) => {
      const group = model.targetGroups.find(({ name }) => name === forward.to[0]?.group);
      const check = group?.healthCheck;
      return `${protocol}:${port} to ${group?.protocol}:${group?.port} of the nodes, checked by ${check?.protocol}:${check?.port}${check?.path ?? ""}`;
    }),
  plannedTargetGroups: ({ targetGroups, listeners }) =>
    targetGroups.map(({ name, port }) => ({
      name,
      port,
      listenerPort: listeners.find(({ forward }) => forward.to.some(({ group }) => group === name))?.port,
    })),
};
