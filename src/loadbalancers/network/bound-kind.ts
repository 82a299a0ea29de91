/**
 * Network load balancers of owners that are known by their marks. Which targets are in their groups, and what those let in, is
 * said by bindings and written by others.
 */
import { markedTargetGroups } from "../elbv2/marked.ts";
import type { LoadBalancerKind } from "../kind.ts";
import type { NetworkLoadBalancer } from "../model.ts";
import { type SeenTargetGroup, standsFor } from "../target-group-plan.ts";
import { withoutStrangers } from "../target-groups.ts";
import { observeBound } from "./bound-observe.ts";
import type { FoundNetwork } from "./find.ts";
import { network } from "./kind.ts";
import { type SeenNetwork, unwantedGroups } from "./plan.ts";

export const boundNetwork: LoadBalancerKind<NetworkLoadBalancer, SeenNetwork, FoundNetwork> = {
  ...network,

  targetGroups: async (owner, _standing, inventory, maxAgeMs, ask) =>
    (await markedTargetGroups(owner, inventory, maxAgeMs, ask)).map(({ item }) => item),

  observe: observeBound,
  observeTargets: async () => ({ kind: "network", targetGroups: [] }),
  async withoutStrangers(seen, model, owner, inventory, ask) {
    const unwanted = unwantedGroups(model, seen.targetGroups);
    const isUnwanted = (group: SeenTargetGroup) => unwanted.includes(group);
    return { ...seen, targetGroups: await withoutStrangers(seen.targetGroups, isUnwanted, owner, inventory, ask) };
  },

  withTargets: (model) => model,
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

  touchTargets() {},
  touchParts(model, seen, inventory, by) {
    network.touchParts(model, seen, inventory, by);
    const { arn, listeners = [] } = seen.loadBalancer ?? {};
    for (const part of [...seen.targetGroups, ...listeners]) inventory.touchTags(part.arn);
    if (arn !== undefined) inventory.touchTags(arn);
  },

  ruleMarks: () => ({ descriptions: [], sources: [] }),
  ruleSources: async () => ({ ownGroups: [], subnetCidrs: [] }),
  usage: async () => ({ ports: [], sources: [] }),

  describe: (model) =>
    model.listeners.map(({ protocol, port, forward }) => {
      const destinations = forward.to.map(({ group: name, arn, weight }) => {
        const group = model.targetGroups.find((each) => each.name === name);
        const share = forward.to.length > 1 ? `, weight ${weight ?? 1}` : "";
        if (group === undefined) return `${arn}${share}`;
        const { healthCheck: check } = group;
        const behind = group.targetType === "ip" ? "pods" : "nodes";
        return `${group.protocol}:${group.port} of the ${behind}, checked by ${check.protocol}:${check.port}${check.path ?? ""}${share}`;
      });
      return `${protocol}:${port} to ${destinations.join("; ")}`;
    }),
};
