/**
 * The annotations of a Service of type LoadBalancer: one table for the parser, the validation and the reference page.
 * Everything is read before anything is done, and every fault is reported at once, with its key, value and remedy.
 */
import { nearest } from "../../runtime/nearest.ts";
import type { Problem } from "../model.ts";
import { type Kind, kindTable } from "./kinds.ts";
import { parseGoBool, parseInteger, parseKeyValues, parseList } from "./values.ts";

export const annotationPrefix = "service.beta.kubernetes.io/aws-load-balancer-";
export const sourceRangesAnnotation = "service.beta.kubernetes.io/load-balancer-source-ranges";

const both = ["classic", "network"] as const;
const classic = ["classic"] as const;
const network = ["network"] as const;

export interface AnnotationRow {
  readonly kinds: readonly Kind[];
  /** What is allowed, in words that fit behind "takes". */
  readonly takes: string;
  readonly unset: string;
  readonly meaning: string;
}

/** Every annotation, by the part of its key behind `service.beta.kubernetes.io/aws-load-balancer-`. */
export const annotationTable = {
  type: {
    kinds: both,
    takes:
      "`nlb` (network), `external` or `nlb-ip` (another controller's), `none` (target groups only); for any other value what stands is kept and nothing is made",
    unset: "classic",
    meaning: "The kind of load balancer. Fixed once an address is published, unless `type-change` allows the move.",
  },
  "type-change": {
    kinds: both,
    takes: "`replace`",
    unset: "a changed `type` is refused",
    meaning: "Lets a changed `type` replace the load balancer: the new one is made and published first, the old one drained and deleted.",
  },
  name: {
    kinds: both,
    takes: "1 to 32 letters, digits and inner hyphens, not starting with `internal-`; unique in the account and region",
    unset: "`a` and the Service's UID",
    meaning: "A name of your choice for a new load balancer.",
  },
  internal: {
    kinds: both,
    takes: "`true` or `false`",
    unset: "internet-facing",
    meaning: "Makes the load balancer internal. Any text but `false` does. Read when the load balancer is created.",
  },
  subnets: {
    kinds: both,
    takes: "subnet ids or values of the Name tag, separated by commas",
    unset: "discovered",
    meaning: "The subnets to use.",
  },
  "ssl-cert": {
    kinds: both,
    takes: "one certificate ARN (ACM or IAM)",
    unset: "no TLS",
    meaning: "The certificate of the ports in `ssl-ports`.",
  },
  "ssl-ports": {
    kinds: both,
    takes: "`*`, or port numbers and names separated by commas",
    unset: "all ports",
    meaning: "The ports that use the certificate.",
  },
  "ssl-negotiation-policy": {
    kinds: both,
    takes: "the name of an AWS security policy",
    unset: "AWS's default",
    meaning: "The TLS versions and ciphers of TLS listeners.",
  },
  "backend-protocol": {
    kinds: both,
    takes: "`http`, `https`, `ssl` or `tcp` (classic); `ssl` (network)",
    unset: "plain TCP behind the listener",
    meaning: "What is spoken to the nodes.",
  },
  "proxy-protocol": { kinds: classic, takes: "`*`", unset: "off", meaning: "Sends the PROXY protocol header to all ports." },
  "access-log-enabled": { kinds: both, takes: "`true` or `false`", unset: "`false`", meaning: "Writes access logs to S3." },
  "access-log-emit-interval": {
    kinds: classic,
    takes: "`5` or `60` (minutes)",
    unset: "AWS's default",
    meaning: "How often access logs are written.",
  },
  "access-log-s3-bucket-name": { kinds: both, takes: "a bucket name", unset: "none", meaning: "Where access logs go." },
  "access-log-s3-bucket-prefix": { kinds: both, takes: "a key prefix", unset: "none", meaning: "Where in the bucket access logs go." },
  "connection-draining-enabled": {
    kinds: classic,
    takes: "`true` or `false`",
    unset: "`false`",
    meaning: "Lets requests in flight finish when an instance leaves.",
  },
  "connection-draining-timeout": {
    kinds: classic,
    takes: "a number of seconds",
    unset: "AWS's default",
    meaning: "How long they may take.",
  },
  "connection-idle-timeout": { kinds: classic, takes: "a number of seconds", unset: "`60`", meaning: "When an idle connection is closed." },
  "cross-zone-load-balancing-enabled": {
    kinds: both,
    takes: "`true` or `false`",
    unset: "`false`",
    meaning: "Spreads traffic over the targets of all zones.",
  },
  "extra-security-groups": {
    kinds: classic,
    takes: "security group ids separated by commas",
    unset: "none",
    meaning: "Groups attached in addition.",
  },
  "security-groups": {
    kinds: both,
    takes: "security group ids separated by commas",
    unset: "a group is made",
    meaning:
      "Groups attached instead of a managed one; no rule is written to them. Network load balancers need `NLBSecurityGroupMode = Managed`.",
  },
  "additional-resource-tags": {
    kinds: both,
    takes: "`key=value` pairs separated by commas",
    unset: "none",
    meaning: "Tags on everything made for this Service.",
  },
  "target-node-labels": {
    kinds: both,
    takes: "`key=value` pairs separated by commas; an empty value means the key is there",
    unset: "all eligible nodes",
    meaning: "Which nodes are targets.",
  },
  "healthcheck-protocol": {
    kinds: both,
    takes: "`tcp`, `http` or `https` (classic also `ssl`)",
    unset: "see the health check section",
    meaning: "How targets are checked.",
  },
  "healthcheck-port": {
    kinds: both,
    takes: "`traffic-port` or a port number",
    unset: "the traffic port",
    meaning: "Where targets are checked.",
  },
  "healthcheck-path": { kinds: both, takes: "a path", unset: "`/`", meaning: "The path of HTTP and HTTPS checks." },
  "healthcheck-healthy-threshold": {
    kinds: both,
    takes: "a whole number",
    unset: "2 (classic), 3 (network; 2 with local traffic policy)",
    meaning: "Successes until a target counts as healthy.",
  },
  "healthcheck-unhealthy-threshold": {
    kinds: both,
    takes: "a whole number",
    unset: "6 (classic), 3 (network; 2 with local traffic policy)",
    meaning: "Failures until a target counts as unhealthy.",
  },
  "healthcheck-interval": {
    kinds: both,
    takes: "a number of seconds",
    unset: "10 (classic), 30 (network; 10 with local traffic policy)",
    meaning: "Time between checks.",
  },
  "healthcheck-timeout": {
    kinds: both,
    takes: "a number of seconds",
    unset: "5 (classic), AWS's default (network)",
    meaning: "When a check has failed.",
  },
  "eip-allocations": {
    kinds: network,
    takes: "allocation ids separated by commas, one a subnet, in the order of the subnets",
    unset: "AWS's addresses",
    meaning: "Elastic IPs of the load balancer.",
  },
  "private-ipv4-addresses": {
    kinds: network,
    takes: "addresses separated by commas, one a subnet, in the order of the subnets",
    unset: "AWS's addresses",
    meaning: "Private addresses of an internal load balancer.",
  },
  "target-group-attributes": {
    kinds: network,
    takes: "`preserve_client_ip.enabled` and `proxy_protocol_v2.enabled`, each `=true` or `=false`",
    unset: "AWS's defaults",
    meaning: "Attributes of the target groups.",
  },
} as const satisfies Readonly<Record<string, AnnotationRow>>;

