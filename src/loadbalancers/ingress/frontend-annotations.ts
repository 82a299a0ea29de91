/** Annotations about a network load balancer in front of the group's own: rows of the one table of annotations. */
import { Fault, type Given } from "../annotation-rows.ts";
import { bool, int32, list, oneOf, stringMap, text } from "../parsers.ts";
import { parseInteger } from "../values.ts";
import type { IngressRow } from "./annotations.ts";

const agree = { merge: "agree" } as const;
const perPort = { merge: "per-port" } as const;

/** Ports of the application load balancer by ports of the one in front. Empty counts as unset. */
function portMapping(given: string, about: Given): ReadonlyMap<number, number> | undefined | Fault {
  const pairs = stringMap(given, about);
  if (pairs instanceof Fault) return pairs;
  const ports = new Map<number, number>();
  for (const [front, behind] of Object.entries(pairs)) {
    const [nlb, alb] = [parseInteger(front), parseInteger(behind)];
    if (nlb === undefined) return new Fault(`invalid NLB listener port: ${front}`);
    if (alb === undefined) return new Fault(`invalid ALB listener port: ${behind}`);
    ports.set(nlb, alb);
  }
  return ports.size > 0 ? ports : undefined;
}

const routingPolicy = "dns_record.client_routing_policy";
const routingPolicies = ["any_availability_zone", "partial_availability_zone_affinity", "availability_zone_affinity"];

function attributes(given: string, about: Given): Readonly<Record<string, string>> | Fault {
  const pairs = stringMap(given, about);
  if (pairs instanceof Fault) return pairs;
  const policy = pairs[routingPolicy];
  if (policy === undefined || routingPolicies.includes(policy)) return pairs;
  const allowed = routingPolicies.map((each) => `'${each}'`).join(", ");
  return new Fault(`invalid ${routingPolicy} set in annotation ${about.key}: got '${policy}' expected one of [${allowed}]`);
}

function healthPort(given: string): string | Fault {
  return given === "traffic-port" || parseInteger(given) !== undefined ? given : new Fault(`failed to resolve healthCheckPort: ${given}`);
}

export const frontendTable = {
  "enable-frontend-nlb": {
    ...agree,
    parse: bool,
    takes: "`true` or `false`",
    unset: "`false`",
    meaning: "Puts a network load balancer in front, for fixed addresses or PrivateLink.",
  },
  "frontend-nlb-scheme": {
    ...agree,
    parse: oneOf(["internal", "internet-facing"], (given) => `unknown scheme: ${given}`),
    takes: "`internal` or `internet-facing`",
    unset: "that of the load balancer behind it",
    meaning: "Whether the one in front has public addresses.",
  },
  "frontend-nlb-subnets": {
    ...agree,
    parse: list,
    takes: "subnet ids or values of the Name tag, separated by commas",
    unset: "discovered",
    meaning: "The subnets of the one in front.",
  },
  "frontend-nlb-eip-allocations": {
    ...agree,
    parse: list,
    takes: "allocation ids separated by commas, one per subnet",
    unset: "AWS's addresses",
    meaning: "Elastic IP addresses of the one in front.",
  },
  "frontend-nlb-security-groups": {
    ...agree,
    parse: list,
    takes: "security group ids or values of the Name tag, separated by commas",
    unset: "those of the load balancer behind it",
    meaning: "The security groups of the one in front.",
  },
  "frontend-nlb-listener-port-mapping": {
    merge: "union",
    parse: portMapping,
    takes: "`port in front=port behind` pairs separated by commas",
    unset: "every port of the Ingress, as it is",
    meaning: "The ports of the one in front.",
  },
  "frontend-nlb-attributes": {
    ...agree,
    parse: attributes,
    takes: "`key=value` pairs separated by commas",
    unset: "as they are",
    meaning: "Attributes of the one in front. Only the keys given are managed.",
  },
  "frontend-nlb-tags": {
    ...agree,
    parse: stringMap,
    takes: "`key=value` pairs separated by commas",
    unset: "those of the load balancer behind it",
    meaning: "Tags of the one in front, its listeners and target groups.",
  },
  "frontend-nlb-healthcheck-port": {
    ...perPort,
    parse: healthPort,
    takes: "`traffic-port` or a number",
    unset: "`traffic-port`",
    meaning: "Where the one in front checks the one behind.",
  },
  "frontend-nlb-healthcheck-protocol": {
    ...perPort,
    parse: oneOf(["HTTP", "HTTPS"], () => "healthCheckProtocol must be within [HTTP, HTTPS]"),
    takes: "`HTTP` or `HTTPS`",
    unset: "`HTTP`",
    meaning: "How it is checked.",
  },
  "frontend-nlb-healthcheck-path": { ...perPort, parse: text, takes: "a path", unset: "`/`", meaning: "The path of the health check." },
  "frontend-nlb-healthcheck-interval-seconds": {
    ...perPort,
    parse: int32,
    takes: "a number of seconds",
    unset: "`15`",
    meaning: "Time between checks.",
  },
  "frontend-nlb-healthcheck-timeout-seconds": {
    ...perPort,
    parse: int32,
    takes: "a number of seconds",
    unset: "`5`",
    meaning: "The timeout of a check.",
  },
  "frontend-nlb-healthcheck-healthy-threshold-count": {
    ...perPort,
    parse: int32,
    takes: "a number",
    unset: "`2`",
    meaning: "Successes until it counts as healthy.",
  },
  "frontend-nlb-healthcheck-unhealthy-threshold-count": {
    ...perPort,
    parse: int32,
    takes: "a number",
    unset: "`2`",
    meaning: "Failures until it counts as unhealthy.",
  },
  "frontend-nlb-healthcheck-success-codes": {
    ...perPort,
    parse: text,
    takes: "codes such as `200,201` or `200-299`",
    unset: "`200`",
    meaning: "Codes of a healthy answer.",
  },
} as const satisfies Readonly<Record<string, IngressRow>>;
