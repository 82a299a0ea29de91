/** An application load balancer without what AWS tells of one at a time: its listeners with their rules, attributes and capacity. */
import type { LoadBalancerKind } from "../kind.ts";
import type { ApplicationLoadBalancer } from "../model.ts";
import type { FoundApplication } from "./find.ts";
import { application } from "./kind.ts";
import { observeGlance } from "./observe.ts";
import type { SeenApplication } from "./plan.ts";

/** Plans nothing about what it does not see. */
export const applicationGlance: LoadBalancerKind<ApplicationLoadBalancer, SeenApplication, FoundApplication> = {
  ...application,
  observe: observeGlance,
  plan: ({ capacity: _, ...model }, ...rest) =>
    application.plan(
      {
        ...model,
        attributes: {},
        listeners: [],
        targetGroups: model.targetGroups.map((group) => ({ ...group, attributes: {} })),
      },
      ...rest,
    ),
};