export type AnnotationName = keyof typeof annotationTable;

/** Known to users from another controller: no typo of ours, and none of our business. */
const elsewhere = new Set([
  "alpn-policy",
  "ip-address-type",
  "scheme",
  "nlb-target-type",
  "attributes",
  "manage-backend-security-group-rules",
  "healthcheck-success-codes",
  "ipv6-addresses",
]);

export const annotationKey = (name: AnnotationName) => annotationPrefix + name;

export interface HealthCheckOptions {
  readonly protocol?: string;
  /** `traffic-port`, or a number as text; checked by the kind that uses it. */
  readonly port?: string;
  readonly path?: string;
  readonly healthyThreshold?: number;
  readonly unhealthyThreshold?: number;
  readonly interval?: number;
  readonly timeout?: number;
}

export interface ServiceOptions {
  readonly name?: string;
  readonly replaceOnTypeChange: boolean;
  readonly internal: boolean;
  /** Undefined: discover. */
  readonly subnets?: readonly string[];
  readonly certificate?: string;
  readonly sslPorts: "all" | ReadonlySet<string>;
  /** Undefined: not annotated. Empty text is a value of its own for classic load balancers. */
  readonly sslPolicy?: string;
  readonly backendProtocol?: string;
  readonly proxyProtocol: boolean;
  readonly accessLog: { readonly enabled: boolean; readonly emitInterval?: number; readonly bucket?: string; readonly prefix?: string };
  readonly connectionDraining: { readonly enabled: boolean; readonly timeout?: number };
  readonly idleTimeout: number;
  readonly crossZone: boolean;
  readonly extraSecurityGroups: readonly string[];
  readonly securityGroups: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  readonly targetNodeLabels: Readonly<Record<string, string>>;
  readonly healthCheck: HealthCheckOptions;
  readonly eipAllocations?: readonly string[];
  readonly privateIpv4Addresses?: readonly string[];
  readonly targetGroupAttributes?: Readonly<Record<string, string>>;
}

