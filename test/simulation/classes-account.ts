/** What an account says of Services with a load balancer class, in words that can be compared with what their authors asked for. */
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { SecurityGroup, SecurityGroupRule } from "../../src/sandbox/cloud/ec2/state.ts";
import type { Listener, LoadBalancer, Target, TargetGroup } from "../../src/sandbox/cloud/elbv2/state.ts";

const clusterTag = "elbv2.k8s.aws/cluster";
const stackTag = "service.k8s.aws/stack";
const resourceTag = "service.k8s.aws/resource";
const managerTag = "kubernetes.io/service-name";
/** Of the rules by which targets let load balancers in. */
const networkingMark = "elbv2.k8s.aws/targetGroupBinding=shared";

/** What bears the marks of a Service. */
export interface Holding {
  /** `default/web` */
  readonly service: string;
  readonly text: string;
}

export class ClassAccount {
  readonly #cloud: Cloud;
  readonly #cluster: string;

  constructor(cloud: Cloud, cluster: string) {
    this.#cloud = cloud;
    this.#cluster = cluster;
  }

  /** Load balancers of the class that bear the marks of a Service. */
  balancers(service: string): readonly LoadBalancer[] {
    return this.#table<LoadBalancer>("elbv2/load-balancers").filter((each) => this.#isOf(each, service));
  }

  /** Those that the controller manager made for a Service. */
  managersBalancers(service: string): readonly LoadBalancer[] {
    return this.#table<LoadBalancer>("elbv2/load-balancers").filter(({ tags }) => tags[managerTag] === service);
  }

  /** `port → part of the target group`, of each listener. */
  listeners(balancer: LoadBalancer): readonly string[] {
    const groups = new Map(this.#table<TargetGroup>("elbv2/target-groups").map(({ arn, tags }) => [arn, tags[resourceTag]]));
    return this.#table<Listener>("elbv2/listeners")
      .filter(({ loadBalancerArn }) => loadBalancerArn === balancer.arn)
      .map(({ port, actions }) => {
        const arns = actions.flatMap(
          (action) => action.ForwardConfig?.TargetGroups?.map(({ TargetGroupArn = "" }) => TargetGroupArn) ?? [],
        );
        return `${port} → ${arns.map((arn) => groups.get(arn)).join()}`;
      })
      .toSorted();
  }

  groups(service: string): readonly TargetGroup[] {
    return this.#table<TargetGroup>("elbv2/target-groups").filter((each) => this.#isOf(each, service));
  }

  /** The port of the Service that a target group is for. */
  portOf({ tags }: TargetGroup): number {
    return Number(tags[resourceTag]?.split(":").at(-1));
  }

  /** Targets that are not on their way out, by the ARN of their group. */
  targets(): ReadonlyMap<string, readonly Target[]> {
    const registered = this.#table<Target>("elbv2/targets").filter(({ drainingSince }) => drainingSince === undefined);
    return Map.groupBy(registered, ({ groupArn }) => groupArn);
  }

  /** `tcp 80 10.0.0.0/8`, of the managed groups of a Service. */
  clientRules(service: string): readonly string[] {
    const managed = new Set(this.#managedGroups().flatMap((group) => (this.#isOf(group, service) ? [group.id] : [])));
    return this.#rules()
      .filter(({ groupId, egress }) => managed.has(groupId) && !egress)
      .map(({ protocol, fromPort, peer }) => `${protocol} ${fromPort} ${"cidr" in peer ? peer.cidr : JSON.stringify(peer)}`)
      .toSorted();
  }

  /** Whether nodes let the load balancers in at a port. */
  letsIn(nodeGroup: string, port: number): boolean {
    return this.#rules().some(
      ({ groupId, description, fromPort = 0, toPort = 0 }) =>
        groupId === nodeGroup && description === networkingMark && fromPort <= port && port <= toPort,
    );
  }

  /** Everything that bears the marks of some Service of the class. */
  holdings(): readonly Holding[] {
    const named = <T extends Marked>(kind: string, rows: readonly T[], nameOf: (row: T) => string) =>
      rows
        .filter(({ tags }) => tags[clusterTag] === this.#cluster && tags[stackTag] !== undefined)
        .map((row) => ({ service: row.tags[stackTag]!, text: `${kind} ${nameOf(row)}` }));
    return [
      ...named("load balancer", this.#table<LoadBalancer>("elbv2/load-balancers"), ({ name }) => name),
      ...named("target group", this.#table<TargetGroup>("elbv2/target-groups"), ({ name }) => name),
      ...named("security group", this.#managedGroups(), ({ name }) => name),
    ];
  }

  #managedGroups(): readonly SecurityGroup[] {
    return this.#table<SecurityGroup>("ec2/security-groups");
  }

  #rules(): readonly SecurityGroupRule[] {
    return this.#table<SecurityGroupRule>("ec2/security-group-rules");
  }

  #isOf({ tags }: Marked, service: string): boolean {
    return tags[clusterTag] === this.#cluster && tags[stackTag] === service;
  }

  #table<T>(name: string): readonly T[] {
    return this.#cloud.account.store.table<T & object>(name).values();
  }
}

interface Marked {
  readonly tags: Readonly<Record<string, string>>;
}
