import type { Account } from "../account.ts";
import { query } from "../protocol/protocol.ts";
import type { Service } from "../service.ts";
import { addressPoolOperations } from "./address-pools.ts";
import { attributeOperations } from "./attributes.ts";
import { capacityOperations } from "./capacity.ts";
import { listenerCertificateOperations } from "./listener-certificates.ts";
import { listenerOperations } from "./listeners.ts";
import { loadBalancerOperations } from "./load-balancers.ts";
import { networkOperations } from "./network.ts";
import { revocationOperations } from "./revocations.ts";
import { ruleOperations } from "./rules.ts";
import { sslPolicyOperations } from "./ssl-policies.ts";
import { createElbv2 } from "./state.ts";
import { tagOperations } from "./tags.ts";
import { targetGroupOperations } from "./target-groups.ts";
import { targetHealthOperations } from "./target-health.ts";
import { targetOperations } from "./targets.ts";
import { trustStoreOperations } from "./trust-stores.ts";

/** Elastic Load Balancing of 2015: network and application load balancers, and target groups. */
export function elbv2Service(account: Account): Service {
  const elbv2 = createElbv2(account);
  return {
    name: "elasticloadbalancing",
    signingName: "elasticloadbalancing",
    address: { version: "2015-12-01" },
    region: "own",
    protocol: query("http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/"),
    operations: [
      loadBalancerOperations,
      networkOperations,
      listenerOperations,
      listenerCertificateOperations,
      ruleOperations,
      trustStoreOperations,
      revocationOperations,
      addressPoolOperations,
      targetGroupOperations,
      targetOperations,
      targetHealthOperations,
      attributeOperations,
      sslPolicyOperations,
      capacityOperations,
      tagOperations,
    ].flatMap((operations) => operations(elbv2)),
  };
}
