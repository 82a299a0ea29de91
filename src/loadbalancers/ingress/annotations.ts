/**
 * The annotations of an Ingress: one table for the parser, the check for typos and the reference page. How the values of
 * several Ingresses that share a load balancer come together is a column.
 */
import { type ParsingRow, unknownKeys } from "../annotation-rows.ts";
import type { Problem } from "../model.ts";
import {
  bool,
  capacityUnits,
  cidrs,
  int32,
  int64,
  list,
  loadBalancerName,
  nonEmpty,
  oneOf,
  softBool,
  stringMap,
  text,
} from "../parsers.ts";
import { frontendTable } from "./frontend-annotations.ts";
import { listenPorts, mutualTls } from "./listen-ports.ts";
import { action, cognito, conditions, jwt, oidc, transforms } from "./routing-json.ts";

export const annotationPrefix = "alb.ingress.kubernetes.io/";
export const classAnnotation = "kubernetes.io/ingress.class";

/**
 * `agree`: all members that say something must say the same. `per-port`: those that listen on one port must. `per-key`: for one
 * key of a map all must. `union`: taken together. `own`: of this Ingress alone. `group`: what makes the group.
 */
export type Merge = "agree" | "per-port" | "per-key" | "union" | "own" | "group";

export interface IngressRow extends ParsingRow {
  readonly merge: Merge;
  /** Whether a Service's annotation of this name goes before the Ingress's. */
  readonly onService?: true;
}

const schemes = ["internal", "internet-facing"] as const;
const addressTypes = ["ipv4", "dualstack", "dualstack-without-public-ipv4"] as const;
const healthProtocol = oneOf(["HTTP", "HTTPS"], () => "healthCheckProtocol must be within [HTTP, HTTPS]");

