/** Ingresses over the whole table of annotations, and the bindings of a user, as both controllers are given them. */
import type { Ingress } from "../../src/kube/types.ts";
import type { BindingSpec } from "../../src/loadbalancers/targets/binding.ts";
import { keyed, type Rules, rulesOf } from "../bed/ingress-world.ts";

/** What Ingresses name and somebody else has made. */
export interface Given {
  readonly namespace: string;
  readonly vpc: string;
  readonly subnets: readonly string[];
  readonly publicSubnets: readonly string[];
  readonly subnetNames: readonly string[];
  readonly securityGroup: string;
  /** Of another security group: what its tag `Name` says. */
  readonly securityGroupName: string;
  readonly prefixList: string;
  /** ARNs; the first is for `shop.example.com`, the second for others. */
  readonly certificates: readonly [string, string];
  readonly trustStore: { readonly name: string; readonly arn: string };
  readonly targetGroup: { readonly name: string; readonly arn: string };
  readonly webAcl: { readonly name: string; readonly arn: string };
  /** Of the first generation. */
  readonly classicWebAcl: string;
  /** Target groups for bindings of the user's own, by name. */
  readonly bound: { readonly pods: string; readonly nodes: string; readonly many: string };
}

const host = "shop.example.com";
const toPods = { "target-type": "ip" };
const toWeb: Rules = { [host]: ["Prefix / web:80"] };
const https = '[{"HTTPS":443}]';
const both = '[{"HTTP":80},{"HTTPS":443}]';

interface Wish {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly rules?: Rules;
  /** `service:port` */
  readonly defaultBackend?: string;
  readonly tls?: readonly string[];
  /** Null: said by an annotation. */
  readonly className?: string | null;
}

export const oidcSecret = "oidc";

