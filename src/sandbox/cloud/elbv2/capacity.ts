/** Capacity that a load balancer keeps ready, and the account's limits. */
import {
  DescribeAccountLimits$,
  type DescribeAccountLimitsInput,
  type DescribeAccountLimitsOutput,
  DescribeCapacityReservation$,
  type DescribeCapacityReservationInput,
  type DescribeCapacityReservationOutput,
  ModifyCapacityReservation$,
  type ModifyCapacityReservationInput,
  type ModifyCapacityReservationOutput,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { invalidConfiguration } from "../balancing/network.ts";
import { markerPage } from "../balancing/pages.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { type Elbv2, type LoadBalancer, loadBalancerAt } from "./state.ts";

const PROVISIONING_MS = 300_000;
/** AWS lets the capacity be lowered twice a day. */
const DECREASES_A_DAY = 2;

/** The operations on capacity and limits. */
export function capacityOperations(elbv2: Elbv2): Operations {
  return [
    read<DescribeCapacityReservationInput, DescribeCapacityReservationOutput>(DescribeCapacityReservation$, (input) =>
      describe(loadBalancerAt(elbv2, input.LoadBalancerArn)),
    ),
    write<ModifyCapacityReservationInput, ModifyCapacityReservationOutput>(ModifyCapacityReservation$, (input) =>
      describe(modify(elbv2, loadBalancerAt(elbv2, input.LoadBalancerArn), input)),
    ),
    read<DescribeAccountLimitsInput, DescribeAccountLimitsOutput>(DescribeAccountLimits$, (input) => {
      const { quotas } = elbv2.account.settings();
      const limits = {
        "application-load-balancers": quotas.applicationLoadBalancers,
        "certificates-per-application-load-balancer": quotas.certificatesPerLoadBalancer,
        "condition-values-per-alb-rule": 5,
        "condition-wildcards-per-alb-rule": 5,
        "listeners-per-application-load-balancer": quotas.listenersPerLoadBalancer,
        "rules-per-application-load-balancer": quotas.rulesPerApplicationLoadBalancer,
        "target-groups-per-action-on-application-load-balancer": 5,
        "target-groups-per-application-load-balancer": quotas.targetGroupsPerApplicationLoadBalancer,
        "targets-per-application-load-balancer": quotas.targetsPerApplicationLoadBalancer,
        "trust-stores-per-account": quotas.trustStores,
        "certificates-per-network-load-balancer": quotas.certificatesPerLoadBalancer,
        "listeners-per-network-load-balancer": quotas.listenersPerLoadBalancer,
        "network-load-balancers": quotas.networkLoadBalancers,
        "target-groups": quotas.targetGroups,
        "target-groups-per-action-on-network-load-balancer": 5,
        "targets-per-network-load-balancer": 3000,
        "targets-per-target-group": quotas.targetsPerTargetGroup,
      };
      const { items, NextMarker } = markerPage(elbv2.account, Object.entries(limits), ([name]) => name, input);
      return { Limits: items.map(([Name, max]) => ({ Name, Max: String(max) })), NextMarker };
    }),
  ];
}

function modify(elbv2: Elbv2, loadBalancer: LoadBalancer, input: ModifyCapacityReservationInput): LoadBalancer {
  const { time } = elbv2.account;
  if (input.ResetCapacityReservation) return elbv2.loadBalancers.update(loadBalancer.arn, { capacity: undefined });
  const units = input.MinimumLoadBalancerCapacity?.CapacityUnits;
  if (units === undefined || units < 1) throw invalidConfiguration("Capacity units must be specified");
  const before = loadBalancer.capacity;
  if (before?.state === "pending") {
    throw new ServiceError("CapacityReservationPending", "There is a pending capacity reservation on this load balancer");
  }
  const lowered = before !== undefined && units < before.units;
  const decreasesLeft = (before?.decreasesLeft ?? DECREASES_A_DAY) - (lowered ? 1 : 0);
  if (decreasesLeft < 0) {
    throw new ServiceError(
      "CapacityDecreaseRequestLimitExceeded",
      "You have exceeded the daily capacity decrease limit for this reservation",
    );
  }
  const capacity = { units, state: "pending", modified: time.now(), decreasesLeft } as const;
  time.after(PROVISIONING_MS, () => {
    const present = elbv2.loadBalancers.get(loadBalancer.arn);
    if (present?.capacity === capacity) elbv2.loadBalancers.update(loadBalancer.arn, { capacity: { ...capacity, state: "provisioned" } });
  });
  return elbv2.loadBalancers.update(loadBalancer.arn, { capacity });
}

function describe({ capacity, zones }: LoadBalancer): DescribeCapacityReservationOutput {
  return {
    LastModifiedTime: capacity === undefined ? undefined : new Date(capacity.modified),
    DecreaseRequestsRemaining: capacity?.decreasesLeft ?? DECREASES_A_DAY,
    MinimumLoadBalancerCapacity: capacity === undefined ? undefined : { CapacityUnits: capacity.units },
    CapacityReservationState: (capacity === undefined ? [] : zones).map((zone) => ({
      State: { Code: capacity!.state },
      AvailabilityZone: zone.zone,
      EffectiveCapacityUnits: capacity!.state === "provisioned" ? capacity!.units : 0,
    })),
  };
}
