/** A Service as much of it as its load balancer follows from. */
import type * as state from "../service-state.ts";

export type { ServicePortView } from "../service-state.ts";

export type ServiceView = Omit<state.ServiceView, "finalizers" | "selector" | "sessionAffinity" | "loadBalancerIP">;

/** `namespace/name` */
export const keyOf = ({ namespace, name }: Pick<ServiceView, "namespace" | "name">) => `${namespace}/${name}`;
