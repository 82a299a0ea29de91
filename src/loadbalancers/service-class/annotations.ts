/** The annotations of a Service with a load balancer class: one table for the parser, the check for typos and the reference page. */
import { Fault, type Given, type ParsingRow } from "../annotation-rows.ts";
import { bool, capacityUnits, cidrs, int32, list, loadBalancerName, oneOf, stringMap, text } from "../parsers.ts";
import { parseGoBool } from "../values.ts";
import { type TypedAction, typedAction } from "./action-json.ts";

export const annotationPrefix = "service.beta.kubernetes.io/";

const onOff = ["on", "off"] as const;
const routingPolicies = ["any_availability_zone", "partial_availability_zone_affinity", "availability_zone_affinity"];
const routingPolicy = "dns_record.client_routing_policy";

function loadBalancerAttributes(given: string, about: Given): Readonly<Record<string, string>> | Fault {
  const map = stringMap(given, about);
  if (map instanceof Fault) return map;
  const policy = map[routingPolicy];
  if (policy === undefined || routingPolicies.includes(policy)) return map;
  const expected = routingPolicies.map((each) => `'${each}'`).join(", ");
  return new Fault(
    `invalid ${routingPolicy} set in annotation aws-load-balancer-attributes: got '${policy}' expected one of [${expected}]`,
  );
}

function healthCheckProtocol(given: string): "TCP" | "HTTP" | "HTTPS" | Fault {
  const protocol = (["TCP", "HTTP", "HTTPS"] as const).find((each) => each === given.toUpperCase());
  return protocol ?? new Fault(`unsupported health check protocol ${given}`);
}

function ports(given: string): readonly number[] | Fault {
  const entries = list(given);
  const wrong = entries.find((entry) => !/^[+-]?\d+$/.test(entry));
  return wrong === undefined ? entries.map(Number) : new Fault(`invalid port number in proxy-protocol-per-target-group: ${wrong}`);
}

function everywhere(given: string): true | Fault {
  const text = `invalid value ${given} for Load Balancer proxy protocol v2 annotation, only value currently supported is *`;
  return given === "*" || new Fault(text);
}

const alpnPolicies = ["None", "HTTP1Only", "HTTP2Only", "HTTP2Optional", "HTTP2Preferred"] as const;

