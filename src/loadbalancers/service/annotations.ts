/** The annotations of a Service of type LoadBalancer: one table for the parser, the validation and the reference page. */
import type { ParsingRow } from "../annotation-rows.ts";
import { parseKeyValues, parseList } from "../values.ts";
import {
  allPorts,
  entries,
  flag,
  int32,
  isInternal,
  loadBalancerName,
  oneOf,
  type ParserContext,
  ports,
  subnets,
  targetGroupAttributes,
  text,
  threshold,
} from "./annotation-parsers.ts";
import type { Kind } from "./kinds.ts";

export const annotationPrefix = "service.beta.kubernetes.io/aws-load-balancer-";
export const sourceRangesAnnotation = "service.beta.kubernetes.io/load-balancer-source-ranges";

const both = ["classic", "network"] as const;
const classic = ["classic"] as const;
const network = ["network"] as const;

export interface AnnotationRow extends ParsingRow<ParserContext> {
  readonly kinds: readonly Kind[];
  /** Whether an empty value is a value of its own; else it counts as unset. Kinds may differ: `kinds.ts`. */
  readonly keepsEmpty?: true;
}

/** Every annotation, by the part of its key behind `service.beta.kubernetes.io/aws-load-balancer-`. */
export const annotationTable = {
  type: {
    kinds: both,
    parse: text,
    takes:
      "`nlb` (network), `external` or `nlb-ip` (another controller's), `none` (target groups only); for any other value the existing load balancer is kept and nothing is created",
    unset: "classic",
    meaning: "The kind of load balancer. Fixed once an address is published, unless `type-change` allows the move.",
  },
  "type-change": {
    kinds: both,
    parse: oneOf("replace"),
    takes: "`replace`",
    unset: "a changed `type` is refused",
    meaning:
      "Lets a changed `type` replace the load balancer: the new one is created and published first, the old one drained and deleted.",
  },
  name: {
    kinds: both,
    parse: loadBalancerName,
    takes: "1 to 32 letters, digits and inner hyphens, not starting with `internal-`; unique in the account and region",
    unset: "`a` and the Service's UID",
    meaning: "A name of your choice for a new load balancer.",
  },
  internal: {
    kinds: both,
    parse: isInternal,
    takes: "`true` or `false`",
    unset: "internet-facing",
    meaning: "Makes the load balancer internal. Any text but `false` does. Read when the load balancer is created.",
  },
  subnets: {
    kinds: both,
    parse: subnets,
    keepsEmpty: true,
    takes: "subnet ids or values of the Name tag, separated by commas",
    unset: "discovered",
    meaning: "The subnets to use.",
  },
  "ssl-cert": {
    kinds: both,
    parse: text,
    takes: "one certificate ARN (ACM or IAM)",
    unset: "no TLS",
    meaning: "The certificate of the ports in `ssl-ports`.",
  },
  "ssl-ports": {
    kinds: both,
    parse: ports,
    takes: "`*`, or port numbers and names separated by commas",
    unset: "all ports",
    meaning: "The ports that use the certificate.",
  },
  "ssl-negotiation-policy": {
    kinds: both,
    parse: text,
    takes: "the name of an AWS security policy",
    unset: "AWS's default",
    meaning: "The TLS versions and ciphers of TLS listeners.",
  },
  "backend-protocol": {
    kinds: both,
    parse: text,
    takes: "`http`, `https`, `ssl` or `tcp` (classic); `ssl` (network)",
    unset: "plain TCP behind the listener",
    meaning: "The protocol towards the nodes.",
  },
  "proxy-protocol": {
    kinds: classic,
    parse: allPorts,
    takes: "`*`",
    unset: "off",
    meaning: "Sends the PROXY protocol header to all ports.",
  },
  "access-log-enabled": { kinds: both, parse: flag, takes: "`true` or `false`", unset: "`false`", meaning: "Writes access logs to S3." },
  "access-log-emit-interval": {
    kinds: classic,
    parse: int32,
    takes: "`5` or `60` (minutes)",
    unset: "AWS's default",
    meaning: "How often access logs are written.",
  },
  "access-log-s3-bucket-name": { kinds: both, parse: text, takes: "a bucket name", unset: "none", meaning: "Where access logs go." },
  "access-log-s3-bucket-prefix": {
    kinds: both,
    parse: text,
    takes: "a key prefix",
    unset: "none",
    meaning: "Where in the bucket access logs go.",
  },
  "connection-draining-enabled": {
    kinds: classic,
    parse: flag,
    takes: "`true` or `false`",
    unset: "`false`",
    meaning: "Lets requests in flight finish when an instance leaves.",
  },
  "connection-draining-timeout": {
    kinds: classic,
    parse: int32,
    takes: "a number of seconds",
    unset: "AWS's default",
    meaning: "How long draining may take.",
  },
  "connection-idle-timeout": {
    kinds: classic,
    parse: int32,
    takes: "a number of seconds",
    unset: "`60`",
    meaning: "How long a connection may be idle.",
  },
  "cross-zone-load-balancing-enabled": {
    kinds: both,
    parse: flag,
    takes: "`true` or `false`",
    unset: "`false`",
    meaning: "Spreads traffic over the targets of all zones.",
  },
  "extra-security-groups": {
    kinds: classic,
    parse: parseList,
    takes: "security group ids separated by commas",
    unset: "none",
    meaning: "Groups attached in addition.",
  },
  "security-groups": {
    kinds: both,
    parse: parseList,
    takes: "security group ids separated by commas",
    unset: "a group is created",
    meaning:
      "Groups attached instead of a managed one; no rule is written to them. Network load balancers need `NLBSecurityGroupMode = Managed`.",
  },
  "additional-resource-tags": {
    kinds: both,
    parse: parseKeyValues,
    takes: "`key=value` pairs separated by commas",
    unset: "none",
    meaning: "Tags on everything created for this Service.",
  },
  "target-node-labels": {
    kinds: both,
    parse: parseKeyValues,
    takes: "`key=value` pairs separated by commas; an empty value means the key is there",
    unset: "all eligible nodes",
    meaning: "Which nodes are targets.",
  },
  "healthcheck-protocol": {
    kinds: both,
    parse: text,
    keepsEmpty: true,
    takes: "`tcp`, `http` or `https` (classic also `ssl`)",
    unset: "see the health check section",
    meaning: "The protocol of the health check.",
  },
  "healthcheck-port": {
    kinds: both,
    parse: text,
    keepsEmpty: true,
    takes: "`traffic-port` or a port number",
    unset: "the traffic port",
    meaning: "The port of the health check.",
  },
  "healthcheck-path": { kinds: both, parse: text, takes: "a path", unset: "`/`", meaning: "The path of HTTP and HTTPS checks." },
  "healthcheck-healthy-threshold": {
    kinds: both,
    parse: threshold,
    keepsEmpty: true,
    takes: "a whole number",
    unset: "2 (classic), 3 (network; 2 with local traffic policy)",
    meaning: "Successes until a target counts as healthy.",
  },
  "healthcheck-unhealthy-threshold": {
    kinds: both,
    parse: threshold,
    keepsEmpty: true,
    takes: "a whole number",
    unset: "6 (classic), 3 (network; 2 with local traffic policy)",
    meaning: "Failures until a target counts as unhealthy.",
  },
  "healthcheck-interval": {
    kinds: both,
    parse: threshold,
    keepsEmpty: true,
    takes: "a number of seconds",
    unset: "10 (classic), 30 (network; 10 with local traffic policy)",
    meaning: "Time between checks.",
  },
  "healthcheck-timeout": {
    kinds: both,
    parse: threshold,
    keepsEmpty: true,
    takes: "a number of seconds",
    unset: "5 (classic), AWS's default (network)",
    meaning: "The timeout of a check.",
  },
  "eip-allocations": {
    kinds: network,
    parse: entries,
    keepsEmpty: true,
    takes: "allocation ids separated by commas, one per subnet, in the order of the subnets",
    unset: "AWS's addresses",
    meaning: "Elastic IPs of the load balancer.",
  },
  "private-ipv4-addresses": {
    kinds: network,
    parse: entries,
    keepsEmpty: true,
    takes: "addresses separated by commas, one per subnet, in the order of the subnets",
    unset: "AWS's addresses",
    meaning: "Private addresses of an internal load balancer.",
  },
  "target-group-attributes": {
    kinds: network,
    parse: targetGroupAttributes,
    keepsEmpty: true,
    takes: "`preserve_client_ip.enabled` and `proxy_protocol_v2.enabled`, each `=true` or `=false`",
    unset: "AWS's defaults",
    meaning: "Attributes of the target groups.",
  },
} as const satisfies Readonly<Record<string, AnnotationRow>>;

export type AnnotationName = keyof typeof annotationTable;

export const annotationKey = (name: AnnotationName) => annotationPrefix + name;
