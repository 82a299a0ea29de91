/** Gateways with an application load balancer, and what their routes refer to. */
import type { ListenerRuleSettings, TargetGroupConfiguration } from "../../src/loadbalancers/gateway/config.ts";
import { classOf, type GatewayGiven, type GatewayWish, oidcSecret, to } from "./gateway-table.ts";

const host = "shop.example.com";
const group = "gateway.networking.k8s.io";

const path = (value: string, type = "PathPrefix") => ({ path: { type, value } });
const on = (...matches: readonly object[]) => ({ matches });
const filtered = (...filters: readonly object[]) => ({ filters });
const extended = (name: string) => ({
  type: "ExtensionRef",
  extensionRef: { group: "gateway.k8s.aws", kind: "ListenerRuleConfiguration", name },
});
const redirect = (requestRedirect: object) => ({ type: "RequestRedirect", requestRedirect });
const rewrite = (urlRewrite: object) => ({ type: "URLRewrite", urlRewrite });
const full = (value: string) => ({ path: { type: "ReplaceFullPath", replaceFullPath: value } });
const prefix = (value: string) => ({ path: { type: "ReplacePrefixMatch", replacePrefixMatch: value } });

const toWeb = { web: { rules: [to("web:80")] } };
/** A route of the Gateway's own name that leads everything to `web`. */
const only = (name: string) => ({ [`${name}-web`]: toWeb.web });

