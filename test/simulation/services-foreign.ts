/** Things of other people in the account, which look a little like ours; and what is lent to us. */
import { isDeepStrictEqual } from "node:util";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { SecurityGroup } from "../../src/sandbox/cloud/ec2/state.ts";
import type { ClassicLoadBalancer } from "../../src/sandbox/cloud/elb/state.ts";
import type { Listener, LoadBalancer, TargetGroup } from "../../src/sandbox/cloud/elbv2/state.ts";
import type { Network } from "../../src/sandbox/cloud/network.ts";

/** What Services may name in their annotations. */
export interface Lent {
  readonly groups: readonly string[];
  readonly addresses: readonly string[];
}

/** The name of a load balancer, of either kind, that is somebody else's. */
export const takenName = "taken";

/** Another cluster's mark, and the name of a Service that this cluster has too. */
const theirs = { "kubernetes.io/cluster/other": "owned", "kubernetes.io/service-name": "default/a", owner: "them" };

/** Puts them into the account. */
export function plantForeign(cloud: Cloud, network: Network): Lent {
  const { ec2, store } = cloud.account;
  const like = ec2.securityGroups.get(network.nodeGroupId)!;
  const group = (id: string, name: string, tags: SecurityGroup["tags"]) => {
    ec2.securityGroups.put(id, { ...like, id, name, tags });
    return id;
  };
  const theirGroup = group("sg-0f0f0f0f0f0f0f0f0", "k8s-elb-other", { owner: "them" });
  group("sg-0f0f0f0f0f0f0f0f1", "k8s-default-a-0123456789", theirs);
  const lent = [group("sg-0a0a0a0a0a0a0a0a0", "lent", { owner: "them" }), group("sg-0a0a0a0a0a0a0a0a1", "lent too", {})];
  let rules = 0;
  const rule = (groupId: string, port: number, cidr: string, description?: string, protocol = "tcp", toPort = port) => {
    const id = `sgr-0f0f0f0f0f0f0f0f${rules++}`;
    const peer = { kind: "ipv4", cidr } as const;
    ec2.rules.put(id, { id, groupId, egress: false, protocol, fromPort: port, toPort, peer, description, tags: {} });
  };
  // Another cluster's network load balancer, with all that goes with it.
  rule(network.nodeGroupId, 31999, "172.20.0.0/16", "kubernetes.io/rule/nlb/client=aother");
  rule(network.nodeGroupId, 3, "172.20.0.0/16", "kubernetes.io/rule/nlb/mtu", "icmp", 4);
  rule(network.nodeGroupId, 22, "10.0.0.0/8");
  // Just what health checks of ours may need.
  rule(network.nodeGroupId, 32100, ec2.subnets.get(network.publicSubnetIds[0]!)?.cidr ?? "", "ours since ever");
  rule(theirGroup, 80, "0.0.0.0/0");
  rule(lent[0]!, 80, "0.0.0.0/0");
  store.table<ClassicLoadBalancer>("elb/load-balancers").put(takenName, foreignClassic(network, theirGroup));
  plantNetwork(cloud, network, theirGroup);
  const addresses = network.publicSubnetIds.map((_, i) => {
    const id = `eipalloc-0a0a0a0a0a0a0a0a${i}`;
    ec2.addresses.put(id, { id, publicIp: `203.0.113.${10 + i}`, association: undefined, managedBy: undefined, tags: { owner: "them" } });
    return id;
  });
  return { groups: lent, addresses };
}

function foreignClassic(network: Network, groupId: string): ClassicLoadBalancer {
  return {
    name: takenName,
    dnsName: `${takenName}-1234567890.us-east-1.elb.amazonaws.com`,
    scheme: "internet-facing",
    vpcId: network.vpcId,
    subnetIds: network.publicSubnetIds,
    interfaceIds: {},
    groupIds: [groupId],
    listeners: [{ protocol: "TCP", port: 80, instanceProtocol: "TCP", instancePort: 31999, certificate: undefined, policyNames: [] }],
    policies: [],
    backendPolicies: {},
    healthCheck: { Target: "TCP:31999", Interval: 10, Timeout: 5, UnhealthyThreshold: 6, HealthyThreshold: 2 },
    instances: [],
    attributes: {
      crossZone: false,
      accessLog: { enabled: false, bucket: undefined, prefix: undefined, emitInterval: undefined },
      draining: { enabled: false, timeout: 300 },
      idleTimeout: 60,
      desyncMode: "defensive",
    },
    created: 0,
    tags: theirs,
  };
}

