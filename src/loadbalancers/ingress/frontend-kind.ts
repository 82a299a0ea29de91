/** Network load balancers whose target is another load balancer: their target groups are told from those of pods by their type. */
import { markedTargetGroups } from "../elbv2/marked.ts";
import type { LoadBalancerKind } from "../kind.ts";
import type { NetworkLoadBalancer } from "../model.ts";
import { boundNetwork } from "../network/bound-kind.ts";
import type { FoundNetwork } from "../network/find.ts";
import type { SeenNetwork } from "../network/plan.ts";

export const frontend: LoadBalancerKind<NetworkLoadBalancer, SeenNetwork, FoundNetwork> = {
  ...boundNetwork,
  targetGroups: async (owner, _standing, inventory, maxAgeMs, ask) =>
    (await markedTargetGroups(owner, inventory, maxAgeMs, ask)).map(({ item }) => item).filter(({ TargetType }) => TargetType === "alb"),
  async observe(found, options, inventory, ask) {
    const seen = await boundNetwork.observe(found, options, inventory, ask);
    return { ...seen, targetGroups: seen.targetGroups.filter(({ targetType }) => targetType === "alb") };
  },
};
