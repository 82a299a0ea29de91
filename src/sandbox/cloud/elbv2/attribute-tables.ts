/** The attributes AWS knows of each kind of thing, with their defaults and the values they take. */
import { invalidConfiguration } from "../balancing/network.ts";
import type { Attributes, Listener, LoadBalancer, TargetGroup } from "./state.ts";

interface Attribute<Owner> {
  readonly key: string;
  readonly fallback: string | ((owner: Owner) => string);
  readonly takes: (value: string, owner: Owner) => boolean;
}

/** The attributes of one kind of thing, in the order they are listed. */
export type AttributeTable<Owner = LoadBalancer> = readonly Attribute<Owner>[];

/** A change as requests carry it. */
export interface AttributeInput {
  readonly Key?: string | undefined;
  readonly Value?: string | undefined;
}

/** All attributes of a thing, changed or not. */
export function allAttributes<Owner extends { readonly attributes: Attributes }>(table: AttributeTable<Owner>, owner: Owner): Attributes {
  return Object.fromEntries(table.map((attribute) => [attribute.key, owner.attributes[attribute.key] ?? fallback(attribute, owner)]));
}

/** As answers carry them. */
export function attributeList(attributes: Attributes): { Key: string; Value: string }[] {
  return Object.entries(attributes).map(([Key, Value]) => ({ Key, Value }));
}

/** The changed attributes, with more changes. */
export function withAttributes<Owner extends { readonly attributes: Attributes }>(
  table: AttributeTable<Owner>,
  owner: Owner,
  changes: readonly AttributeInput[],
): Attributes {
  const changed: Record<string, string> = { ...owner.attributes };
  for (const { Key: key = "", Value: value = "" } of changes) {
    const attribute = table.find((other) => other.key === key);
    if (attribute === undefined) throw invalidConfiguration(`Attribute key '${key}' is not recognized`);
    if (!attribute.takes(value, { ...owner, attributes: changed }))
      throw invalidConfiguration(`The value '${value}' of attribute '${key}' is not valid`);
    changed[key] = value;
  }
  return changed;
}

function fallback<Owner>(attribute: Attribute<Owner>, owner: Owner): string {
  return typeof attribute.fallback === "string" ? attribute.fallback : attribute.fallback(owner);
}

const flag = (value: string): boolean => value === "true" || value === "false";
const anything = (): boolean => true;
const oneOf =
  (...values: string[]) =>
  (value: string): boolean =>
    values.includes(value);
const between =
  (from: number, to: number) =>
  (value: string): boolean =>
    /^\d+$/.test(value) && Number(value) >= from && Number(value) <= to;
const offOr =
  (from: number, to: number) =>
  (value: string): boolean =>
    value === "off" || between(from, to)(value);

const SECONDARY_IPS = "secondary_ips.auto_assigned.per_subnet";

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_LoadBalancerAttribute.html */
export const NETWORK_ATTRIBUTES: AttributeTable = [
  { key: "deletion_protection.enabled", fallback: "false", takes: flag },
  { key: "load_balancing.cross_zone.enabled", fallback: "false", takes: flag },
  { key: "access_logs.s3.enabled", fallback: "false", takes: flag },
  { key: "access_logs.s3.bucket", fallback: "", takes: anything },
  { key: "access_logs.s3.prefix", fallback: "", takes: anything },
  { key: "ipv6.deny_all_igw_traffic", fallback: ({ scheme }) => String(scheme === "internal"), takes: flag },
  { key: "zonal_shift.config.enabled", fallback: "false", takes: flag },
  {
    key: "dns_record.client_routing_policy",
    fallback: "any_availability_zone",
    takes: oneOf("any_availability_zone", "partial_availability_zone_affinity", "availability_zone_affinity"),
  },
  {
    key: SECONDARY_IPS,
    fallback: "0",
    takes: (value, owner) => between(Number(owner.attributes[SECONDARY_IPS] ?? 0), 7)(value),
  },
];

const isUdp = ({ protocol }: TargetGroup): boolean => protocol === "UDP" || protocol === "TCP_UDP";
const DROP_UNHEALTHY = "target_health_state.unhealthy.connection_termination.enabled";

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_TargetGroupAttribute.html */
export const TARGET_GROUP_ATTRIBUTES: AttributeTable<TargetGroup> = [
  { key: "deregistration_delay.timeout_seconds", fallback: "300", takes: between(0, 3600) },
  { key: "deregistration_delay.connection_termination.enabled", fallback: (group) => String(isUdp(group)), takes: flag },
  { key: "stickiness.enabled", fallback: "false", takes: flag },
  { key: "stickiness.type", fallback: "source_ip", takes: oneOf("source_ip") },
  { key: "proxy_protocol_v2.enabled", fallback: "false", takes: flag },
  {
    key: "preserve_client_ip.enabled",
    fallback: ({ targetType, protocol }) => String(targetType !== "ip" || (protocol !== "TCP" && protocol !== "TLS")),
    takes: (value, group) => value === "true" || (value === "false" && !isUdp(group)),
  },
  {
    key: "load_balancing.cross_zone.enabled",
    fallback: "use_load_balancer_configuration",
    takes: oneOf("true", "false", "use_load_balancer_configuration"),
  },
  { key: "target_group_health.dns_failover.minimum_healthy_targets.count", fallback: "1", takes: offOr(1, 1000) },
  { key: "target_group_health.dns_failover.minimum_healthy_targets.percentage", fallback: "off", takes: offOr(1, 100) },
  { key: "target_group_health.unhealthy_state_routing.minimum_healthy_targets.count", fallback: "1", takes: between(1, 1000) },
  { key: "target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage", fallback: "off", takes: offOr(1, 100) },
  {
    key: DROP_UNHEALTHY,
    fallback: (group) => String(!isUdp(group)),
    takes: (value, group) => value === "false" || (value === "true" && !isUdp(group)),
  },
  {
    key: "target_health_state.unhealthy.draining_interval_seconds",
    fallback: "0",
    takes: (value, group) => between(0, 360_000)(value) && (value === "0" || group.attributes[DROP_UNHEALTHY] === "false" || isUdp(group)),
  },
];

const TCP_IDLE: AttributeTable<Listener> = [{ key: "tcp.idle_timeout.seconds", fallback: "350", takes: between(60, 6000) }];

/** Only TCP listeners have any: https://docs.aws.amazon.com/elasticloadbalancing/latest/network/update-idle-timeout.html */
export function listenerAttributes({ protocol }: Pick<Listener, "protocol">): AttributeTable<Listener> {
  return protocol === "TCP" ? TCP_IDLE : [];
}
