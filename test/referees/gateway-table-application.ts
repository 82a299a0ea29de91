/** Gateways with an application load balancer. */
import { classOf, type GatewayGiven, type GatewayWish, to } from "./gateway-table.ts";

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
    "prefix-lists": { listeners: ["HTTP:80"], settings: { securityGroupPrefixes: [given.prefixList] }, routes: only("prefix-lists") },
    closed: { listeners: ["HTTP:80"], settings: { sourceRanges: [] }, routes: only("closed") },
    twice: {
      listeners: ["HTTP:80", "HTTP:81"],
      routes: {
        twice: { parentRefs: ["http-80", "http-81"].map((sectionName) => ({ name: "twice", sectionName })), rules: [to("web:80")] },
        "twice-deeper": { rules: [{ ...on(path("/x")), ...to("web:80") }] },
      },
    },
    trusting: {
      listeners: ["HTTPS:443 *.example.com"],
      settings: {
        listenerConfigurations: [{ protocolPort: "HTTPS:443", mutualAuthentication: { mode: "verify", trustStore: trustStore.arn } }],
      },
      routes: only("trusting"),
    },
    unserved: {
      listeners: ["HTTP:80"],
      routes: {
        unserved: {
          hostnames: [host],
          rules: [
            { ...on(path("/a")), ...to("web:80 0", "api:80 0") },
            on(path("/b")),
            { ...on(path("/c")), ...to("gone:80 5", "web:80") },
            { ...on(path("/d")), ...to({ kind: "Unknown", group: "example.com", name: "thing" }) },
          ],
        },
        "not-let-in": { hostnames: ["other.example.com"], rules: [to({ name: "kubernetes", namespace: "default", port: 443 })] },
      },
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
