/** Things of other people in the account, which look a little like ours. */
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Listener, LoadBalancer, Rule, TargetGroup } from "../../src/sandbox/cloud/elbv2/state.ts";
import type { Network } from "../../src/sandbox/cloud/network.ts";

export interface ForeignOwner {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** Another cluster's, of a group that this cluster has too; and of nobody, under a name like ours. */
const ingressOwners: readonly ForeignOwner[] = [
  { name: "k8s-teams-0123456789", tags: { "elbv2.k8s.aws/cluster": "other", "ingress.k8s.aws/stack": "teams" } },
  { name: "k8s-default-a-0123456789", tags: { owner: "them" } },
];

/** Of another controller, which looks after it by itself. */
export const foreignIngress = {
  metadata: {
    name: "theirs",
    annotations: { "alb.ingress.kubernetes.io/group.name": "teams", "alb.ingress.kubernetes.io/scheme": "internet-facing" },
    finalizers: ["example.com/theirs"],
  },
  spec: { ingressClassName: "theirs", defaultBackend: { service: { name: "web", port: { number: 80 } } } },
} as const;

/** Puts them into the account: a load balancer with a listener, a rule and a target group each, and their security groups. */
export function plantForeign(cloud: Cloud, network: Network, owners = ingressOwners): void {
  for (const [i, { name, tags }] of owners.entries()) {
    const group = plantGroup(cloud, network, `sg-0f0f0f0f0f0f0f0f${i}`, name, tags);
    plantLoadBalancer(cloud, network, { name, tags, group, number: `00000000000000f${i}` });
  }
  plantRule(cloud, network.nodeGroupId, 8080, "sgr-0f0f0f0f0f0f0f0fa");
}

function plantGroup({ account: { ec2 } }: Cloud, { nodeGroupId }: Network, id: string, name: string, tags: object): string {
  ec2.securityGroups.put(id, { ...ec2.securityGroups.get(nodeGroupId)!, id, name, tags: { ...tags } });
  return id;
}

function plantRule({ account: { ec2 } }: Cloud, groupId: string, port: number, id: string): void {
  const peer = { kind: "ipv4", cidr: "172.20.0.0/16" } as const;
  ec2.rules.put(id, { id, groupId, egress: false, protocol: "tcp", fromPort: port, toPort: port, peer, description: "theirs", tags: {} });
}

interface Planted {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly group: string;
  readonly number: string;
}

function plantLoadBalancer({ account }: Cloud, network: Network, { name, tags, group, number }: Planted): void {
  const { store, region, id } = account;
  const arn = (what: string) => `arn:aws:elasticloadbalancing:${region}:${id}:${what}`;
  const arns = {
    balancer: arn(`loadbalancer/app/${name}/${number}`),
    listener: arn(`listener/app/${name}/${number}/${number}`),
    rule: arn(`listener-rule/app/${name}/${number}/${number}/${number}`),
    target: arn(`targetgroup/${name}/${number}`),
  };
  const forward = [{ Type: "forward" as const, Order: 1, ForwardConfig: { TargetGroups: [{ TargetGroupArn: arns.target, Weight: 1 }] } }];
  store.table<LoadBalancer>("elbv2/load-balancers").put(arns.balancer, {
    arn: arns.balancer,
    name,
    type: "application",
    dnsName: `internal-${name}-1234567890.${region}.elb.amazonaws.com`,
    scheme: "internal",
    state: "active",
    vpcId: network.vpcId,
    ipAddressType: "ipv4",
    ipv6SourceNat: "off",
    zones: [],
    groupIds: [group],
    privateLinkRules: "on",
    attributes: {},
    capacity: undefined,
    ipamPoolId: undefined,
    created: 0,
    tags: { ...tags, "ingress.k8s.aws/resource": "LoadBalancer" },
  } as LoadBalancer);
  store.table<Listener>("elbv2/listeners").put(arns.listener, {
    arn: arns.listener,
    loadBalancerArn: arns.balancer,
    port: 80,
    protocol: "HTTP",
    certificate: undefined,
    moreCertificates: [],
    sslPolicy: undefined,
    alpnPolicy: undefined,
    mutualAuthentication: undefined,
    actions: forward,
    attributes: {},
    tags,
  });
  store.table<Rule>("elbv2/rules").put(arns.rule, {
    arn: arns.rule,
    listenerArn: arns.listener,
    priority: 1,
    conditions: [{ Field: "path-pattern", PathPatternConfig: { Values: ["/x"] } }],
    actions: forward,
    transforms: [],
    tags,
  });
  store.table<TargetGroup>("elbv2/target-groups").put(arns.target, {
    arn: arns.target,
    name,
    protocol: "HTTP",
    version: "HTTP1",
    port: 80,
    vpcId: network.vpcId,
    targetType: "ip",
    targetControlPort: undefined,
    ipAddressType: "ipv4",
    check: {
      enabled: true,
      protocol: "HTTP",
      port: "traffic-port",
      path: "/",
      interval: 15,
      timeout: 5,
      healthyThreshold: 2,
      unhealthyThreshold: 2,
      codes: "200",
    },
    attributes: {},
    tags,
  });
}
