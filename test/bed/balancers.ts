/** What stands in the simulated account for a Service, in the words of tests. */
import type { ClassicLoadBalancer } from "../../src/sandbox/cloud/elb/state.ts";
import type { Listener, LoadBalancer, Target, TargetGroup } from "../../src/sandbox/cloud/elbv2/state.ts";
import type { ServiceWorld } from "./service-world.ts";

/** The classic load balancer of a Service, or of this name. */
export function classicOf(world: ServiceWorld, service: string, name = world.loadBalancerOf(service)): ClassicLoadBalancer | undefined {
  return world.snapshot()["elb/load-balancers"]?.[name] as ClassicLoadBalancer | undefined;
}

export interface Network {
  readonly loadBalancer: LoadBalancer;
  readonly listeners: readonly Listener[];
  /** With the ids of what is registered and not on its way out. */
  readonly groups: readonly (TargetGroup & { readonly targets: readonly string[] })[];
}

/** The network load balancer of a Service, or of this name, with its parts. */
export function networkOf(world: ServiceWorld, service: string, name = world.loadBalancerOf(service)): Network | undefined {
  const snapshot = world.snapshot();
  const all = <T>(table: string) => Object.values(snapshot[table] ?? {}) as T[];
  const loadBalancer = all<LoadBalancer>("elbv2/load-balancers").find((lb) => lb.name === name);
  if (loadBalancer === undefined) return undefined;
  const listeners = all<Listener>("elbv2/listeners").filter(({ loadBalancerArn }) => loadBalancerArn === loadBalancer.arn);
  const arns = new Set(listeners.flatMap(({ actions }) => actions.flatMap(({ TargetGroupArn }) => TargetGroupArn ?? [])));
  const targets = all<Target>("elbv2/targets").filter(({ drainingSince }) => drainingSince === undefined);
  return {
    loadBalancer,
    listeners: listeners.toSorted((a, b) => a.port - b.port),
    groups: all<TargetGroup>("elbv2/target-groups")
      .filter(({ arn }) => arns.has(arn))
      .toSorted((a, b) => a.port - b.port)
      .map((group) => ({
        ...group,
        targets: targets
          .filter(({ groupArn }) => groupArn === group.arn)
          .map(({ id }) => id)
          .toSorted(),
      })),
  };
}

/** Ingress rules of a group, as `tcp 80 from 0.0.0.0/0 "description"`. */
export function rulesOf(world: ServiceWorld, groupId: string): readonly string[] {
  const { ec2 } = world.aws.account;
  return ec2.rules
    .values()
    .filter((rule) => rule.groupId === groupId && !rule.egress)
    .map(({ protocol, fromPort, toPort, peer, description }) => {
      const ports = fromPort === undefined ? "" : ` ${fromPort === toPort ? fromPort : `${fromPort}-${toPort}`}`;
      const source = "cidr" in peer ? peer.cidr : "groupId" in peer ? groupName(world, peer.groupId) : peer.id;
      return `${protocol}${ports} from ${source}${description ? ` "${description}"` : ""}`;
    })
    .toSorted();
}

/** Ingress rules of the nodes' group that load balancers brought. */
export function nodeRules(world: ServiceWorld): readonly string[] {
  return rulesOf(world, world.network.nodeGroupId).filter((text) => !text.includes("nodes among themselves"));
}

export function groupNamed(world: ServiceWorld, name: string): string | undefined {
  return world.aws.account.ec2.securityGroups.values().find((group) => group.name === name)?.id;
}

function groupName(world: ServiceWorld, id: string): string {
  return world.aws.account.ec2.securityGroups.get(id)?.name ?? id;
}