/** By name. */
function wishes(given: Given): Readonly<Record<string, Wish>> {
  const { namespace, certificates, trustStore, targetGroup } = given;
  const [first, second] = certificates;
  const secure = { ...toPods, "listen-ports": https, "certificate-arn": first };
  const json = JSON.stringify;
  return {
    plain: { rules: { "*": ["Prefix / node:80"] } },
    pods: {
      annotations: toPods,
      rules: { [host]: ["Prefix / web:80", "Prefix /api api:http", "Exact /health web:http"], "*.example.com": ["Prefix /x web:admin"] },
    },
    public: {
      annotations: {
        ...toPods,
        scheme: "internet-facing",
        "load-balancer-name": `${namespace}-public`,
        "ip-address-type": "dualstack",
        tags: "team=a,stage=test",
      },
      rules: toWeb,
    },
    placed: { annotations: { ...toPods, subnets: given.subnets.join(",") }, rules: toWeb },
    "placed-by-name": { annotations: { ...toPods, subnets: given.subnetNames.join(",") }, rules: toWeb },
    "own-groups": {
      annotations: { ...toPods, "security-groups": given.securityGroup, "manage-backend-security-group-rules": "true" },
      rules: toWeb,
    },
    "named-groups": {
      annotations: { ...toPods, "security-groups": `${given.securityGroup},${given.securityGroupName}` },
      rules: toWeb,
    },
    narrow: {
      annotations: { ...toPods, "inbound-cidrs": "10.0.0.0/8, 192.168.0.0/16", "security-group-prefix-lists": given.prefixList },
      rules: toWeb,
    },
    secure: {
      annotations: {
        ...toPods,
        "listen-ports": both,
        "certificate-arn": `${first},${second}`,
        "ssl-redirect": "443",
        "ssl-policy": "ELBSecurityPolicy-TLS13-1-2-2021-06",
      },
      rules: { [host]: ["Prefix / web:80", "Prefix /api api:80"] },
    },
    found: { annotations: { ...toPods, "listen-ports": '[{"HTTPS":8443},{"HTTP":8080}]' }, rules: toWeb, tls: ["other.example.com"] },
    mutual: {
      annotations: {
        ...secure,
        "listen-ports": '[{"HTTPS":443},{"HTTPS":8443},{"HTTPS":9443}]',
        "mutual-authentication": json([
          { port: 443, mode: "verify", trustStore: trustStore.name, ignoreClientCertificateExpiry: true, advertiseTrustStoreCaNames: "on" },
          { port: 8443, mode: "verify", trustStore: trustStore.arn },
          { port: 9443, mode: "off" },
        ]),
      },
      rules: toWeb,
    },
    attributes: {
      annotations: {
        ...toPods,
        "load-balancer-attributes": "idle_timeout.timeout_seconds=120,routing.http2.enabled=false,deletion_protection.enabled=false",
        "listener-attributes.HTTP-80": "routing.http.response.server.enabled=false",
        "target-group-attributes":
          "deregistration_delay.timeout_seconds=30,stickiness.enabled=true,stickiness.type=lb_cookie,stickiness.lb_cookie.duration_seconds=60",
      },
      rules: toWeb,
    },
    reserved: { annotations: { ...toPods, "minimum-load-balancer-capacity": "CapacityUnits=500" }, rules: toWeb },
    checked: {
      annotations: {
        ...toPods,
        "backend-protocol": "HTTPS",
        "healthcheck-port": "9000",
        "healthcheck-protocol": "HTTP",
        "healthcheck-path": "/healthz",
        "healthcheck-interval-seconds": "20",
        "healthcheck-timeout-seconds": "6",
        "healthy-threshold-count": "3",
        "unhealthy-threshold-count": "4",
        "success-codes": "200-299,404",
      },
      rules: toWeb,
    },
    "checked-by-name": {
      annotations: { "healthcheck-port": "admin" },
      rules: { [host]: ["Prefix / node:http", "Prefix /admin node:9000"] },
    },
    grpc: { annotations: { ...secure, "backend-protocol-version": "GRPC", "success-codes": "0" }, rules: toWeb },
    http2: { annotations: { ...secure, "backend-protocol-version": "HTTP2" }, rules: toWeb },
    actions: {
      annotations: {
        ...toPods,
        "actions.fixed": json({
          type: "fixed-response",
          fixedResponseConfig: { contentType: "text/plain", statusCode: "418", messageBody: "no" },
        }),
        "actions.away": json({
          type: "redirect",
          redirectConfig: { host: "other.example.com", path: "/x/#{path}", statusCode: "HTTP_302" },
        }),
        "actions.split": json({
          type: "forward",
          forwardConfig: {
            targetGroups: [
              { serviceName: "web", servicePort: 80, weight: 90 },
              { serviceName: "api", servicePort: "http", weight: 9 },
              { targetGroupARN: targetGroup.arn, weight: 1 },
            ],
            targetGroupStickinessConfig: { enabled: true, durationSeconds: 200 },
          },
        }),
        "actions.arn": json({ type: "forward", targetGroupARN: targetGroup.arn }),
        "actions.name": json({ Type: "forward", TargetGroupName: targetGroup.name }),
      },
      rules: {
        [host]: [
          ...["fixed", "away", "split", "arn", "name"].map((name) => `Exact /${name} ${name}:use-annotation`),
          "Exact /nobody nobody:use-annotation",
        ],
      },
    },
    conditions: {
      annotations: {
        ...toPods,
        "conditions.web": json([
          { field: "host-header", hostHeaderConfig: { values: ["more.example.com"] } },
          { field: "http-header", httpHeaderConfig: { httpHeaderName: "X-Team", values: ["a*"] } },
          { field: "http-request-method", httpRequestMethodConfig: { values: ["GET"] } },
        ]),
        "conditions.api": json([
          { field: "path-pattern", pathPatternConfig: { values: ["/v2/*"] } },
          { Field: "query-string", QueryStringConfig: { Values: [{ Key: "v", Value: "2" }] } },
          { field: "source-ip", sourceIpConfig: { values: ["10.0.0.0/8"] } },
        ]),
      },
      rules: { [host]: ["Exact /a web:80", "Exact /b api:80"] },
    },
    transforms: {
      annotations: {
        ...toPods,
        "transforms.web": json([
          { type: "url-rewrite", urlRewriteConfig: { rewrites: [{ regex: "^/api/(.*)$", replace: "/$1" }] } },
          { type: "host-header-rewrite", hostHeaderRewriteConfig: { rewrites: [{ regex: "^shop", replace: "inner" }] } },
        ]),
      },
      rules: { [host]: ["Prefix /api web:80"] },
    },
    regex: {
      annotations: { ...toPods, "use-regex-path-match": "true" },
      rules: { [host]: ["ImplementationSpecific /^/api/(.+)$ web:80", "ImplementationSpecific /.* api:80"] },
    },
    cognito: {
      annotations: {
        ...secure,
        "auth-type": "cognito",
        "auth-scope": "email openid",
        "auth-session-cookie": "own",
        "auth-session-timeout": "3600",
        "auth-on-unauthenticated-request": "deny",
        "auth-idp-cognito": json({
          userPoolARN: "arn:aws:cognito-idp:us-east-1:123456789012:userpool/us-east-1_abc",
          userPoolClientID: "client",
          userPoolDomain: "domain",
        }),
      },
      rules: toWeb,
    },
    oidc: {
      annotations: {
        ...secure,
        "auth-type": "oidc",
        "auth-idp-oidc": json({
          issuer: "https://example.com",
          authorizationEndpoint: "https://example.com/authorize",
          tokenEndpoint: "https://example.com/token",
          userInfoEndpoint: "https://example.com/user",
          secretName: oidcSecret,
          authenticationRequestExtraParams: { display: "page" },
        }),
      },
      rules: toWeb,
    },
    jwt: {
      annotations: {
        ...secure,
        "jwt-validation": json({
          jwksEndpoint: "https://example.com/jwks",
          issuer: "https://example.com",
          additionalClaims: [{ format: "single-string", name: "team", values: ["a"] }],
        }),
      },
      rules: toWeb,
    },
    guarded: {
      annotations: {
        ...toPods,
        "wafv2-acl-arn": given.webAcl.arn,
        "waf-acl-id": given.classicWebAcl,
        "shield-advanced-protection": "true",
      },
      rules: toWeb,
    },
    "guarded-by-name": { annotations: { ...toPods, "wafv2-acl-name": given.webAcl.name }, rules: toWeb },
    unguarded: {
      annotations: { ...toPods, "wafv2-acl-arn": "none", "waf-acl-id": "none", "shield-advanced-protection": "false" },
      rules: toWeb,
    },
    "behind-another": { annotations: { ...toPods, "enable-frontend-nlb": "true" }, rules: toWeb },
    "behind-its-own": {
      annotations: {
        ...secure,
        "listen-ports": both,
        "enable-frontend-nlb": "true",
        "frontend-nlb-scheme": "internet-facing",
        "frontend-nlb-subnets": given.publicSubnets.join(","),
        "frontend-nlb-security-groups": given.securityGroup,
        "frontend-nlb-listener-port-mapping": "8000=80,8443=443",
        "frontend-nlb-attributes": "load_balancing.cross_zone.enabled=true,dns_record.client_routing_policy=availability_zone_affinity",
        "frontend-nlb-tags": "team=front",
        "frontend-nlb-healthcheck-port": "traffic-port",
        "frontend-nlb-healthcheck-protocol": "HTTP",
        "frontend-nlb-healthcheck-path": "/up",
        "frontend-nlb-healthcheck-interval-seconds": "20",
        "frontend-nlb-healthcheck-timeout-seconds": "6",
        "frontend-nlb-healthcheck-healthy-threshold-count": "3",
        "frontend-nlb-healthcheck-unhealthy-threshold-count": "3",
        "frontend-nlb-healthcheck-success-codes": "200-299",
      },
      rules: toWeb,
    },
    labels: { annotations: { "target-node-labels": "pool=front" }, rules: { [host]: ["Prefix / node:80"] } },
    multi: { annotations: { ...toPods, "multi-cluster-target-group": "true" }, rules: toWeb },
    missing: { annotations: toPods, rules: { [host]: ["Prefix /gone gone:80", "Prefix / web:80"] } },
    default: { annotations: toPods, defaultBackend: "web:80" },
    redirects: {
      annotations: {
        ...toPods,
        "listen-ports": both,
        "certificate-arn": first,
        "actions.ssl-redirect": json({ type: "redirect", redirectConfig: { port: "443", protocol: "HTTPS", statusCode: "HTTP_301" } }),
      },
      rules: { "*": ["ImplementationSpecific /* ssl-redirect:use-annotation", "ImplementationSpecific /* web:80"] },
    },
    "member-a": {
      annotations: { ...toPods, "group.name": `${namespace}-teams`, "group.order": "2", "listen-ports": both, "certificate-arn": first },
      rules: { "a.example.com": ["Prefix / web:80"] },
    },
    "member-b": {
      annotations: { "group.name": `${namespace}-teams`, "group.order": "-1", tags: "team=b", "certificate-arn": second },
      rules: { "b.example.com": ["Prefix / node:80", "Exact /api node:9000"] },
    },
    "member-c": {
      annotations: { ...toPods, "group.name": `${namespace}-teams`, "listen-ports": '[{"HTTP":8080}]', "ssl-redirect": "443" },
      rules: { "c.example.com": ["Prefix / web:80"] },
    },
    "of-a-class": { annotations: { scheme: "internal" }, rules: toWeb, className: paramsClass(namespace) },
    legacy: { annotations: { ...toPods, "kubernetes.io/ingress.class": "alb" }, rules: toWeb, className: null },
  };
}

