/** The script that the simulated AWS and moto are both held to: one story, in order. */
import { applicationEndExchanges, applicationExchanges } from "./exchanges/application-load-balancers.ts";
import { classicExchanges } from "./exchanges/classic.ts";
import { endExchanges } from "./exchanges/endings.ts";
import { groupExchanges } from "./exchanges/groups.ts";
import { certificateExchanges, guardExchanges } from "./exchanges/guards.ts";
import { instanceExchanges, lifecycleExchanges } from "./exchanges/instances.ts";
import { addressExchanges, interfaceEndExchanges, interfaceExchanges } from "./exchanges/interfaces.ts";
import { ipv6Exchanges } from "./exchanges/ipv6.ts";
import { launchExchanges } from "./exchanges/launches.ts";
import { keyPairExchanges, peeringExchanges, roleExchanges } from "./exchanges/layouts.ts";
import { networkEndExchanges, networkListenerExchanges, networkLoadBalancerExchanges } from "./exchanges/network-load-balancers.ts";
import { queueExchanges } from "./exchanges/queues.ts";
import { podRouteExchanges, routeTableExchanges } from "./exchanges/routes.ts";
import { ruleExchanges as eventRuleExchanges } from "./exchanges/rules.ts";
import { ruleExchanges, securityGroupExchanges } from "./exchanges/security-groups.ts";
import { tagExchanges } from "./exchanges/tags.ts";
import { targetExchanges, targetGroupEndExchanges, targetGroupExchanges } from "./exchanges/target-groups.ts";
import { volumeExchanges } from "./exchanges/volumes.ts";
import { vpcExchanges } from "./exchanges/vpcs.ts";
import type { Exchange } from "./script.ts";

export const exchanges: readonly Exchange[] = [
  ...vpcExchanges,
  ...routeTableExchanges,
  ...securityGroupExchanges,
  ...ruleExchanges,
  ...instanceExchanges,
  ...interfaceExchanges,
  ...addressExchanges,
  ...podRouteExchanges,
  ...peeringExchanges,
  ...keyPairExchanges,
  ...roleExchanges,
  ...tagExchanges,
  ...ipv6Exchanges,
  ...launchExchanges,
  ...volumeExchanges,
  ...classicExchanges,
  ...networkLoadBalancerExchanges,
  ...targetGroupExchanges,
  ...networkListenerExchanges,
  ...targetExchanges,
  ...certificateExchanges,
  ...applicationExchanges,
  ...guardExchanges,
  ...applicationEndExchanges,
  ...networkEndExchanges,
  ...targetGroupEndExchanges,
  ...queueExchanges,
  ...eventRuleExchanges,
  ...groupExchanges,
  ...lifecycleExchanges,
  ...interfaceEndExchanges,
  ...endExchanges,
];
