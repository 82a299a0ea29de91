/** Definitions for worlds with Gateways. */
import { loadBalancerConfigurationDefinition, targetGroupConfigurationDefinition } from "../../src/loadbalancers/gateway/crd.ts";
import { listenerRuleConfigurationDefinition } from "../../src/loadbalancers/gateway/rule-crd.ts";

export { gatewayApiDefinitions } from "../../src/sandbox/definitions.ts";

/** Those of the configurations, as they are shipped. */
export const configurationDefinitions = [
  loadBalancerConfigurationDefinition,
  targetGroupConfigurationDefinition,
  listenerRuleConfigurationDefinition,
];
