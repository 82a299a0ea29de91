/** What AWS gives where nobody asks for anything: https://docs.aws.amazon.com/elasticloadbalancing/latest/application/ */
import type { Attributes } from "../model.ts";

/** Of a new application load balancer. Where its logs go means nothing while they are off. */
export const newAttributes: Attributes = {
  "access_logs.s3.enabled": "false",
  "client_keep_alive.seconds": "3600",
  "connection_logs.s3.enabled": "false",
  "deletion_protection.enabled": "false",
  "idle_timeout.timeout_seconds": "60",
  "routing.http.desync_mitigation_mode": "defensive",
  "routing.http.drop_invalid_header_fields.enabled": "false",
  "routing.http.preserve_host_header.enabled": "false",
  "routing.http.x_amzn_tls_version_and_cipher_suite.enabled": "false",
  "routing.http.xff_client_port.enabled": "false",
  "routing.http.xff_header_processing.mode": "append",
  "routing.http2.enabled": "true",
  "waf.fail_open.enabled": "false",
  "zonal_shift.config.enabled": "false",
};

/** Of a new target group of instances or addresses. The name of an application's cookie has none. */
export const newTargetGroupAttributes: Attributes = {
  "deregistration_delay.timeout_seconds": "300",
  "load_balancing.algorithm.anomaly_mitigation": "off",
  "load_balancing.algorithm.type": "round_robin",
  "load_balancing.cross_zone.enabled": "use_load_balancer_configuration",
  "slow_start.duration_seconds": "0",
  "stickiness.app_cookie.duration_seconds": "86400",
  "stickiness.enabled": "false",
  "stickiness.lb_cookie.duration_seconds": "86400",
  "stickiness.type": "lb_cookie",
  "target_group_health.dns_failover.minimum_healthy_targets.count": "1",
  "target_group_health.dns_failover.minimum_healthy_targets.percentage": "off",
  "target_group_health.unhealthy_state_routing.minimum_healthy_targets.count": "1",
  "target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage": "off",
};

/** Of a new listener: headers towards targets have their own names, and answers get none but the server's. */
export function newListenerAttribute(key: string): string | undefined {
  const [, header] = /^routing\.http\.request\.(\w+)\.header_name$/.exec(key) ?? [];
  if (header !== undefined)
    return header.replace(/(^|_)(\w)/g, (_, before: string, letter: string) => (before && "-") + letter.toUpperCase());
  if (key === "routing.http.response.server.enabled") return "true";
  return key.startsWith("routing.http.response.") ? "" : undefined;
}
