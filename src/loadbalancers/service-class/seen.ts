/** How a Service shows that something of its load balancer may be left. */
import type { SeenService } from "../service-state.ts";

/** Guards a Service until nothing in AWS is left of its load balancer. */
export const classFinalizer = "service.k8s.aws/resources";

export const isGuarded = ({ view }: SeenService) => view.finalizers.includes(classFinalizer);
