/** What the second service keeps: load balancers, listeners, rules, target groups and their targets. */
import { createHash } from "node:crypto";
import type {
  Action,
  EnablePrefixForIpv6SourceNatEnum,
  IpAddressType,
  LoadBalancerSchemeEnum,
  LoadBalancerStateEnum,
  MutualAuthenticationAttributes,
  ProtocolEnum,
  RuleCondition,
  RuleTransform,
  TargetDescription,
  TargetGroupIpAddressTypeEnum,
  TargetTypeEnum,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Account } from "../account.ts";
import { HealthChecks, type Verdict } from "../balancing/checks.ts";
import type { Tags } from "../balancing/tags.ts";
import { ServiceError } from "../errors.ts";
import type { Table } from "../store.ts";
import type { LoadBalancerType } from "./types.ts";

/** By key. */
export type Attributes = Readonly<Record<string, string>>;

/** A subnet that a load balancer has a node in. */
export interface ZoneMapping {
  readonly subnetId: string;
  readonly zone: string;
  readonly interfaceId: string;
  readonly allocationId: string | undefined;
  readonly publicIp: string | undefined;
  /** As the user chose it; one AWS chose is not shown. */
  readonly privateAddress: string | undefined;
  readonly ipv6Address: string | undefined;
  readonly sourceNatPrefix: string | undefined;
}

/** Capacity that is kept ready. */
export interface Capacity {
  readonly units: number;
  readonly state: "pending" | "provisioned";
  readonly modified: number;
  readonly decreasesLeft: number;
}

/** A load balancer, without its listeners. */
export interface LoadBalancer {
  readonly arn: string;
  readonly name: string;
  readonly type: LoadBalancerType;
  readonly dnsName: string;
  readonly scheme: LoadBalancerSchemeEnum;
  readonly state: LoadBalancerStateEnum;
  readonly vpcId: string;
  readonly ipAddressType: IpAddressType;
  readonly ipv6SourceNat: EnablePrefixForIpv6SourceNatEnum;
  readonly zones: readonly ZoneMapping[];
  readonly groupIds: readonly string[];
  readonly privateLinkRules: "on" | "off";
  /** Those that were changed; the rest is as AWS has it. */
  readonly attributes: Attributes;
  readonly capacity: Capacity | undefined;
  /** The IPAM pool that its public IPv4 addresses come from. */
  readonly ipamPoolId: string | undefined;
  readonly created: number;
  readonly tags: Tags;
}

/** A port of a load balancer. */
export interface Listener {
  readonly arn: string;
  readonly loadBalancerArn: string;
  readonly port: number;
  readonly protocol: ProtocolEnum;
  readonly certificate: string | undefined;
  /** Beside the default one. */
  readonly moreCertificates: readonly string[];
  readonly sslPolicy: string | undefined;
  readonly alpnPolicy: string | undefined;
  /** Only HTTPS listeners have it. */
  readonly mutualAuthentication: MutualAuthenticationAttributes | undefined;
  /** What happens to a request that no rule speaks of. */
  readonly actions: readonly Action[];
  readonly attributes: Attributes;
  readonly tags: Tags;
}

/** What a listener does with the requests that meet all conditions. */
export interface Rule {
  readonly arn: string;
  readonly listenerArn: string;
  readonly priority: number;
  readonly conditions: readonly RuleCondition[];
  readonly actions: readonly Action[];
  readonly transforms: readonly RuleTransform[];
  readonly tags: Tags;
}

/** Certificate authorities whose client certificates listeners accept. */
export interface TrustStore {
  readonly arn: string;
  readonly name: string;
  readonly state: "CREATING" | "ACTIVE";
  readonly authorities: number;
  readonly revocations: readonly Revocation[];
  readonly tags: Tags;
}

/** A list of revoked certificates, by where it lies. */
export interface Revocation {
  readonly id: number;
  readonly bucket: string;
  readonly key: string;
}