export function applicationWishes(given: GatewayGiven): Readonly<Record<string, GatewayWish>> {
  const { namespace, far, certificates, trustStore } = given;
  const [first, second] = certificates;
  return {
    plain: { listeners: ["HTTP:80"], routes: { plain: { rules: [to("node:80")] } } },
    empty: { listeners: ["HTTP:80", "HTTPS:443"] },
    matches: {
      listeners: ["HTTP:80"],
      routes: {
        matches: {
          hostnames: [host],
          rules: [
            { ...on(path("/"), path("/api"), path("/health", "Exact")), ...to("web:80") },
            { ...on(path("/v[0-9]+/.*", "RegularExpression")), ...to("api:80") },
            {
              ...on({ ...path("/team"), headers: [{ name: "X-Team", value: "a" }], method: "GET" }),
              ...to("web:80 90", "api:80 9", "web:9000 0"),
            },
            { ...on({ headers: [{ name: "X-Version", type: "RegularExpression", value: "v[12]" }] }), ...to("api:80") },
            {
              ...on({
                queryParams: [{ name: "v", value: "2" }],
              }),
              ...to("web:9000"),
            },
            { ...on({ ...path("/nobody"), method: "DELETE" }), ...to("web:80 0") },
          ],
        },
        "matches-too": { hostnames: [host], rules: [{ ...on(path("/api/deeper")), ...to("node:80", "node:9000") }] },
        "matches-all": { hostnames: ["*.example.com"], rules: [to("api:80")] },
      },
    },
    filters: {
      listeners: ["HTTP:80"],
      routes: {
        filters: {
          hostnames: [host],
          rules: [
            { ...on(path("/a")), ...filtered(redirect({ scheme: "https", statusCode: 301 })) },
            { ...on(path("/b")), ...filtered(redirect({ hostname: "other.example.com", port: 8080, ...full("/new") })) },
            { ...on(path("/d")), ...filtered(rewrite({ hostname: "inner.example.com", ...full("/one") })), ...to("web:80") },
            { ...on(path("/e")), ...filtered(rewrite(prefix("/two"))), ...to("web:80") },
            { ...on(path("/f")), ...filtered(rewrite(prefix("/"))), ...to("web:80") },
          ],
        },
      },
    },
    secure: {
      listeners: ["HTTPS:443", "HTTP:80", "HTTPS:8443"],
      settings: {
        loadBalancerName: `${namespace}-secure`,
        scheme: "internet-facing",
        ipAddressType: "dualstack",
        tags: { team: "a", stage: "test" },
        loadBalancerAttributes: [
          { key: "idle_timeout.timeout_seconds", value: "120" },
          { key: "routing.http2.enabled", value: "false" },
        ],
        listenerConfigurations: [
          {
            protocolPort: "HTTPS:443",
            defaultCertificate: first,
            certificates: [second],
            sslPolicy: "ELBSecurityPolicy-TLS13-1-2-2021-06",
            mutualAuthentication: {
              mode: "verify",
              trustStore: trustStore.name,
              ignoreClientCertificateExpiry: true,
              advertiseTrustStoreCaNames: "on",
            },
            listenerAttributes: [{ key: "routing.http.response.server.enabled", value: "false" }],
          },
          { protocolPort: "HTTPS:8443", certificates: [second], mutualAuthentication: { mode: "passthrough" } },
        ],
      },
      routes: {
        secure: {
          hostnames: [host],
          parentRefs: [
            { name: "secure", sectionName: "https-443" },
            { name: "secure", sectionName: "https-8443", port: 8443 },
          ],
          rules: [to("web:80")],
        },
        away: { parentRefs: [{ name: "secure", sectionName: "http-80" }], rules: [filtered(redirect({ scheme: "https", port: 443 }))] },
      },
    },
    found: {
      listeners: [`HTTPS:443 ${host}`, { name: "more", protocol: "HTTPS", port: 443, hostname: "other.example.com" }],
      routes: {
        found: { hostnames: [host], rules: [to("web:80")] },
        "found-more": { parentRefs: [{ name: "found", sectionName: "more" }], rules: [to("api:80")] },
      },
    },
    calls: {
      listeners: [`HTTPS:443 ${host}`],
      routes: {
        calls: {
          kind: "GRPCRoute",
          hostnames: [host],
          rules: [
            { ...on({ method: { service: "shop.Cart", method: "Add" } }), ...to("web:9000") },
            { ...on({ method: { service: "shop.Cart" }, headers: [{ name: "x-team", value: "a" }] }), ...to("api:80") },
            { ...on({ method: { method: "List" } }), ...to("web:9000") },
          ],
        },
      },
    },
    placed: {
      listeners: ["HTTP:80"],
      settings: {
        loadBalancerSubnets: given.subnets.map((identifier) => ({ identifier })),
        securityGroups: [given.securityGroup, given.securityGroupName],
        manageBackendSecurityGroupRules: true,
      },
      routes: only("placed"),
    },
    grouped: { listeners: ["HTTP:80"], settings: { securityGroups: [given.securityGroup] }, routes: only("grouped") },
    narrow: {
      listeners: ["HTTP:80", "HTTP:8080"],
      settings: { sourceRanges: ["10.0.0.0/8", "192.168.0.0/16"], securityGroupPrefixes: [given.prefixList] },
      routes: only("narrow"),
    },
    rules: {
      listeners: ["HTTPS:443", "HTTP:80"],
      settings: { listenerConfigurations: [{ protocolPort: "HTTPS:443", defaultCertificate: first }] },
      routes: {
        rules: {
          hostnames: [host],
          rules: [
            { ...on(path("/fixed")), ...filtered(extended("fixed")) },
            { ...on(path("/sticky"), path("/pasted")), ...filtered(extended("sticky")), ...to("web:80", "api:80") },
            { ...on(path("/query")), ...filtered(redirect({ hostname: "other.example.com" }), extended("query")) },
            ...["oidc", "cognito", "jwt"].map((name) => ({ ...on(path(`/${name}`)), ...filtered(extended(name)), ...to("web:80") })),
          ],
        },
      },
    },
    sets: {
      listeners: ["HTTP:80"],
      spec: { allowedListeners: { namespaces: { from: "Same" } } },
      sets: { more: ["HTTP:8080", "HTTP:80 set.example.com"] },
      routes: {
        "to-the-set": { hostnames: ["set.example.com"], parentRefs: [{ group, kind: "ListenerSet", name: "more" }], rules: [to("api:80")] },
        "to-both": {
          hostnames: ["both.example.com"],
          parentRefs: [{ name: "sets" }, { group, kind: "ListenerSet", name: "more", sectionName: "http-8080" }],
          rules: [to("web:80")],
        },
      },
    },
    far: {
      listeners: [{ name: "http", protocol: "HTTP", port: 80, allowedRoutes: { namespaces: { from: "All" } } }],
      routes: {
        "from-afar": { namespace: far, hostnames: ["far.example.com"], rules: [to("web:80")] },
        "to-afar": { hostnames: [host], rules: [to({ name: "web", namespace: far, port: 80 })] },
      },
    },
    guarded: {
      listeners: ["HTTP:80"],
      settings: {
        wafV2: { webACL: given.webAcl.arn },
        shieldConfiguration: { enabled: true },
        minimumLoadBalancerCapacity: { capacityUnits: 500 },
      },
      routes: only("guarded"),
    },
    "of-a-class": {
      className: classOf(namespace),
      listeners: ["HTTPS:443", "HTTP:80"],
      settings: {
        scheme: "internal",
        tags: { team: "gateway" },
        loadBalancerAttributes: [{ key: "routing.http2.enabled", value: "false" }],
      },
      spec: { infrastructure: { labels: { tier: "front" }, annotations: { "example.com/note": "seen" } } },
      routes: { "of-a-class": { rules: [to("node:80")] } },
    },
    given: {
      listeners: ["HTTP:80"],
      routes: { given: { rules: [to("web:80 3", { kind: "TargetGroupName", name: given.targetGroup.name, weight: 1 })] } },
    },
    checked: {
      listeners: ["HTTP:80"],
      routes: { checked: { rules: [to("web:80", "node:80")] } },
    },
    mistaken: {
      listeners: ["HTTP:80", { name: "tcp", protocol: "TCP", port: 81 }],
      routes: {
        mistaken: { rules: [{ ...on(path("/gone")), ...to("gone:80") }, to("web:80")] },
        "of-nobody": { parentRefs: [{ name: "mistaken", sectionName: "none" }], rules: [to("web:80")] },
      },
    },
  };
}

