/** Every scenario, in the order of the page. */
import { classServices } from "./class-services.ts";
import { credentialProviderStart } from "./credential-provider-start.ts";
import { ingressesShared, ingressScenario } from "./ingresses.ts";
import { nodeInitialisations } from "./node-initialisation.ts";
import { processStart } from "./process-start.ts";
import { routes } from "./routes.ts";
import type { Scenario } from "./scenario.ts";
import { servicesAtOnce, servicesScenario } from "./services.ts";
import { steadyState } from "./steady-state.ts";
import { targetGroups } from "./target-groups.ts";

export const scenarios: readonly Scenario[] = [
  ...nodeInitialisations,
  steadyState,
  servicesScenario,
  servicesAtOnce,
  ingressScenario,
  ingressesShared,
  classServices,
  targetGroups,
  routes,
  credentialProviderStart,
  processStart,
];