/** How the targets of a group are checked. */
export interface GroupHealthCheck {
  readonly enabled: boolean;
  readonly protocol: "TCP" | "HTTP" | "HTTPS";
  /** A number, or `traffic-port`. */
  readonly port: string;
  readonly path: string | undefined;
  readonly interval: number;
  readonly timeout: number;
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
  /** Of HTTP, or of gRPC where that is the group's protocol version. */
  readonly codes: string | undefined;
}

/** The version of HTTP that targets are spoken to in. */
export type ProtocolVersion = "HTTP1" | "HTTP2" | "GRPC";

/** A target group, without its targets. */
export interface TargetGroup {
  readonly arn: string;
  readonly name: string;
  /** Undefined for functions, which are called and not connected to; the same holds for the VPC. */
  readonly protocol: ProtocolEnum | undefined;
  /** Only of HTTP and HTTPS. */
  readonly version: ProtocolVersion | undefined;
  /** 0 for functions. */
  readonly port: number;
  readonly vpcId: string | undefined;
  readonly targetType: TargetTypeEnum;
  readonly targetControlPort: number | undefined;
  readonly ipAddressType: TargetGroupIpAddressTypeEnum;
  readonly check: GroupHealthCheck;
  readonly attributes: Attributes;
  readonly tags: Tags;
}

/** One id and port of a group. */
export interface Target {
  readonly groupArn: string;
  readonly id: string;
  readonly port: number;
  /** Set for addresses: the zone they are in, or `all`. */
  readonly zone: string | undefined;
  readonly quicServerId: string | undefined;
  readonly verdict: Verdict;
  /** Whether a health check has been made since it was registered. */
  readonly checked: boolean;
  /** When it was deregistered, while existing connections may still end. */
  readonly drainingSince: number | undefined;
}

/** The service's tables, by ARN, and its health checks. */
export interface Elbv2 {
  readonly account: Account;
  readonly loadBalancers: Table<LoadBalancer>;
  readonly listeners: Table<Listener>;
  readonly rules: Table<Rule>;
  readonly targetGroups: Table<TargetGroup>;
  /** By `targetKey`. */
  readonly targets: Table<Target>;
  readonly trustStores: Table<TrustStore>;
  readonly checks: HealthChecks;
  readonly found: Lookups;
}

/** Records by what they belong to, or by the target groups that they forward to. */
interface Lookups {
  readonly listenersByLoadBalancer: (arn: string) => Listener[];
  readonly listenersByGroup: (arn: string) => Listener[];
  readonly rulesByListener: (arn: string) => Rule[];
  readonly rulesByGroup: (arn: string) => Rule[];
  readonly targetsByGroup: (arn: string) => Target[];
}

/** The service with nothing in it. */
export function createElbv2(account: Account): Elbv2 {
  const { store } = account;
  const listeners = store.table<Listener>("elbv2/listeners");
  const rules = store.table<Rule>("elbv2/rules");
  const targets = store.table<Target>("elbv2/targets");
  return {
    account,
    loadBalancers: store.table("elbv2/load-balancers"),
    listeners,
    rules,
    targetGroups: store.table("elbv2/target-groups"),
    targets,
    trustStores: store.table("elbv2/trust-stores"),
    checks: new HealthChecks(account),
    found: {
      listenersByLoadBalancer: listeners.index(({ loadBalancerArn }) => [loadBalancerArn]),
      listenersByGroup: listeners.index(({ actions }) => groupsIn(actions)),
      rulesByListener: rules.index(({ listenerArn }) => [listenerArn]),
      rulesByGroup: rules.index(({ actions }) => groupsIn(actions)),
      targetsByGroup: targets.index(({ groupArn }) => [groupArn]),
    },
  };
}

/** The load balancer of an ARN. */
export function loadBalancerAt(elbv2: Elbv2, arn: string | undefined): LoadBalancer {
  return at(elbv2.loadBalancers, "loadbalancer", arn, "LoadBalancerNotFound", "Load balancer");
}

