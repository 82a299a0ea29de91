/** What the second service keeps: load balancers, listeners, target groups and their targets. */
import type {
  Action,
  EnablePrefixForIpv6SourceNatEnum,
  IpAddressType,
  LoadBalancerSchemeEnum,
  LoadBalancerStateEnum,
  ProtocolEnum,
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
  readonly actions: readonly Action[];
  readonly attributes: Attributes;
  readonly tags: Tags;
}

/** How the targets of a group are checked. */
export interface GroupHealthCheck {
  readonly protocol: "TCP" | "HTTP" | "HTTPS";
  /** A number, or `traffic-port`. */
  readonly port: string;
  readonly path: string | undefined;
  readonly interval: number;
  readonly timeout: number;
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
  readonly codes: string | undefined;
}

/** A target group, without its targets. */
export interface TargetGroup {
  readonly arn: string;
  readonly name: string;
  readonly protocol: ProtocolEnum;
  readonly port: number;
  readonly vpcId: string;
  readonly targetType: Extract<TargetTypeEnum, "instance" | "ip">;
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
  readonly targetGroups: Table<TargetGroup>;
  /** By `targetKey`. */
  readonly targets: Table<Target>;
  readonly checks: HealthChecks;
}

/** The service with nothing in it. */
export function createElbv2(account: Account): Elbv2 {
  const { store } = account;
  return {
    account,
    loadBalancers: store.table("elbv2/load-balancers"),
    listeners: store.table("elbv2/listeners"),
    targetGroups: store.table("elbv2/target-groups"),
    targets: store.table("elbv2/targets"),
    checks: new HealthChecks(account),
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

/** Refuses what is no ARN of that kind at all. */
export function checkArn(arn: string | undefined, kind: string): string {
  if (!new RegExp(`^arn:[a-z-]+:elasticloadbalancing:[a-z0-9-]+:\\d{12}:${kind}/.+$`).test(arn ?? "")) {
    throw new ServiceError("ValidationError", `'${arn ?? ""}' is not a valid ${kind} ARN`);
  }
  return arn!;
}

/** The listeners of a load balancer, by port. */
export function listenersOf(elbv2: Elbv2, loadBalancerArn: string): readonly Listener[] {
  return elbv2.listeners.values().filter((listener) => listener.loadBalancerArn === loadBalancerArn);
}

/** The target groups that actions forward to. */
export function groupsIn(actions: readonly Action[]): readonly string[] {
  const named = actions.flatMap((action) => [
    action.TargetGroupArn,
    ...(action.ForwardConfig?.TargetGroups ?? []).map((group) => group.TargetGroupArn),
  ]);
  return [...new Set(named.filter((arn) => arn !== undefined))];
}

/** The load balancers that forward to a target group, each once. */
export function loadBalancersOf(elbv2: Elbv2, groupArn: string): readonly string[] {
  const listeners = elbv2.listeners.values().filter((listener) => groupsIn(listener.actions).includes(groupArn));
  return [...new Set(listeners.map((listener) => listener.loadBalancerArn))];
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
