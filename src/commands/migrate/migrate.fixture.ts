/** Ingresses for tests of the translation, over the whole table of annotations, and a world in which they are served. */
import assert from "node:assert/strict";
import { type Given, judgedIngresses } from "../../../test/referees/ingress-table.ts";
import { bed, groupFrom, type IngressOptions, ingress, service } from "../../loadbalancers/ingress/ingress.fixture.ts";
import { ingressState } from "../../loadbalancers/ingress/seen.ts";
import type { ClassParams, IngressView } from "../../loadbalancers/ingress/view.ts";
import { type Translation, translate } from "./translate.ts";
import type { ExistingConfiguration } from "./translation.ts";

export const certificates = ["arn:aws:acm:us-east-1:1:certificate/1", "arn:aws:acm:us-east-1:1:certificate/2"] as const;
const targetGroup = { name: "theirs", arn: "arn:aws:elasticloadbalancing:us-east-1:1:targetgroup/theirs/0123456789abcdef" };
const trustStore = { name: "partners", arn: "arn:aws:elasticloadbalancing:us-east-1:1:truststore/partners/0123456789abcdef" };
export const webAcl = { name: "acl", arn: "arn:aws:wafv2:us-east-1:1:regional/webacl/acl/1" };
export const json = JSON.stringify;

export const given: Given = {
  namespace: "shop",
  vpc: "vpc-1",
  subnets: ["subnet-a", "subnet-b"],
  publicSubnets: ["subnet-a", "subnet-b"],
  subnetNames: ["subnet-a", "subnet-b"],
  securityGroup: "sg-1",
  securityGroupName: "office",
  prefixList: "pl-1",
  certificates,
  trustStore,
  targetGroup,
  webAcl,
  classicWebAcl: "classic",
  bound: { pods: "", nodes: "", many: "" },
};

const ports = [
  { name: "http", port: 80, targetPort: 8080, nodePort: 30080 },
  { name: "admin", port: 9000, targetPort: 9000, nodePort: 30090 },
];
const namespaces = ["shop", "other"];
const services = namespaces.flatMap((namespace) => ["web", "api", "node"].map((name) => service(`${namespace}/${name}`, { ports })));

export const world = (more: Parameters<typeof bed>[0] = {}) =>
  bed({
    services,
    groups: ["sg-1", "sg-2"].map((id) => ({
      id,
      name: id,
      vpc: "vpc-1",
      tags: { Name: id === "sg-2" ? "office" : "front" },
      sources: [],
      descriptions: [],
    })),
    certificates: certificates.map((arn, i) => ({ arn, domains: i === 0 ? ["shop.example.com"] : ["*.example.com"] })),
    trustStore: (name) => (name === trustStore.name ? trustStore.arn : undefined),
    secret: () => ({ data: { clientID: "id", clientSecret: "secret" }, changed: false }),
    webAcl: (name) => (name === webAcl.name ? { arn: webAcl.arn } : undefined),
    targetGroupArn: (name) => (name === targetGroup.name ? targetGroup.arn : undefined),
    ...more,
  });

export type Member = IngressView | readonly [IngressView, ClassParams];

export function translated(
  members: readonly Member[],
  {
    more,
    configurations = [],
  }: { readonly more?: Parameters<typeof bed>[0]; readonly configurations?: readonly ExistingConfiguration[] } = {},
): Translation {
  const { desire, sources } = world(more);
  const desired = desire(...members);
  assert.deepEqual([[...desired.faults], desired.problems], [[], []], "the Ingresses themselves are right");
  return translate({ group: groupFrom(members), desire: desired, sources: sources(), className: "aws-alb", configurations });
}

export const views = new Map(
  judgedIngresses(given).map((each) => [
    each.metadata?.name ?? "",
    ingressState({ ...each, metadata: { ...each.metadata, uid: "uid", resourceVersion: "1" } } as Parameters<typeof ingressState>[0]).view,
  ]),
);

const https = '[{"HTTPS":443}]';
const both = '[{"HTTP":80},{"HTTPS":443}]';
export const secure = { "listen-ports": https, "certificate-arn": certificates[0] };
export const shop = "shop.example.com";

