/** A network load balancer without what AWS tells of one at a time: its listeners, attributes and capacity. */
import type { LoadBalancerKind } from "../kind.ts";
import type { NetworkLoadBalancer } from "../model.ts";
import { boundNetwork } from "./bound-kind.ts";
import { observeBoundGlance } from "./bound-observe.ts";
import type { FoundNetwork } from "./find.ts";
import type { SeenNetwork } from "./plan.ts";

/** Plans nothing about what it does not see. */
export const boundNetworkGlance: LoadBalancerKind<NetworkLoadBalancer, SeenNetwork, FoundNetwork> = {
  ...boundNetwork,
  observe: observeBoundGlance,
  plan: ({ capacity: _, ...model }, ...rest) =>
    boundNetwork.plan(
      {
        ...model,
        attributes: {},
        listeners: [],
        targetGroups: model.targetGroups.map((group) => ({ ...group, attributes: {} })),
      },
      ...rest,
    ),
};