function plantNetwork(cloud: Cloud, network: Network, groupId: string): void {
  const { store, region, id } = cloud.account;
  const arn = (what: string) => `arn:aws:elasticloadbalancing:${region}:${id}:${what}`;
  const loadBalancerArn = arn(`loadbalancer/net/${takenName}/00000000000000ff`);
  const groupArn = arn("targetgroup/k8s-default-a-ffffffffff/00000000000000ff");
  store.table<LoadBalancer>("elbv2/load-balancers").put(loadBalancerArn, {
    arn: loadBalancerArn,
    name: takenName,
    type: "network",
    dnsName: `${takenName}-00000000000000ff.elb.us-east-1.amazonaws.com`,
    scheme: "internet-facing",
    state: "active",
    vpcId: network.vpcId,
    ipAddressType: "ipv4",
    ipv6SourceNat: "off",
    zones: [],
    groupIds: [groupId],
    privateLinkRules: "on",
    attributes: {},
    capacity: undefined,
    ipamPoolId: undefined,
    created: 0,
    tags: theirs,
  });
  store.table<TargetGroup>("elbv2/target-groups").put(groupArn, {
    arn: groupArn,
    name: "k8s-default-a-ffffffffff",
    protocol: "TCP",
    version: undefined,
    port: 31999,
    vpcId: network.vpcId,
    targetType: "instance",
    targetControlPort: undefined,
    ipAddressType: "ipv4",
    check: {
      enabled: true,
      protocol: "TCP",
      port: "traffic-port",
      path: undefined,
      interval: 30,
      timeout: 10,
      healthyThreshold: 3,
      unhealthyThreshold: 3,
      codes: undefined,
    },
    attributes: {},
    tags: theirs,
  });
  const listenerArn = arn(`listener/net/${takenName}/00000000000000ff/00000000000000ff`);
  store.table<Listener>("elbv2/listeners").put(listenerArn, {
    arn: listenerArn,
    loadBalancerArn,
    port: 80,
    protocol: "TCP",
    certificate: undefined,
    moreCertificates: [],
    sslPolicy: undefined,
    alpnPolicy: undefined,
    mutualAuthentication: undefined,
    actions: [{ Type: "forward", TargetGroupArn: groupArn }],
    attributes: {},
    tags: theirs,
  });
}

/** Tables in which Services have their things; those of machines change with the machines. */
const tables = ["elb/", "elbv2/", "ec2/security-group", "ec2/subnets", "ec2/vpcs", "ec2/internet-gateways", "ec2/addresses"];

/** What was there before any Service was. */
export class Before {
  readonly #cloud: Cloud;
  readonly #records: readonly { readonly table: string; readonly id: string; readonly was: object }[];

  constructor(cloud: Cloud) {
    this.#cloud = cloud;
    this.#records = recordsOf(cloud).map(({ table, id, record }) => ({ table, id, was: record }));
  }

  /** What of it is not as it was. Addresses are lent: who has them for a while does not matter. */
  touched(): string[] {
    const { store } = this.#cloud.account;
    return this.#records.flatMap(({ table, id, was }) => {
      const is = store.table(table).get(id);
      if (is === was || isDeepStrictEqual(is, was)) return [];
      if (is === undefined) return [`${table} ${id} is gone`];
      return table === "ec2/addresses" ? [] : [`${table} ${id} was changed to ${JSON.stringify(is)}`];
    });
  }

  /** What is not as it was, or was not there: nothing, when all Services are gone. */
  differences(): string[] {
    const { ec2 } = this.#cloud.account;
    const known = new Set(this.#records.map(({ table, id }) => `${table} ${id}`));
    const used = ec2.addresses.values().filter(({ association }) => association !== undefined);
    const interfaces = ec2.interfaces.values().filter(({ requesterId }) => requesterId !== undefined);
    return [
      ...this.touched(),
      ...recordsOf(this.#cloud).flatMap(({ table, id, record }) =>
        known.has(`${table} ${id}`) ? [] : [`${table} ${id} is left: ${JSON.stringify(record)}`],
      ),
      ...used.map(({ id }) => `address ${id} is still used`),
      ...interfaces.map(({ id, description }) => `interface ${id} is left: ${description}`),
    ];
  }
}

function recordsOf(cloud: Cloud): { table: string; id: string; record: object }[] {
  return Object.entries(cloud.controls.snapshot())
    .filter(([table]) => tables.some((start) => table.startsWith(start)))
    .flatMap(([table, records]) => Object.entries(records).map(([id, record]) => ({ table, id, record })));
}
