/** The load balancers of the account, as somebody looking for health sees them. */
import type { LocalPort } from "./clients-way.ts";
import type { Cloud } from "./cloud/cloud.ts";
import type { ClassicLoadBalancer } from "./cloud/elb/state.ts";
import { groupsIn, type Listener, type LoadBalancer, type Rule, type Target } from "./cloud/elbv2/state.ts";
import type { BalancerRow } from "./view/picture.ts";

/** All of them, classic ones first. */
export function balancersIn({ account: { store } }: Cloud, localPorts: readonly LocalPort[]): readonly BalancerRow[] {
  const classic = store.table<ClassicLoadBalancer>("elb/load-balancers").values();
  const listeners = store.table<Listener>("elbv2/listeners").values();
  const rules = store.table<Rule>("elbv2/rules").values();
  const targets = store.table<Target>("elbv2/targets").values();
  const others = store.table<LoadBalancer>("elbv2/load-balancers").values();
  const rows = [...classic.map(classicRow), ...others.map((balancer) => rowOf(balancer, { listeners, rules, targets }))];
  return rows.map((row) => ({ ...row, local: localPorts.filter(({ dnsName }) => dnsName === row.dnsName.toLowerCase()) }));
}

function classicRow({ dnsName, listeners, instances }: ClassicLoadBalancer): Omit<BalancerRow, "local"> {
  return {
    kind: "classic",
    dnsName,
    ports: listeners.map(({ port }) => port),
    targets: instances.length,
    healthy: instances.filter(({ verdict }) => verdict.kind === "healthy").length,
  };
}

interface Parts {
  readonly listeners: readonly Listener[];
  readonly rules: readonly Rule[];
  readonly targets: readonly Target[];
}

/** A node that serves several ports is healthy when all of them are. */
function rowOf({ arn, type, dnsName }: LoadBalancer, { listeners, rules, targets }: Parts): Omit<BalancerRow, "local"> {
  const own = listeners.filter(({ loadBalancerArn }) => loadBalancerArn === arn);
  const ruled = rules.filter(({ listenerArn }) => own.some((listener) => listener.arn === listenerArn));
  const groups = new Set([...own, ...ruled].flatMap(({ actions }) => groupsIn(actions)));
  const served = Map.groupBy(
    targets.filter(({ groupArn, drainingSince }) => groups.has(groupArn) && drainingSince === undefined),
    ({ id }) => id,
  );
  return {
    kind: type,
    dnsName,
    ports: own.map(({ port }) => port),
    targets: served.size,
    healthy: [...served.values()].filter((each) => each.every(({ verdict }) => verdict.kind === "healthy")).length,
  };
}