export interface ReadOptions {
  readonly options: ServiceOptions;
  /** Stop the reconcile of this Service. */
  readonly problems: readonly Problem[];
  /** Worth an Event, no reason to stop. */
  readonly warnings: readonly Problem[];
}

/** Everything a Service says by annotation about the load balancer of the given kind. */
export function readOptions(annotations: Readonly<Record<string, string>>, kind: Kind): ReadOptions {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const value = (name: AnnotationName): string | undefined =>
    (annotationTable[name].kinds as readonly Kind[]).includes(kind) ? annotations[annotationKey(name)] : undefined;
  const { keepsEmpty, badNumber, refuses } = kindTable[kind];
  const text = (name: AnnotationName) => (keepsEmpty.includes(name) ? value(name) : value(name) || undefined);
  const refuse = (name: AnnotationName, message: string) => problems.push({ annotation: annotationKey(name), message });

  const flag = (name: AnnotationName): boolean => {
    const given = text(name);
    const parsed = given === undefined ? false : parseGoBool(given);
    if (parsed === undefined)
      refuse(name, `error parsing service annotation: ${annotationKey(name)}=${given} (takes ${annotationTable[name].takes})`);
    return parsed ?? false;
  };
  const int32 = (name: AnnotationName): number | undefined => {
    const given = text(name);
    const parsed = given === undefined ? undefined : parseInteger(given);
    if (given !== undefined && (parsed === undefined || Math.abs(parsed) > 2 ** 31 - 1)) {
      refuse(name, `error parsing service annotation: ${annotationKey(name)}=${given} (takes ${annotationTable[name].takes})`);
    }
    return parsed;
  };
  const threshold = (name: AnnotationName): number | undefined => {
    const given = value(name);
    if (given === undefined) return undefined;
    const parsed = parseInteger(given);
    if (parsed === undefined) {
      refuse(name, `${badNumber} ${annotationKey(name)}=${given} (takes ${annotationTable[name].takes})`);
    }
    return parsed;
  };

  const proxy = text("proxy-protocol");
  if (proxy !== undefined && proxy !== "*") {
    refuse(
      "proxy-protocol",
      `annotation "${annotationKey("proxy-protocol")}"="${proxy}" detected, but the only value supported currently is '*'`,
    );
  }
  const subnets = value("subnets");
  if (subnets !== undefined && parseList(subnets).length === 0) refuse("subnets", "unable to resolve empty subnet slice");
  for (const name of Object.keys(refuses) as (keyof typeof refuses)[]) {
    if (annotations[annotationKey(name)] !== undefined) refuse(name, refuses[name]!(annotationKey(name)));
  }
  const attributes = value("target-group-attributes");
  const targetGroupAttributes = attributes === undefined ? undefined : parseKeyValues(attributes);
  for (const message of targetGroupAttributeFaults(targetGroupAttributes ?? {})) refuse("target-group-attributes", message);
  const name = text("name");
  if (name !== undefined && !(/^[a-zA-Z0-9]([a-zA-Z0-9-]{0,30}[a-zA-Z0-9])?$/.test(name) && !name.startsWith("internal-"))) {
    refuse("name", `annotation ${annotationKey("name")}=${JSON.stringify(name)} is not valid: it takes ${annotationTable.name.takes}`);
  }
  const typeChange = text("type-change");
  if (typeChange !== undefined && typeChange !== "replace") {
    refuse(
      "type-change",
      `annotation ${annotationKey("type-change")}=${JSON.stringify(typeChange)} is not valid: it takes ${annotationTable["type-change"].takes}`,
    );
  }
  const internal = text("internal");
  if (internal !== undefined && internal !== "true" && internal !== "false") {
    warnings.push({
      annotation: annotationKey("internal"),
      message: `${annotationKey("internal")}=${JSON.stringify(internal)} is taken as internal: write "true", or "false" for internet-facing`,
    });
  }
  warnings.push(...unknownAnnotations(annotations));

  const sslPorts = text("ssl-ports");
  const list = (name: AnnotationName) => parseList(value(name) ?? "");
  const optionalList = (name: AnnotationName) =>
    value(name)
      ?.split(",")
      .map((entry) => entry.trim());
  return {
    problems,
    warnings,
    options: {
      name,
      replaceOnTypeChange: typeChange === "replace",
      internal: internal !== undefined && internal !== "false",
      subnets: subnets === undefined ? undefined : parseList(subnets),
      certificate: text("ssl-cert"),
      sslPorts: sslPorts === undefined || sslPorts === "*" ? "all" : new Set(sslPorts.split(",")),
      sslPolicy: text("ssl-negotiation-policy"),
      backendProtocol: text("backend-protocol"),
      proxyProtocol: proxy === "*",
      accessLog: {
        enabled: flag("access-log-enabled"),
        emitInterval: int32("access-log-emit-interval"),
        bucket: text("access-log-s3-bucket-name"),
        prefix: text("access-log-s3-bucket-prefix"),
      },
      connectionDraining: { enabled: flag("connection-draining-enabled"), timeout: int32("connection-draining-timeout") },
      idleTimeout: int32("connection-idle-timeout") ?? 60,
      crossZone: flag("cross-zone-load-balancing-enabled"),
      extraSecurityGroups: list("extra-security-groups"),
      securityGroups: list("security-groups"),
      tags: parseKeyValues(value("additional-resource-tags") ?? ""),
      targetNodeLabels: parseKeyValues(value("target-node-labels") ?? ""),
      healthCheck: {
        protocol: value("healthcheck-protocol"),
        port: value("healthcheck-port"),
        path: text("healthcheck-path"),
        healthyThreshold: threshold("healthcheck-healthy-threshold"),
        unhealthyThreshold: threshold("healthcheck-unhealthy-threshold"),
        interval: threshold("healthcheck-interval"),
        timeout: threshold("healthcheck-timeout"),
      },
      eipAllocations: optionalList("eip-allocations"),
      privateIpv4Addresses: optionalList("private-ipv4-addresses"),
      targetGroupAttributes,
    },
  };
}