/** What concerns the load balancer and its listeners, read once for each Ingress. */
export const ingressTable = {
  "group.name": {
    merge: "group",
    parse: text,
    takes: "lower-case letters, digits, `-` and `.`, at most 63",
    unset: "the Ingress has a load balancer of its own",
    meaning: "Ingresses of one group share a load balancer, in the whole cluster.",
  },
  "group.order": {
    merge: "group",
    parse: int32,
    takes: "a number from -1000 to 1000",
    unset: "`0`",
    meaning: "The order of the Ingress's rules in its group; ties are ordered by namespace and name.",
  },
  "load-balancer-name": {
    merge: "agree",
    parse: loadBalancerName,
    takes: "a name of at most 32 characters",
    unset: "a name from the group and a hash",
    meaning: "The name of a new load balancer.",
  },
  scheme: {
    merge: "agree",
    parse: oneOf(schemes, (given) => `unknown scheme: ${given}`),
    takes: "`internal` or `internet-facing`",
    unset: "`--default-load-balancer-scheme`",
    meaning: "Whether the load balancer has public addresses.",
  },
  "ip-address-type": {
    merge: "agree",
    parse: oneOf(addressTypes, (given) => `unknown IPAddressType: ${given}`),
    takes: "`ipv4`, `dualstack` or `dualstack-without-public-ipv4`",
    unset: "`ipv4`",
    meaning: "The families of its addresses.",
  },
  subnets: {
    merge: "agree",
    parse: list,
    takes: "subnet ids or values of the Name tag, separated by commas",
    unset: "discovered",
    meaning: "The subnets to use.",
  },
  "subnet-discovery": {
    merge: "agree",
    parse: oneOf(["once", "always"], (given) => `subnet-discovery must be once or always, not ${given}`),
    takes: "`once` or `always`",
    unset: "`once`",
    meaning:
      "Where no subnets are named: discover them when the load balancer is created, or at every look, so that it follows zones and subnets that come and go. Of Fairlead alone.",
  },
  "customer-owned-ipv4-pool": {
    merge: "agree",
    parse: text,
    takes: "the id of a pool",
    unset: "none",
    meaning: "Customer-owned addresses on an Outpost. Read when the load balancer is created.",
  },
  "ipam-ipv4-pool-id": {
    merge: "agree",
    parse: nonEmpty,
    takes: "the id of a pool",
    unset: "AWS's addresses",
    meaning: "The IPAM pool of its public addresses.",
  },
  "load-balancer-attributes": {
    merge: "per-key",
    parse: stringMap,
    takes: "`key=value` pairs separated by commas",
    unset: "as they are",
    meaning: "Attributes of the load balancer. Only the keys given are managed.",
  },
  "minimum-load-balancer-capacity": {
    merge: "agree",
    parse: capacityUnits,
    takes: "`CapacityUnits=` and a number; `0` cancels the reservation",
    unset: "as it is",
    meaning: "Capacity that is reserved.",
  },
  "security-groups": {
    merge: "agree",
    parse: list,
    takes: "security group ids or values of the Name tag, separated by commas",
    unset: "a group is created",
    meaning: "Groups attached instead of a managed one.",
  },
  "manage-backend-security-group-rules": {
    merge: "agree",
    parse: bool,
    takes: "`true` or `false`",
    unset: "`--enable-manage-backend-security-group-rules`",
    meaning: "With `security-groups`: whether targets are opened for the load balancer.",
  },
  "inbound-cidrs": {
    merge: "per-port",
    parse: cidrs,
    takes: "CIDR blocks separated by commas",
    unset: "everybody",
    meaning: "Who may reach the listeners.",
  },
  "security-group-prefix-lists": {
    merge: "per-port",
    parse: list,
    takes: "ids of prefix lists separated by commas",
    unset: "none",
    meaning: "Who may reach the listeners, by prefix list.",
  },
  tags: {
    merge: "per-key",
    parse: stringMap,
    onService: true,
    takes: "`key=value` pairs separated by commas",
    unset: "none",
    meaning: "Tags on everything created for the Ingress; of a Service, on its target groups.",
  },
  "wafv2-acl-arn": {
    merge: "agree",
    parse: nonEmpty,
    takes: "an ARN, or `none`",
    unset: "as it is",
    meaning: "The web ACL of WAF in front.",
  },
  "wafv2-acl-name": {
    merge: "agree",
    parse: nonEmpty,
    takes: "a name, or `none`",
    unset: "as it is",
    meaning: "The same by its name; takes precedence over the ARN.",
  },
  "wafv2-acl-association": {
    merge: "agree",
    parse: oneOf(["always", "if-none"], (given) => `wafv2-acl-association must be always or if-none, not ${given}`),
    takes: "`always` or `if-none`",
    unset: "`always`",
    meaning:
      "Whether the web ACL takes the place of another that is in front already, or leaves it there, whoever put it: Firewall Manager, for one. Of Fairlead alone.",
  },
  "waf-acl-id": {
    merge: "agree",
    parse: nonEmpty,
    takes: "an id, or `none`",
    unset: "as it is",
    meaning: "The web ACL of WAF Classic in front.",
  },
  "web-acl-id": {
    merge: "agree",
    parse: nonEmpty,
    takes: "an id, or `none`",
    unset: "as it is",
    meaning: "The same, in its old spelling.",
  },
  "shield-advanced-protection": {
    merge: "agree",
    parse: bool,
    takes: "`true` or `false`",
    unset: "as it is",
    meaning: "Whether Shield Advanced protects the load balancer.",
  },
  "listen-ports": {
    merge: "union",
    parse: listenPorts,
    takes: '`[{"HTTP": 80}, {"HTTPS": 443}]`',
    unset: "HTTPS:443 with a certificate, else HTTP:80",
    meaning: "The ports on which the Ingress's rules apply.",
  },
  "ssl-redirect": {
    merge: "agree",
    parse: int32,
    takes: "a port of an HTTPS listener",
    unset: "none",
    meaning: "All HTTP listeners of the group redirect there.",
  },
  "certificate-arn": {
    merge: "union",
    parse: list,
    takes: "certificate ARNs separated by commas",
    unset: "found by the Ingress's host names",
    meaning: "The certificates of HTTPS listeners; the first of the group is the default one.",
  },
  "ssl-policy": {
    merge: "per-port",
    parse: nonEmpty,
    takes: "the name of an AWS security policy",
    unset: "`--default-ssl-policy`",
    meaning: "The TLS versions and ciphers of HTTPS listeners.",
  },
  "mutual-authentication": {
    merge: "per-port",
    parse: mutualTls,
    takes: '`[{"port": 443, "mode": "verify", "trustStore": "name"}]`',
    unset: "as it is",
    meaning: "Whether clients must present certificates, and which are accepted.",
  },
  "create-acm-cert": {
    merge: "own",
    parse: softBool,
    takes: "`true` or `false`",
    unset: "`false`",
    meaning: "Requests a certificate for the Ingress's host names.",
  },
  "acm-pca-arn": {
    merge: "own",
    parse: nonEmpty,
    takes: "an ARN",
    unset: "`--default-pca-arn`",
    meaning: "The private authority that issues it.",
  },
  "use-regex-path-match": {
    merge: "own",
    parse: bool,
    takes: "`true` or `false`",
    unset: "`false`",
    meaning: "Takes ImplementationSpecific paths for regular expressions.",
  },
  "jwt-validation": {
    merge: "own",
    parse: jwt,
    takes: "JSON with `jwksEndpoint`, `issuer` and `additionalClaims`",
    unset: "none",
    meaning: "Requests need a valid token. HTTPS listeners only.",
  },
} as const satisfies Readonly<Record<string, IngressRow>>;