/** What concerns the load balancer itself. */
export const loadBalancerTable = {
  "aws-load-balancer-type": {
    parse: text,
    takes: "`external`, or `nlb-ip`",
    unset: "the class decides",
    meaning: "Without `spec.loadBalancerClass`: whether this controller serves the Service. `nlb-ip` also registers pods.",
  },
  "aws-load-balancer-nlb-target-type": {
    parse: text,
    takes: "`instance` or `ip`",
    unset: "`--default-target-type`",
    meaning: "Whether nodes or pods are registered.",
  },
  "aws-load-balancer-name": {
    parse: loadBalancerName,
    takes: "a name of at most 32 characters",
    unset: "a name from namespace, name and a hash",
    meaning: "The name of a new load balancer.",
  },
  "aws-load-balancer-scheme": {
    parse: oneOf(["internal", "internet-facing"], (given) => `unknown scheme: ${given}`),
    takes: "`internal` or `internet-facing`",
    unset: "that of the existing load balancer, else `--default-load-balancer-scheme`",
    meaning: "Whether the load balancer has public addresses. Another scheme is another load balancer.",
  },
  "aws-load-balancer-internal": {
    parse: bool,
    takes: "`true` or `false`",
    unset: "see `aws-load-balancer-scheme`",
    meaning: "The same in its old form; `aws-load-balancer-scheme` takes precedence.",
  },
  "aws-load-balancer-ip-address-type": {
    parse: oneOf(["ipv4", "dualstack"], (given) => `unknown IPAddressType: ${given}`),
    takes: "`ipv4` or `dualstack`",
    unset: "`ipv4`",
    meaning: "The families of its addresses.",
  },
  "aws-load-balancer-subnets": {
    parse: list,
    takes: "subnet ids or values of the Name tag, separated by commas",
    unset: "its current ones, else discovered",
    meaning: "The subnets to use. Their order is that of the addresses below.",
  },
  "aws-load-balancer-eip-allocations": {
    parse: list,
    takes: "allocation ids separated by commas, one per subnet",
    unset: "AWS's addresses",
    meaning: "Elastic IPs of an internet-facing load balancer. Read when the load balancer is made.",
  },
  "aws-load-balancer-private-ipv4-addresses": {
    parse: list,
    takes: "IPv4 addresses separated by commas, one out of each subnet",
    unset: "AWS's choice",
    meaning: "Addresses of an internal load balancer. Read when the load balancer is made.",
  },
  "aws-load-balancer-ipv6-addresses": {
    parse: list,
    takes: "IPv6 addresses separated by commas, one out of each subnet",
    unset: "AWS's choice",
    meaning: "Addresses of a dual-stack load balancer.",
  },
  "aws-load-balancer-enable-prefix-for-ipv6-source-nat": {
    parse: oneOf(onOff, (given) => `Invalid enable-prefix-for-ipv6-source-nat value: ${given}. Valid values are ['on', 'off'].`),
    takes: "`on` or `off`",
    unset: "`off`",
    meaning: "Source NAT by prefixes, which UDP on a dual-stack load balancer needs.",
  },
  "aws-load-balancer-source-nat-ipv6-prefixes": {
    parse: list,
    takes: "`auto_assigned` or an IPv6 block of 80 bits for each subnet, separated by commas",
    unset: "AWS's choice",
    meaning: "The prefixes of source NAT, in the order of the subnets.",
  },
  "aws-load-balancer-security-groups": {
    parse: list,
    takes: "security group ids or values of the Name tag, separated by commas",
    unset: "a group is made",
    meaning: "Groups attached instead of a managed one.",
  },
  "aws-load-balancer-manage-backend-security-group-rules": {
    parse: bool,
    takes: "`true` or `false`",
    unset: "`--enable-manage-backend-security-group-rules`; `true` for a load balancer without groups",
    meaning: "With groups of yours, or with none: whether targets are opened for the load balancer.",
  },
  "aws-load-balancer-disable-nlb-sg": {
    parse: bool,
    takes: "`true` or `false`",
    unset: "`false`",
    meaning: "Makes a load balancer without security groups. AWS gives one that was made so none later.",
  },
  "load-balancer-source-ranges": {
    parse: cidrs,
    takes: "CIDR blocks separated by commas",
    unset: "everybody",
    meaning: "Who may reach the load balancer. `spec.loadBalancerSourceRanges` takes precedence.",
  },
  "aws-load-balancer-security-group-prefix-lists": {
    parse: list,
    takes: "ids of prefix lists separated by commas",
    unset: "none",
    meaning: "Who may reach the load balancer, by prefix list. With it, everybody may only if source ranges say so.",
  },
  "aws-load-balancer-enable-icmp-for-path-mtu-discovery": {
    parse: (given: string) => given === "on",
    takes: "`on`",
    unset: "`off`",
    meaning: "Lets in what path MTU discovery needs.",
  },
  "aws-load-balancer-inbound-sg-rules-on-private-link-traffic": {
    parse: oneOf(
      onOff,
      (given) => `Invalid value for securityGroupsInboundRulesOnPrivateLink status: ${given}, value must be one of [on, off]`,
    ),
    takes: "`on` or `off`",
    unset: "as it is",
    meaning: "Whether the groups' rules count for what comes by PrivateLink.",
  },
  "aws-load-balancer-attributes": {
    parse: loadBalancerAttributes,
    takes: "`key=value` pairs separated by commas",
    unset: "as they are",
    meaning: "Attributes of the load balancer. Only the keys given are managed.",
  },
  "aws-load-balancer-access-log-enabled": {
    parse: bool,
    takes: "`true` or `false`",
    unset: "as it is",
    meaning: "Old form of `access_logs.s3.enabled`: `true` turns access logs on.",
  },
  "aws-load-balancer-access-log-s3-bucket-name": {
    parse: text,
    takes: "the name of a bucket",
    unset: "as it is",
    meaning: "Where access logs go, with `aws-load-balancer-access-log-enabled`.",
  },
  "aws-load-balancer-access-log-s3-bucket-prefix": {
    parse: text,
    takes: "a prefix",
    unset: "as it is",
    meaning: "How the names of access logs begin, with `aws-load-balancer-access-log-enabled`.",
  },
  "aws-load-balancer-cross-zone-load-balancing-enabled": {
    parse: bool,
    takes: "`true` or `false`",
    unset: "as it is",
    meaning: "Old form of `load_balancing.cross_zone.enabled`; takes precedence over it.",
  },
  "aws-load-balancer-additional-resource-tags": {
    parse: stringMap,
    takes: "`key=value` pairs separated by commas",
    unset: "none",
    meaning: "Tags on everything made for the Service.",
  },
  "aws-load-balancer-minimum-load-balancer-capacity": {
    parse: capacityUnits,
    takes: "`CapacityUnits=` and a number; `0` cancels the reservation",
    unset: "as it is",
    meaning: "Capacity that is reserved.",
  },
  "aws-load-balancer-multi-cluster-target-group": {
    parse: bool,
    takes: "`true` or `false`",
    unset: "`false`",
    meaning: "Whether other clusters register targets too.",
  },
} as const satisfies Readonly<Record<string, ParsingRow>>;

