/** What stands in the account of a simulated world for load balancers: whose each thing is, and what it lets in. */
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { SecurityGroup, SecurityGroupRule, Tags } from "../../src/sandbox/cloud/ec2/state.ts";
import type { ClassicLoadBalancer } from "../../src/sandbox/cloud/elb/state.ts";
import type { Listener, LoadBalancer, Target, TargetGroup } from "../../src/sandbox/cloud/elbv2/state.ts";

const clusterTag = "kubernetes.io/cluster/simulated";
const serviceTag = "kubernetes.io/service-name";

/** Something that was made for a Service. */
export interface Holding {
  readonly text: string;
  /** The Service it says it was made for. */
  readonly service?: string;
  /** The load balancer that it is, or belongs to. */
  readonly loadBalancer?: string;
}

/** Looks into an account, past its API. */
export class Account {
  readonly #cloud: Cloud;

  constructor(cloud: Cloud) {
    this.#cloud = cloud;
  }

  classics(): readonly ClassicLoadBalancer[] {
    return this.#all("elb/load-balancers");
  }

  networks(): readonly LoadBalancer[] {
    return this.#all("elbv2/load-balancers");
  }

  listeners(arn: string): readonly Listener[] {
    return this.#all<Listener>("elbv2/listeners").filter(({ loadBalancerArn }) => loadBalancerArn === arn);
  }

  targetGroups(): readonly TargetGroup[] {
    return this.#all("elbv2/target-groups");
  }

  /** What is registered and not on its way out, as `id:port`. A terminated instance drops out by itself. */
  targets(groupArn: string): readonly string[] {
    const { instances } = this.#cloud.account.ec2;
    const lives = (id: string) => (instances.get(id)?.state ?? "terminated") !== "terminated";
    return this.#all<Target>("elbv2/targets")
      .filter((target) => target.groupArn === groupArn && target.drainingSince === undefined && lives(target.id))
      .map(({ id, port }) => `${id}:${port}`);
  }

  group(id: string): SecurityGroup | undefined {
    return this.#cloud.account.ec2.securityGroups.get(id);
  }

  /** What a group lets in, as `tcp 80-80 0.0.0.0/0`. */
  letsIn(groupId: string): ReadonlySet<string> {
    return new Set(
      this.#rules()
        .filter((rule) => rule.groupId === groupId)
        .map(ruleText),
    );
  }

  /** What a group lets in for clients of network load balancers, and of which. */
  clientRules(groupId: string): readonly { readonly text: string; readonly loadBalancer: string }[] {
    return this.#rules().flatMap((rule) => {
      const loadBalancer = /^kubernetes\.io\/rule\/nlb\/client=(.+)$/.exec(rule.description ?? "")?.[1];
      return rule.groupId === groupId && loadBalancer !== undefined ? [{ text: ruleText(rule), loadBalancer }] : [];
    });
  }

  /** The load balancers of a Service. */
  of(service: string): { readonly classics: readonly ClassicLoadBalancer[]; readonly networks: readonly LoadBalancer[] } {
    const own = ({ tags }: { tags: Tags }) => tags[clusterTag] === "owned" && tags[serviceTag] === `default/${service}`;
    return { classics: this.classics().filter(own), networks: this.networks().filter(own) };
  }

  /** All that this cluster made for Services, of which there may be none left any more. */
  holdings(nodeGroupId: string): readonly Holding[] {
    const serviceOf = (tags: Tags) => (tags[clusterTag] === "owned" ? tags[serviceTag]?.replace("default/", "") : undefined);
    const tagged = (things: readonly { readonly name: string; readonly tags: Tags }[], holding: (name: string) => Holding) =>
      things.flatMap(({ name, tags }): Holding[] => {
        const service = serviceOf(tags);
        return service === undefined ? [] : [{ ...holding(name), service }];
      });
    return [
      ...tagged(this.classics(), (name) => ({ text: `classic load balancer ${name}`, loadBalancer: name })),
      ...tagged(this.networks(), (name) => ({ text: `network load balancer ${name}`, loadBalancer: name })),
      ...tagged(this.targetGroups(), (name) => ({ text: `target group ${name}` })),
      ...this.#cloud.account.ec2.securityGroups.values().flatMap(groupHolding),
      ...this.#rules()
        .filter(({ groupId }) => groupId === nodeGroupId)
        .flatMap((rule) => this.#ruleHolding(rule)),
    ];
  }

  #ruleHolding(rule: SecurityGroupRule): Holding[] {
    const named = /^kubernetes\.io\/rule\/(?:nlb\/(?:client|health)|elb\/source)=(.+)$/.exec(rule.description ?? "")?.[1];
    const source = "groupId" in rule.peer ? this.group(rule.peer.groupId) : undefined;
    const [holding] = source === undefined ? [] : groupHolding(source);
    if (named === undefined && holding === undefined) return [];
    const text = `node rule ${ruleText(rule)} "${rule.description ?? ""}"`;
    return [named === undefined ? { ...holding, text } : { text, loadBalancer: named }];
  }

  #rules(): readonly SecurityGroupRule[] {
    return this.#cloud.account.ec2.rules.values().filter(({ egress }) => !egress);
  }

  #all<T extends object>(table: string): T[] {
    return this.#cloud.account.store.table<T>(table).values();
  }
}

function ruleText({ protocol, fromPort, toPort, peer }: SecurityGroupRule): string {
  const source = "cidr" in peer ? peer.cidr : "groupId" in peer ? peer.groupId : peer.id;
  return protocol === "-1" ? `-1 ${source}` : `${protocol} ${fromPort}-${toPort} ${source}`;
}

function groupHolding({ name, tags }: SecurityGroup): Holding[] {
  if (tags[clusterTag] !== "owned") return [];
  const text = `security group ${name}`;
  const loadBalancer = /^k8s-elb-(.+)$/.exec(name)?.[1];
  if (loadBalancer !== undefined) return [{ text, loadBalancer }];
  const service = /^k8s-default-(\w+)-[0-9a-f]{10}$/.exec(name)?.[1];
  return service === undefined ? [] : [{ text, service }];
}