/** What the table of the referee lacks. */
export const whole: Readonly<Record<string, IngressOptions>> = {
  "hosts that overlap": { rules: { [shop]: ["Prefix / web:80"], "*.example.com": ["Prefix / api:80"], "*": ["Prefix / web:admin"] } },
  "a host that is listed after the one that covers it": { rules: { "*": ["Prefix / web:80"], [shop]: ["Prefix /a api:80"] } },
  "old patterns in the order of their lengths": {
    rules: {
      "*": ["ImplementationSpecific /api/v1/* api:80", "ImplementationSpecific /api/* web:80", "ImplementationSpecific /* web:admin"],
    },
  },
  "a default backend behind regular expressions": {
    annotations: { "use-regex-path-match": "true" },
    rules: { "*": ["ImplementationSpecific /^/v[0-9]+/.*$ api:80"] },
    defaultBackend: "web:80",
  },
  "a default backend behind hosts": { rules: { [shop]: ["Prefix /a api:80"] }, defaultBackend: "web:80" },
  "more rules than a route takes": {
    rules: { [shop]: Array.from({ length: 40 }, (_, i) => `Prefix /p${String(i).padStart(2, "0")} web:80`) },
  },
  "more hosts than a route takes": {
    rules: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`h${i}.example.com`, ["Prefix / web:80"]])),
  },
  "a log-in on one of two listeners": {
    annotations: {
      ...secure,
      "listen-ports": both,
      "auth-type": "oidc",
      "auth-idp-oidc": json({
        issuer: "https://i",
        secretName: "s",
        authorizationEndpoint: "https://a",
        tokenEndpoint: "https://t",
        userInfoEndpoint: "https://u",
      }),
    },
    rules: { [shop]: ["Prefix / web:80", "Prefix /api api:80"] },
  },
  "a header with commas, and several methods": {
    annotations: {
      "conditions.web": json([
        { field: "http-header", httpHeaderConfig: { httpHeaderName: "X-A", values: ["a,b", "c\\d"] } },
        { field: "http-request-method", httpRequestMethodConfig: { values: ["GET", "HEAD"] } },
      ]),
    },
    rules: { "*": ["Prefix /a web:80"] },
  },
  "a header by regular expressions": {
    annotations: {
      "conditions.web": json([{ field: "http-header", httpHeaderConfig: { httpHeaderName: "X-A", regexValues: ["^a+$", "^b+$"] } }]),
    },
    rules: { "*": ["Prefix /a web:80"] },
  },
  "queries, one of several and all of several": {
    annotations: {
      "conditions.web": json([
        {
          field: "query-string",
          queryStringConfig: {
            values: [
              { key: "a", value: "1" },
              { key: "a", value: "2" },
            ],
          },
        },
        { field: "query-string", queryStringConfig: { values: [{ key: "b", value: "3" }] } },
      ]),
    },
    rules: { "*": ["Prefix /a web:80"] },
  },
  "a rewrite of the prefix and of the host": {
    annotations: {
      "transforms.web": json([
        { type: "url-rewrite", urlRewriteConfig: { rewrites: [{ regex: "(^/api(/)?)", replace: "/v2$2" }] } },
        { type: "host-header-rewrite", hostHeaderRewriteConfig: { rewrites: [{ regex: ".*", replace: "inner.example.com" }] } },
      ]),
    },
    rules: { "*": ["Prefix /api web:80"] },
  },
  "a rewrite of the whole path": {
    annotations: {
      "transforms.web": json([{ type: "url-rewrite", urlRewriteConfig: { rewrites: [{ regex: "^([^?]*)", replace: "/only" }] } }]),
    },
    rules: { "*": ["Prefix /api web:80"] },
  },
  "a redirect that changes the query": {
    annotations: {
      "actions.x": json({ type: "redirect", redirectConfig: { query: "from=old&#{query}", path: "/new", statusCode: "HTTP_302" } }),
    },
    rules: { "*": ["Prefix /old x:use-annotation"] },
  },
  "a listener that is left without rules": {
    annotations: {
      ...secure,
      "actions.x": json({ type: "redirect", redirectConfig: { port: "443", protocol: "HTTPS", statusCode: "HTTP_301" } }),
    },
    rules: { "*": ["Prefix / x:use-annotation"] },
  },
  "a control port": { annotations: { "target-control-port.web.80": "9100" } },
  "a healthy answer of a port by its name": { annotations: { "healthcheck-port": "admin", "target-type": "instance" } },
  "a pool of addresses": { annotations: { "ipam-ipv4-pool-id": "ipam-1", scheme: "internet-facing" } },
  "customer-owned addresses": { annotations: { "customer-owned-ipv4-pool": "pool-1" } },
  "tags on everything": { annotations: { ...secure, tags: "team=a" }, rules: { [shop]: ["Prefix / web:80", "Exact /a api:80"] } },
  "client certificates that are passed on": {
    annotations: { ...secure, "mutual-authentication": json([{ port: 443, mode: "passthrough" }]) },
  },
  "one subnet after the other": { annotations: { subnets: "subnet-b,subnet-a", "subnet-discovery": "once" } },
  "an ACL that replaces others": { annotations: { "wafv2-acl-arn": webAcl.arn, "wafv2-acl-association": "always" } },
  "a private authority that nobody uses": { annotations: { "acm-pca-arn": "arn:aws:acm-pca:us-east-1:1:certificate-authority/1" } },
  "a group that is alone": { annotations: { "group.name": "alone", "group.order": "3" } },
  "prefix lists alone": { annotations: { "security-group-prefix-lists": "pl-1" } },
  "everybody, said aloud, with both families": { annotations: { "inbound-cidrs": "0.0.0.0/0", "ip-address-type": "dualstack" } },
};

/** What is printed for each of them. */
export function migrated(): Readonly<Record<string, Translation>> {
  const ofTable = [...views].filter(([name]) => !name.startsWith("member-") && name !== "of-a-class");
  return Object.fromEntries([
    ...ofTable.map(([name, view]) => [name, translated([view])] as const),
    ...Object.entries(whole).map(([name, options]) => [name, translated([ingress("shop/web", options)])] as const),
  ]);
}
