/**
 * Network load balancers of owners that are known by their marks. Which targets are in their groups, and what those let in, is
 * said by bindings and written by others.
 */
import { filledByBindings, withoutStrangeGroups } from "../elbv2/bound.ts";
import { markedTargetGroups } from "../elbv2/marked.ts";
import type { LoadBalancerKind } from "../kind.ts";
import type { NetworkLoadBalancer } from "../model.ts";
import { observeBound } from "./bound-observe.ts";
import type { FoundNetwork } from "./find.ts";
import { network } from "./kind.ts";
import { type SeenNetwork, unwantedGroups } from "./plan.ts";

export const boundNetwork: LoadBalancerKind<NetworkLoadBalancer, SeenNetwork, FoundNetwork> = {
  ...network,
  ...filledByBindings,

  targetGroups: async (owner, _standing, inventory, maxAgeMs, ask) =>
    (await markedTargetGroups(owner, inventory, maxAgeMs, ask)).map(({ item }) => item),

  observe: observeBound,
  observeTargets: async () => ({ kind: "network", targetGroups: [] }),
  withoutStrangers: (seen, model, owner, inventory, ask) =>
    withoutStrangeGroups(seen, unwantedGroups(model, seen.targetGroups), owner, inventory, ask),

  touchParts(model, seen, inventory, by) {
    network.touchParts(model, seen, inventory, by);
    const { arn, listeners = [] } = seen.loadBalancer ?? {};
    for (const part of [...seen.targetGroups, ...listeners]) inventory.touchTags(part.arn);
    if (arn !== undefined) inventory.touchTags(arn);
  },

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