/** By name. */
export function targetConfigurations({ namespace }: GatewayGiven): Readonly<Record<string, TargetGroupConfiguration>> {
  const of = (kind: string, name: string) => ({ kind, namespace, name });
  return {
    default: { defaultConfiguration: { targetGroupAttributes: [{ key: "deregistration_delay.timeout_seconds", value: "20" }] } },
    web: {
      targetReference: { name: "web" },
      defaultConfiguration: { targetType: "ip", tags: { service: "web" } },
      routeConfigurations: [
        {
          routeIdentifier: of("HTTPRoute", "checked"),
          targetGroupProps: {
            targetGroupName: `${namespace}-checked`,
            protocol: "HTTPS",
            healthCheckConfig: {
              healthCheckProtocol: "HTTP",
              healthCheckPort: "9000",
              healthCheckPath: "/up",
              healthCheckInterval: 20,
              healthCheckTimeout: 7,
              healthyThresholdCount: 4,
              unhealthyThresholdCount: 5,
              matcher: { httpCode: "200-204" },
            },
            targetGroupAttributes: [
              { key: "deregistration_delay.timeout_seconds", value: "30" },
              { key: "stickiness.enabled", value: "true" },
            ],
            enableMultiCluster: true,
          },
        },
        { routeIdentifier: of("HTTPRoute", "found"), targetGroupProps: { protocolVersion: "HTTP2" } },
        { routeIdentifier: of("TLSRoute", "passed"), targetGroupProps: { protocol: "TCP" } },
        {
          routeIdentifier: { kind: "TCPRoute", namespace },
          targetGroupProps: { targetGroupAttributes: [{ key: "preserve_client_ip.enabled", value: "true" }] },
        },
      ],
    },
    api: { targetReference: { name: "api" }, defaultConfiguration: { targetType: "ip" } },
    dns: { targetReference: { name: "dns" }, defaultConfiguration: { targetType: "ip" } },
    node: {
      targetReference: { name: "node" },
      routeConfigurations: [
        {
          routeIdentifier: of("HTTPRoute", "checked"),
          targetGroupProps: { nodeSelector: { matchLabels: { pool: "front" } }, healthCheckConfig: { healthCheckPort: "admin" } },
        },
      ],
    },
  };
}

/** By name. */
export const ruleConfigurations: Readonly<Record<string, ListenerRuleSettings>> = {
  fixed: {
    actions: [{ type: "fixed-response", fixedResponseConfig: { statusCode: 418, contentType: "text/html", messageBody: "no" } }],
    tags: { rule: "fixed" },
  },
  sticky: {
    actions: [{ type: "forward", forwardConfig: { targetGroupStickinessConfig: { enabled: true, durationSeconds: 200 } } }],
    conditions: [{ field: "source-ip", sourceIPConfig: { values: ["10.0.0.0/8"] }, matchIndexes: [0] }],
  },
  query: { actions: [{ type: "redirect", redirectConfig: { query: "from=shop" } }] },
  oidc: {
    actions: [
      {
        type: "authenticate-oidc",
        authenticateOIDCConfig: {
          issuer: "https://example.com",
          authorizationEndpoint: "https://example.com/authorize",
          tokenEndpoint: "https://example.com/token",
          userInfoEndpoint: "https://example.com/user",
          secret: { name: oidcSecret },
          authenticationRequestExtraParams: { display: "page" },
        },
      },
    ],
  },
  cognito: {
    actions: [
      {
        type: "authenticate-cognito",
        authenticateCognitoConfig: {
          userPoolArn: "arn:aws:cognito-idp:us-east-1:123456789012:userpool/us-east-1_abc",
          userPoolClientId: "client",
          userPoolDomain: "domain",
          scope: "email openid",
          onUnauthenticatedRequest: "deny",
          sessionTimeout: 3600,
        },
      },
    ],
  },
  jwt: {
    actions: [
      {
        type: "jwt-validation",
        jwtValidationConfig: {
          issuer: "https://example.com",
          jwksEndpoint: "https://example.com/jwks",
          additionalClaims: [{ name: "team", format: "single-string", values: ["a"] }],
        },
      },
    ],
  },
};
