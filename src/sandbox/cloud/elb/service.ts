import type { Account } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { query } from "../protocol/protocol.ts";
import type { Operation, Service } from "../service.ts";
import { attributeOperations } from "./attributes.ts";
import { instanceOperations } from "./instances.ts";
import { listenerOperations } from "./listeners.ts";
import { loadBalancerOperations } from "./load-balancers.ts";
import { networkOperations } from "./network.ts";
import { policyOperations } from "./policies.ts";
import { createElb } from "./state.ts";
import { tagOperations } from "./tags.ts";

/** Elastic Load Balancing of 2012: classic load balancers. */
export function elbService(account: Account): Service {
  const elb = createElb(account);
  return {
    name: "elasticloadbalancing",
    signingName: "elasticloadbalancing",
    address: { version: "2012-06-01" },
    region: "own",
    protocol: query("http://elasticloadbalancing.amazonaws.com/doc/2012-06-01/"),
    operations: [
      loadBalancerOperations,
      networkOperations,
      listenerOperations,
      policyOperations,
      attributeOperations,
      instanceOperations,
      tagOperations,
    ]
      .flatMap((operations) => operations(elb))
      .map(withConflicts),
  };
}

/** Where its successor answers an invalid configuration with 400, this service answers 409, also to what both check alike. */
function withConflicts(operation: Operation): Operation {
  return {
    ...operation,
    run(input, call) {
      try {
        return operation.run(input, call);
      } catch (error) {
        if (error instanceof ServiceError && error.code === "InvalidConfigurationRequest")
          throw new ServiceError(error.code, error.message, 409);
        throw error;
      }
    },
  };
}