export const listenerTable = {
  "aws-load-balancer-ssl-cert": {
    parse: list,
    takes: "certificate ARNs separated by commas",
    unset: "no TLS",
    meaning: "The certificates of TLS listeners; the first is the default one.",
  },
  "aws-load-balancer-ssl-ports": {
    parse: list,
    takes: "names or numbers of ports, separated by commas",
    unset: "all but UDP",
    meaning: "The ports with TLS, where there is a certificate.",
  },
  "aws-load-balancer-ssl-negotiation-policy": {
    parse: text,
    takes: "the name of an AWS security policy",
    unset: "`--default-ssl-policy`",
    meaning: "The TLS versions and ciphers of TLS listeners.",
  },
  "aws-load-balancer-backend-protocol": {
    parse: text,
    takes: "`ssl`",
    unset: "plain TCP",
    meaning: "Behind TLS listeners: whether targets are spoken to by TLS.",
  },
  "aws-load-balancer-alpn-policy": {
    parse: oneOf(alpnPolicies, (given) => `invalid ALPN policy ${given}, policy must be one of [${alpnPolicies.join(", ")}]`),
    takes: alpnPolicies.map((each) => `\`${each}\``).join(", "),
    unset: "as it is",
    meaning: "How TLS listeners agree on a protocol with clients.",
  },
  "aws-load-balancer-enable-tcp-udp-listener": {
    parse: (given: string) => parseGoBool(given),
    takes: "`true` or `false`",
    unset: "the gate `EnableTCPUDPListener`",
    meaning: "Whether a TCP and a UDP port of one number become one listener.",
  },
  "aws-load-balancer-quic-enabled-ports": {
    parse: list,
    takes: "names or numbers of UDP ports, separated by commas",
    unset: "none",
    meaning: "The ports that speak QUIC. AWS takes it without security groups only.",
  },
} as const satisfies Readonly<Record<string, ParsingRow>>;