const targetGroupAttributeKeys = ["preserve_client_ip.enabled", "proxy_protocol_v2.enabled"];

function targetGroupAttributeFaults(attributes: Readonly<Record<string, string>>): string[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    const fault = targetGroupAttributeFault(key, value);
    return fault ? [`error validating target group attributes: ${fault}`] : [];
  });
}

function targetGroupAttributeFault(key: string, value: string): string | undefined {
  if (value === "") return `attribute value is empty for "${key}"`;
  if (!targetGroupAttributeKeys.includes(key)) {
    return `the attribute "${key}" is not supported by the controller or is invalid (supported: ${targetGroupAttributeKeys.join(", ")})`;
  }
  return value === "true" || value === "false" ? undefined : `invalid attribute value for "${key}": ${value} (takes true or false)`;
}

/** Keys that look like ours and are not: a typo would otherwise be silence. */
function unknownAnnotations(annotations: Readonly<Record<string, string>>): Problem[] {
  const known = Object.keys(annotationTable);
  return Object.keys(annotations).flatMap((key) => {
    const name = key.startsWith(annotationPrefix) ? key.slice(annotationPrefix.length) : undefined;
    if (name === undefined || known.includes(name) || elsewhere.has(name)) return [];
    const meant = nearest(name, known);
    return [
      {
        annotation: key,
        message: `annotation ${key} is not known and has no effect${meant ? `: did you mean ${annotationPrefix}${meant}?` : ""}`,
      },
    ];
  });
}