/** Every annotation about the load balancer and its listeners, and the one in front. */
export const memberTable = { ...ingressTable, ...frontendTable } as const;

const ownOf = { merge: "own", onService: true } as const;

/** What concerns one backend: a Service's own annotations go before those of its Ingress. */
export const backendTable = {
  "target-type": {
    ...ownOf,
    parse: oneOf(["instance", "ip"], (given) => `unknown targetType: ${given}`),
    takes: "`instance` or `ip`",
    unset: "`--default-target-type`",
    meaning: "Whether nodes or pods are registered.",
  },
  "backend-protocol": {
    ...ownOf,
    parse: oneOf(["HTTP", "HTTPS"], (given) => `backend protocol must be within [HTTP, HTTPS]: ${given}`),
    takes: "`HTTP` or `HTTPS`",
    unset: "`HTTP`",
    meaning: "The protocol towards the targets.",
  },
  "backend-protocol-version": {
    ...ownOf,
    parse: oneOf(["HTTP1", "HTTP2", "GRPC"], (given) => `backend protocol version must be within [HTTP1, HTTP2, GRPC]: ${given}`),
    takes: "`HTTP1`, `HTTP2` or `GRPC`",
    unset: "`HTTP1`",
    meaning: "The version of that protocol.",
  },
  "target-group-attributes": {
    ...ownOf,
    parse: stringMap,
    takes: "`key=value` pairs separated by commas",
    unset: "as they are",
    meaning: "Attributes of target groups. Only the keys given are managed.",
  },
  "healthcheck-port": {
    ...ownOf,
    parse: text,
    takes: "`traffic-port`, a number, or the name of a port of the Service",
    unset: "`traffic-port`",
    meaning: "The port of the health check.",
  },
  "healthcheck-protocol": {
    ...ownOf,
    parse: healthProtocol,
    takes: "`HTTP` or `HTTPS`",
    unset: "as `backend-protocol`",
    meaning: "The protocol of the health check.",
  },
  "healthcheck-path": {
    ...ownOf,
    parse: text,
    takes: "a path",
    unset: "`/`; `/AWS.ALB/healthcheck` with gRPC",
    meaning: "The path of the health check.",
  },
  "healthcheck-interval-seconds": { ...ownOf, parse: int32, takes: "a number of seconds", unset: "`15`", meaning: "Time between checks." },
  "healthcheck-timeout-seconds": {
    ...ownOf,
    parse: int32,
    takes: "a number of seconds",
    unset: "`5`",
    meaning: "The timeout of a check.",
  },
  "healthy-threshold-count": {
    ...ownOf,
    parse: int32,
    takes: "a number",
    unset: "`2`",
    meaning: "Successes until a target counts as healthy.",
  },
  "unhealthy-threshold-count": {
    ...ownOf,
    parse: int32,
    takes: "a number",
    unset: "`2`",
    meaning: "Failures until a target counts as unhealthy.",
  },
  "success-codes": {
    ...ownOf,
    parse: text,
    takes: "codes such as `200,201` or `200-299`",
    unset: "`200`; `12` with gRPC",
    meaning: "Codes of a healthy answer.",
  },
  "target-node-labels": {
    ...ownOf,
    parse: stringMap,
    takes: "`key=value` pairs separated by commas",
    unset: "all eligible nodes",
    meaning: "Which nodes are registered, with `target-type` instance.",
  },
  "multi-cluster-target-group": {
    ...ownOf,
    parse: bool,
    takes: "`true` or `false`",
    unset: "`false`",
    meaning: "Whether other clusters register targets too.",
  },
} as const satisfies Readonly<Record<string, IngressRow>>;

