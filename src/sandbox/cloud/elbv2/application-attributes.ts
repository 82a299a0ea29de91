/** The attributes of application load balancers: https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_LoadBalancerAttribute.html */
import { type AttributeTable, anything, between, flag, oneOf } from "./attribute-tables.ts";

/** Logs of one kind, delivered to a bucket. */
function logs(kind: string): AttributeTable {
  return [
    { key: `${kind}.s3.enabled`, fallback: "false", takes: flag },
    { key: `${kind}.s3.bucket`, fallback: "", takes: anything },
    { key: `${kind}.s3.prefix`, fallback: "", takes: anything },
  ];
}

/** In the order in which they are listed. */
export const APPLICATION_ATTRIBUTES: AttributeTable = [
  ...logs("access_logs"),
  { key: "idle_timeout.timeout_seconds", fallback: "60", takes: between(1, 4000) },
  { key: "deletion_protection.enabled", fallback: "false", takes: flag },
  { key: "routing.http2.enabled", fallback: "true", takes: flag },
  { key: "routing.http.drop_invalid_header_fields.enabled", fallback: "false", takes: flag },
  { key: "routing.http.xff_client_port.enabled", fallback: "false", takes: flag },
  { key: "routing.http.preserve_host_header.enabled", fallback: "false", takes: flag },
  { key: "routing.http.xff_header_processing.mode", fallback: "append", takes: oneOf("append", "preserve", "remove") },
  // Always on: the key exists and takes no other value.
  { key: "load_balancing.cross_zone.enabled", fallback: "true", takes: oneOf("true") },
  { key: "routing.http.desync_mitigation_mode", fallback: "defensive", takes: oneOf("monitor", "defensive", "strictest") },
  { key: "client_keep_alive.seconds", fallback: "3600", takes: between(60, 604_800) },
  { key: "waf.fail_open.enabled", fallback: "false", takes: flag },
  { key: "routing.http.x_amzn_tls_version_and_cipher_suite.enabled", fallback: "false", takes: flag },
  { key: "zonal_shift.config.enabled", fallback: "false", takes: flag },
  ...logs("connection_logs"),
  ...logs("health_check_logs"),
  { key: "ipv6.deny_all_igw_traffic", fallback: ({ scheme }) => String(scheme === "internal"), takes: flag },
];