/** The listener of an ARN. */
export function listenerAt(elbv2: Elbv2, arn: string | undefined): Listener {
  return at(elbv2.listeners, "listener", arn, "ListenerNotFound", "Listener");
}

/** The target group of an ARN. */
export function targetGroupAt(elbv2: Elbv2, arn: string | undefined): TargetGroup {
  return at(elbv2.targetGroups, "targetgroup", arn, "TargetGroupNotFound", "Target group");
}

/** The trust store of an ARN. */
export function trustStoreAt(elbv2: Elbv2, arn: string | undefined): TrustStore {
  return at(elbv2.trustStores, "truststore", arn, "TrustStoreNotFound", "Trust store");
}

/** Refuses what is no ARN of that kind at all. */
export function checkArn(arn: string | undefined, kind: string): string {
  if (!new RegExp(`^arn:[a-z-]+:elasticloadbalancing:[a-z0-9-]+:\\d{12}:${kind}/.+$`).test(arn ?? "")) {
    throw new ServiceError("ValidationError", `'${arn ?? ""}' is not a valid ${kind} ARN`);
  }
  return arn!;
}

/** The listeners of a load balancer, oldest first. */
export function listenersOf(elbv2: Elbv2, loadBalancerArn: string): readonly Listener[] {
  return elbv2.found.listenersByLoadBalancer(loadBalancerArn);
}

/** The rules of a listener in the order in which they are evaluated, without its default rule. */
export function rulesOf(elbv2: Elbv2, listenerArn: string): readonly Rule[] {
  return elbv2.found.rulesByListener(listenerArn).sort((a, b) => a.priority - b.priority);
}

/** The ARN of a listener's default rule: it is made with the listener, and goes with it. */
export function defaultRuleArn({ arn }: Pick<Listener, "arn">): string {
  const id = createHash("sha256").update(`${arn} default`).digest("hex").slice(0, 16);
  return `${arn.replace(":listener/", ":listener-rule/")}/${id}`;
}

/** The target groups that actions forward to. */
export function groupsIn(actions: readonly Action[]): readonly string[] {
  const named = actions.flatMap((action) => [
    action.TargetGroupArn,
    ...(action.ForwardConfig?.TargetGroups ?? []).map((group) => group.TargetGroupArn),
  ]);
  return [...new Set(named.filter((arn) => arn !== undefined))];
}

/** The load balancers that forward to a target group, by their listeners or rules, each once. */
export function loadBalancersOf(elbv2: Elbv2, groupArn: string): readonly string[] {
  const { listenersByGroup, rulesByGroup } = elbv2.found;
  const ruled = rulesByGroup(groupArn).flatMap(({ listenerArn }) => elbv2.listeners.get(listenerArn) ?? []);
  return [...new Set([...listenersByGroup(groupArn), ...ruled].map((listener) => listener.loadBalancerArn))];
}

/** The target groups that a load balancer forwards to, each once. */
export function groupsOf(elbv2: Elbv2, loadBalancerArn: string): readonly string[] {
  const listeners = listenersOf(elbv2, loadBalancerArn);
  const rules = listeners.flatMap(({ arn }) => elbv2.found.rulesByListener(arn));
  return [...new Set([...listeners, ...rules].flatMap(({ actions }) => groupsIn(actions)))];
}

/** One target is one id and port in one group. */
export function targetKey({ groupArn, id, port }: Pick<Target, "groupArn" | "id" | "port">): string {
  return `${groupArn} ${id}:${port}`;
}

/** Which target a description means: without a port, the one on the group's own. */
export function keyMeant(group: TargetGroup, { Id: id = "", Port: port = group.port }: TargetDescription): string {
  return targetKey({ groupArn: group.arn, id, port });
}

function at<T extends object>(table: Table<T>, kind: string, arn: string | undefined, code: string, noun: string): T {
  const found = table.get(checkArn(arn, kind));
  if (found === undefined) throw new ServiceError(code, `${noun} '${arn}' not found`);
  return found;
}