export const paramsClass = (namespace: string) => `alb-${namespace}`;

/** The parameters of the class that `of-a-class` has. */
export const classParams = ({ namespace, publicSubnets, certificates, prefixList }: Given) => ({
  loadBalancerName: `${namespace}-class`,
  certificateArn: [certificates[0]],
  group: { name: `${namespace}-class` },
  scheme: "internet-facing" as const,
  inboundCIDRs: ["10.0.0.0/8"],
  prefixListsIDs: [prefixList],
  sslPolicy: "ELBSecurityPolicy-TLS13-1-2-2021-06",
  subnets: { ids: [...publicSubnets] },
  ipAddressType: "ipv4" as const,
  tags: [{ key: "class", value: "params" }],
  targetType: "ip" as const,
  loadBalancerAttributes: [{ key: "idle_timeout.timeout_seconds", value: "90" }],
  listeners: [{ protocol: "HTTPS", port: 443, listenerAttributes: [{ key: "routing.http.response.server.enabled", value: "false" }] }],
});

export function judgedIngresses(given: Given): readonly Ingress[] {
  return Object.entries(wishes(given)).map(([name, { annotations = {}, rules = {}, defaultBackend, tls, className = "alb" }]) => {
    const [service = "", port] = defaultBackend?.split(":") ?? [];
    return {
      metadata: { name, namespace: given.namespace, annotations: keyed(annotations) as Record<string, string> },
      spec: {
        ...(className !== null && { ingressClassName: className }),
        ...(defaultBackend && { defaultBackend: { service: { name: service, port: { number: Number(port) } } } }),
        ...(tls && { tls: [{ hosts: [...tls] }] }),
        ...(Object.keys(rules).length > 0 && { rules: rulesOf(rules) as NonNullable<Ingress["spec"]>["rules"] & object }),
      },
    };
  });
}

/** Bindings to target groups that no Ingress made. */
export function judgedBindings({ bound, vpc, securityGroup }: Given): Readonly<Record<string, BindingSpec>> {
  const shared = { ipAddressType: "ipv4", vpcID: vpc, targetGroupProtocol: "HTTP" } as const;
  const web = { name: "web", port: 80 };
  return {
    "own-pods": {
      ...shared,
      targetGroupARN: bound.pods,
      targetType: "ip",
      serviceRef: web,
      networking: {
        ingress: [
          { from: [{ ipBlock: { cidr: "10.0.0.0/16" } }], ports: [{ protocol: "TCP", port: 8080 }] },
          { from: [{ securityGroup: { groupID: securityGroup } }], ports: [{ protocol: "TCP" }] },
        ],
      },
    },
    "own-nodes": {
      ...shared,
      targetGroupARN: bound.nodes,
      targetType: "instance",
      serviceRef: { name: "node", port: "http" },
      nodeSelector: { matchLabels: { pool: "back" } },
    },
    "own-many": { ...shared, targetGroupARN: bound.many, targetType: "ip", serviceRef: web, multiClusterTargetGroup: true },
  };
}
