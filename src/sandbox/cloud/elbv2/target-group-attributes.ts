/** The attributes of target groups: https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_TargetGroupAttribute.html */
import { type AttributeTable, between, flag, offOr, oneOf } from "./attribute-tables.ts";
import type { TargetGroup } from "./state.ts";

/** Which attributes a group has: that depends on the load balancers that can use it. */
export function targetGroupAttributes({ targetType, protocol }: Pick<TargetGroup, "targetType" | "protocol">): AttributeTable<TargetGroup> {
  if (targetType === "lambda") return FUNCTION_ATTRIBUTES;
  return protocol === "HTTP" || protocol === "HTTPS" ? APPLICATION_ATTRIBUTES : NETWORK_ATTRIBUTES;
}

const HEALTH: AttributeTable<TargetGroup> = [
  { key: "target_group_health.dns_failover.minimum_healthy_targets.count", fallback: "1", takes: offOr(1, 1000) },
  { key: "target_group_health.dns_failover.minimum_healthy_targets.percentage", fallback: "off", takes: offOr(1, 100) },
  { key: "target_group_health.unhealthy_state_routing.minimum_healthy_targets.count", fallback: "1", takes: between(1, 1000) },
  { key: "target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage", fallback: "off", takes: offOr(1, 100) },
];
const SHARED: AttributeTable<TargetGroup> = [
  {
    key: "load_balancing.cross_zone.enabled",
    fallback: "use_load_balancer_configuration",
    takes: oneOf("true", "false", "use_load_balancer_configuration"),
  },
  ...HEALTH,
];

const WEEK = 604_800;

const isUdp = ({ protocol }: TargetGroup): boolean => protocol === "UDP" || protocol === "TCP_UDP";
const DROP_UNHEALTHY = "target_health_state.unhealthy.connection_termination.enabled";
const DELAY: AttributeTable<TargetGroup>[number] = {
  key: "deregistration_delay.timeout_seconds",
  fallback: "300",
  takes: between(0, 3600),
};
const STICKY: AttributeTable<TargetGroup>[number] = { key: "stickiness.enabled", fallback: "false", takes: flag };

const NETWORK_ATTRIBUTES: AttributeTable<TargetGroup> = [
  DELAY,
  { key: "deregistration_delay.connection_termination.enabled", fallback: (group) => String(isUdp(group)), takes: flag },
  STICKY,
  { key: "stickiness.type", fallback: "source_ip", takes: oneOf("source_ip") },
  { key: "proxy_protocol_v2.enabled", fallback: "false", takes: flag },
  {
    key: "preserve_client_ip.enabled",
    fallback: ({ targetType, protocol }) => String(targetType !== "ip" || (protocol !== "TCP" && protocol !== "TLS")),
    takes: (value, group) => value === "true" || (value === "false" && !isUdp(group)),
  },
  ...SHARED,
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

const ALGORITHM = "load_balancing.algorithm.type";

const APPLICATION_ATTRIBUTES: AttributeTable<TargetGroup> = [
  DELAY,
  STICKY,
  { key: "stickiness.type", fallback: "lb_cookie", takes: oneOf("lb_cookie", "app_cookie") },
  { key: "stickiness.lb_cookie.duration_seconds", fallback: "86400", takes: between(1, WEEK) },
  // Names of the load balancer's own cookies are reserved.
  { key: "stickiness.app_cookie.cookie_name", fallback: "", takes: (value) => !value.startsWith("AWSALB") },
  { key: "stickiness.app_cookie.duration_seconds", fallback: "86400", takes: between(1, WEEK) },
  { key: ALGORITHM, fallback: "round_robin", takes: oneOf("round_robin", "least_outstanding_requests", "weighted_random") },
  {
    key: "load_balancing.algorithm.anomaly_mitigation",
    fallback: "off",
    takes: (value, group) => value === "off" || (value === "on" && group.attributes[ALGORITHM] === "weighted_random"),
  },
  { key: "slow_start.duration_seconds", fallback: "0", takes: (value) => value === "0" || between(30, 900)(value) },
  ...SHARED,
];

const FUNCTION_ATTRIBUTES: AttributeTable<TargetGroup> = [
  { key: "lambda.multi_value_headers.enabled", fallback: "false", takes: flag },
  ...HEALTH,
];