export const targetGroupTable = {
  "aws-load-balancer-healthcheck-protocol": {
    parse: healthCheckProtocol,
    takes: "`TCP`, `HTTP` or `HTTPS`",
    unset: "`TCP`; `HTTP` with `externalTrafficPolicy: Local`¹",
    meaning: "The protocol of the health check.",
  },
  "aws-load-balancer-healthcheck-port": {
    parse: text,
    takes: "`traffic-port`, a number, or the name of a port of the Service",
    unset: "`traffic-port`; `spec.healthCheckNodePort`¹",
    meaning: "The port of the health check.",
  },
  "aws-load-balancer-healthcheck-path": {
    parse: text,
    takes: "a path",
    unset: "`/`; `/healthz`¹",
    meaning: "What is asked for, by HTTP and HTTPS.",
  },
  "aws-load-balancer-healthcheck-success-codes": {
    parse: text,
    takes: "codes such as `200,201` or `200-299`",
    unset: "`200-399`",
    meaning: "Codes of a healthy answer, by HTTP and HTTPS.",
  },
  "aws-load-balancer-healthcheck-interval": { parse: int32, takes: "a number of seconds", unset: "`10`", meaning: "Time between checks." },
  "aws-load-balancer-healthcheck-timeout": {
    parse: int32,
    takes: "a number of seconds",
    unset: "`10`; `6`¹",
    meaning: "The timeout of a check.",
  },
  "aws-load-balancer-healthcheck-healthy-threshold": {
    parse: int32,
    takes: "a number",
    unset: "`3`; `2`¹",
    meaning: "Successes until a target counts as healthy.",
  },
  "aws-load-balancer-healthcheck-unhealthy-threshold": {
    parse: int32,
    takes: "a number",
    unset: "`3`; `2`¹",
    meaning: "Failures until a target counts as unhealthy.",
  },
  "aws-load-balancer-target-group-attributes": {
    parse: stringMap,
    takes: "`key=value` pairs separated by commas",
    unset: "`proxy_protocol_v2.enabled=false`; all others as they are",
    meaning: "Attributes of all target groups. Only the keys given are managed.",
  },
  "aws-load-balancer-proxy-protocol-per-target-group": {
    parse: ports,
    takes: "port numbers separated by commas",
    unset: "see `aws-load-balancer-proxy-protocol`",
    meaning: "The ports whose targets get the proxy protocol; all others do not.",
  },
  "aws-load-balancer-proxy-protocol": {
    parse: everywhere,
    takes: "`*`",
    unset: "no proxy protocol",
    meaning: "Proxy protocol for the targets of all ports.",
  },
  "aws-load-balancer-target-node-labels": {
    parse: stringMap,
    takes: "`key=value` pairs separated by commas",
    unset: "all eligible nodes",
    meaning: "Which nodes are registered, with `aws-load-balancer-nlb-target-type` instance.",
  },
} as const satisfies Readonly<Record<string, ParsingRow>>;

/** Annotations whose names end in a port: `<PROTOCOL>-<PORT>` of a listener, or the number of a port of the Service. */
export const familyTable = {
  "aws-load-balancer-listener-attributes.": {
    parse: stringMap,
    takes: "`key=value` pairs separated by commas",
    unset: "as they are",
    meaning: "Attributes of one listener: `aws-load-balancer-listener-attributes.TCP-80`. TLS listeners have none.",
  },
  "aws-load-balancer-target-group-attributes.": {
    parse: stringMap,
    takes: "`key=value` pairs separated by commas",
    unset: "those of all target groups",
    meaning: "Attributes of the target group of one port: `aws-load-balancer-target-group-attributes.80`.",
  },
  "actions.": {
    parse: typedAction as (given: string, about: Given) => TypedAction | Fault,
    takes: "JSON of a forward action",
    unset: "the Service's own endpoints",
    meaning: "The target groups that share the traffic of one listener, with their weights: `actions.TCP-80`.",
  },
} as const satisfies Readonly<Record<string, ParsingRow>>;

export const rowTable = { ...loadBalancerTable, ...listenerTable, ...targetGroupTable };

export type RowName = keyof typeof rowTable;
export type Family = keyof typeof familyTable;
