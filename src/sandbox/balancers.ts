/** The load balancers of the account, as somebody looking for health sees them. */
import type { Cloud } from "./cloud/cloud.ts";
import type { ClassicLoadBalancer } from "./cloud/elb/state.ts";
import type { Listener, LoadBalancer, Target } from "./cloud/elbv2/state.ts";
import type { BalancerRow } from "./view/picture.ts";

/** All of them, classic ones first. */
export function balancersIn({ account: { store } }: Cloud): readonly BalancerRow[] {
  const classic = store.table<ClassicLoadBalancer>("elb/load-balancers").values();
  const listeners = store.table<Listener>("elbv2/listeners").values();
  const targets = store.table<Target>("elbv2/targets").values();
  const network = store.table<LoadBalancer>("elbv2/load-balancers").values();
  return [...classic.map(classicRow), ...network.map((balancer) => networkRow(balancer, listeners, targets))];
}

function classicRow({ dnsName, listeners, instances }: ClassicLoadBalancer): BalancerRow {
  return {
    kind: "classic",
    dnsName,
    ports: listeners.map(({ port }) => port),
    targets: instances.length,
    healthy: instances.filter(({ verdict }) => verdict.kind === "healthy").length,
  };
}

/** A node that serves several ports is healthy when all of them are. */
function networkRow({ arn, dnsName }: LoadBalancer, listeners: readonly Listener[], targets: readonly Target[]): BalancerRow {
  const own = listeners.filter(({ loadBalancerArn }) => loadBalancerArn === arn);
  const groups = new Set(own.flatMap(({ actions }) => actions.map(({ TargetGroupArn }) => TargetGroupArn)));
  const served = Map.groupBy(
    targets.filter(({ groupArn, drainingSince }) => groups.has(groupArn) && drainingSince === undefined),
    ({ id }) => id,
  );
  return {
    kind: "network",
    dnsName,
    ports: own.map(({ port }) => port),
    targets: served.size,
    healthy: [...served.values()].filter((each) => each.every(({ verdict }) => verdict.kind === "healthy")).length,
  };
}