/** Log-ins; of a Service, where a rule forwards to it alone. */
export const authTable = {
  "auth-type": {
    ...ownOf,
    parse: oneOf(["none", "cognito", "oidc"], (given) => `unknown authType: ${given}`),
    takes: "`none`, `cognito` or `oidc`",
    unset: "`none`",
    meaning: "How users log in. HTTPS listeners only.",
  },
  "auth-idp-cognito": {
    ...ownOf,
    parse: cognito,
    takes: "JSON with `userPoolARN`, `userPoolClientID` and `userPoolDomain`",
    unset: "none",
    meaning: "The Cognito user pool.",
  },
  "auth-idp-oidc": {
    ...ownOf,
    parse: oidc,
    takes: "JSON with `issuer`, the endpoints and `secretName`",
    unset: "none",
    meaning: "The OpenID Connect provider.",
  },
  "auth-on-unauthenticated-request": {
    ...ownOf,
    parse: text,
    takes: "`authenticate`, `allow` or `deny`",
    unset: "`authenticate`",
    meaning: "What happens to requests without a log-in.",
  },
  "auth-scope": {
    ...ownOf,
    parse: text,
    takes: "scopes separated by blanks",
    unset: "`openid`",
    meaning: "The scopes that are requested from the provider.",
  },
  "auth-session-cookie": {
    ...ownOf,
    parse: text,
    takes: "a name",
    unset: "`AWSELBAuthSessionCookie`",
    meaning: "The cookie of a session.",
  },
  "auth-session-timeout": { ...ownOf, parse: int64, takes: "a number of seconds", unset: "`604800`", meaning: "How long a session lasts." },
} as const satisfies Readonly<Record<string, IngressRow>>;

/** Annotations whose names end in something of the user's: `actions.<name>`. */
export const familyTable = {
  "actions.": {
    merge: "own",
    parse: action,
    takes: "JSON of an action",
    unset: "the backend answers 503",
    meaning: "What a backend with port name `use-annotation` and this service name does.",
  },
  "conditions.": {
    merge: "own",
    parse: conditions,
    takes: "JSON list of conditions",
    unset: "none",
    meaning: "Further conditions of the rules of this backend.",
  },
  "transforms.": {
    merge: "own",
    parse: transforms,
    takes: "JSON list of transforms",
    unset: "none",
    meaning: "How requests to this backend are rewritten.",
  },
  "listener-attributes.": {
    merge: "per-key",
    parse: stringMap,
    takes: "`key=value` pairs separated by commas",
    unset: "as they are",
    meaning: "Attributes of the listener of this protocol and port: `listener-attributes.HTTPS-443`.",
  },
  "target-control-port.": {
    merge: "own",
    parse: int32,
    takes: "a port number",
    unset: "none",
    meaning:
      "The port on which the targets of this Service and port report how many requests they can take: `target-control-port.web.http`.",
  },
} as const satisfies Readonly<Record<string, IngressRow>>;

export type Family = keyof typeof familyTable;

/** Written by the controller itself, or read by others. */
const elsewhere = ["dry-run-plan"];

export const annotationKey = (name: keyof typeof memberTable | keyof typeof backendTable | keyof typeof authTable) =>
  annotationPrefix + name;

/** Annotations that their author relies on in vain, because a gate is closed. */
export function gatedAnnotations(
  annotations: Readonly<Record<string, string>>,
  { certificateManagement }: { readonly certificateManagement: boolean },
): Problem[] {
  const names = certificateManagement ? [] : (["create-acm-cert", "acm-pca-arn"] as const);
  return names.flatMap((name) => {
    const annotation = annotationPrefix + name;
    const message = `annotation ${annotation} has no effect while the feature gate EnableCertificateManagement is off`;
    return annotations[annotation] === undefined ? [] : [{ annotation, message }];
  });
}

/** Keys that look like ours and are none. */
export function unknownAnnotations(annotations: Readonly<Record<string, string>>): Problem[] {
  const known = [memberTable, backendTable, authTable].flatMap((table) => Object.keys(table));
  const isOther = (name: string) => elsewhere.includes(name) || Object.keys(familyTable).some((family) => name.startsWith(family));
  return unknownKeys(annotations, annotationPrefix, known, isOther);
}
