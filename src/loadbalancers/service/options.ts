/**
 * What a Service says by annotation about its load balancer. Everything is read before anything is done, and every fault is
 * reported at once, with its key, value and remedy.
 */
import { readRows, unknownKeys } from "../annotation-rows.ts";
import type { Problem } from "../model.ts";
import { type AnnotationName, type AnnotationRow, annotationKey, annotationPrefix, annotationTable } from "./annotations.ts";
import { type Kind, kindTable } from "./kinds.ts";

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

/** Everything a Service says by annotation about the load balancer of the given kind. */
export function readOptions(annotations: Readonly<Record<string, string>>, kind: Kind): ReadOptions {
  const { keepsEmpty, badNumber, refuses } = kindTable[kind];
  const textOf = (name: AnnotationName): string | undefined => {
    const row: AnnotationRow = annotationTable[name];
    if (!row.kinds.includes(kind)) return undefined;
    const given = annotations[annotationKey(name)];
    return given === "" && !row.keepsEmpty && !keepsEmpty.includes(name) ? undefined : given;
  };
  const { values, problems } = readRows(annotationTable, annotationKey, textOf, { badNumber });
  const refused = (Object.keys(refuses) as (keyof typeof refuses)[]).filter((name) => annotations[annotationKey(name)] !== undefined);
  return {
    problems: [...refused.map((name) => ({ annotation: annotationKey(name), message: refuses[name]!(annotationKey(name)) })), ...problems],
    warnings: [
      ...oddInternal(textOf("internal")),
      ...unknownKeys(annotations, annotationPrefix, Object.keys(annotationTable), (name) => elsewhere.has(name)),
    ],
    options: {
      name: values.name,
      replaceOnTypeChange: values["type-change"] === "replace",
      internal: values.internal ?? false,
      subnets: values.subnets,
      certificate: values["ssl-cert"],
      sslPorts: values["ssl-ports"] ?? "all",
      sslPolicy: values["ssl-negotiation-policy"],
      backendProtocol: values["backend-protocol"],
      proxyProtocol: values["proxy-protocol"] ?? false,
      accessLog: {
        enabled: values["access-log-enabled"] ?? false,
        emitInterval: values["access-log-emit-interval"],
        bucket: values["access-log-s3-bucket-name"],
        prefix: values["access-log-s3-bucket-prefix"],
      },
      connectionDraining: { enabled: values["connection-draining-enabled"] ?? false, timeout: values["connection-draining-timeout"] },
      idleTimeout: values["connection-idle-timeout"] ?? 60,
      crossZone: values["cross-zone-load-balancing-enabled"] ?? false,
      extraSecurityGroups: values["extra-security-groups"] ?? [],
      securityGroups: values["security-groups"] ?? [],
      tags: values["additional-resource-tags"] ?? {},
      targetNodeLabels: values["target-node-labels"] ?? {},
      healthCheck: {
        protocol: values["healthcheck-protocol"],
        port: values["healthcheck-port"],
        path: values["healthcheck-path"],
        healthyThreshold: values["healthcheck-healthy-threshold"],
        unhealthyThreshold: values["healthcheck-unhealthy-threshold"],
        interval: values["healthcheck-interval"],
        timeout: values["healthcheck-timeout"],
      },
      eipAllocations: values["eip-allocations"],
      privateIpv4Addresses: values["private-ipv4-addresses"],
      targetGroupAttributes: values["target-group-attributes"],
    },
  };
}

/** Any text but `false` has always meant internal, also one that was meant to say no. */
function oddInternal(given: string | undefined): Problem[] {
  if (given === undefined || given === "true" || given === "false") return [];
  const key = annotationKey("internal");
  const message = `${key}=${JSON.stringify(given)} is treated as internal: write "true", or "false" for internet-facing`;
  return [{ annotation: key, message }];
}
