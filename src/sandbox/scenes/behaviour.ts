/** What a load balancer of the account does for its clients. */
import { isDeepStrictEqual } from "node:util";
import type { Action } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Cloud } from "../cloud/cloud.ts";
import type { Listener, LoadBalancer, Rule, Target, TargetGroup } from "../cloud/elbv2/state.ts";
import type { Objection } from "./scene.ts";

/** Objects to what two load balancers do differently. Names, ARNs and tags say whose one is, and are left out. */
export function sameBehaviour(cloud: Cloud, one: string, other: string): Objection {
  const [first, second] = [behaviourOf(cloud, one), behaviourOf(cloud, other)];
  if (first === undefined || second === undefined) return "one of them is gone";
  const differing = Object.keys(first).filter((part) => !isDeepStrictEqual(first[part], second[part]));
  return differing.length === 0 ? undefined : `they differ in ${differing.join(", ")}`;
}

function behaviourOf({ account: { store, ec2 } }: Cloud, dnsName: string): Readonly<Record<string, unknown>> | undefined {
  const balancer = store
    .table<LoadBalancer>("elbv2/load-balancers")
    .values()
    .find((each) => each.dnsName === dnsName);
  if (balancer === undefined) return undefined;
  const targets = store.table<Target>("elbv2/targets").values();
  const groups = new Map(
    store
      .table<TargetGroup>("elbv2/target-groups")
      .values()
      .map(({ arn, name: _, tags: _tags, ...settings }) => {
        const own = targets.filter(({ groupArn, drainingSince }) => groupArn === arn && drainingSince === undefined);
        return [arn, { ...settings, targets: own.map(({ id, port }) => `${id}:${port}`).toSorted() }];
      }),
  );
  /** With target groups in the place of their ARNs. */
  const resolved = (actions: readonly Action[]): unknown =>
    JSON.parse(JSON.stringify(actions), (key, value) => (key === "TargetGroupArn" ? groups.get(value) : value));
  const rules = store.table<Rule>("elbv2/rules").values();
  const listeners = store
    .table<Listener>("elbv2/listeners")
    .values()
    .filter(({ loadBalancerArn }) => loadBalancerArn === balancer.arn)
    .toSorted((a, b) => a.port - b.port);
  const firewall = ec2.rules.values().filter(({ groupId, egress }) => balancer.groupIds.includes(groupId) && !egress);
  return {
    type: balancer.type,
    scheme: balancer.scheme,
    subnets: balancer.zones.map(({ subnetId }) => subnetId).toSorted(),
    attributes: balancer.attributes,
    "firewall rules": firewall.map(({ protocol, fromPort, toPort, peer }) => JSON.stringify([protocol, fromPort, toPort, peer])).toSorted(),
    listeners: listeners.map(({ port, protocol, certificate, sslPolicy, attributes, actions }) => [
      { port, protocol, certificate, sslPolicy, attributes },
      resolved(actions),
    ]),
    rules: listeners.map(({ arn }) =>
      rules
        .filter(({ listenerArn }) => listenerArn === arn)
        .toSorted((a, b) => a.priority - b.priority)
        .map(({ conditions, actions, transforms }) => [conditions, resolved(actions), transforms]),
    ),
  };
}
