/** Every annotation of an Ingress against the account that results from it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { authTable, backendTable, familyTable, memberTable } from "../../src/loadbalancers/ingress/annotations.ts";
import { ingressClassParamsDefinition } from "../../src/loadbalancers/ingress/crd.ts";
import { type IngressWorld, ingressWorld } from "../bed/ingress-world.ts";

const https = { "listen-ports": '[{"HTTPS":443}]', "certificate-arn": "CERTIFICATE" };
const cognito = { userPoolARN: "arn:aws:cognito-idp:us-east-1:123456789012:userpool/p", userPoolClientID: "c", userPoolDomain: "d" };
const logIn = { ...https, "auth-type": "cognito", "auth-idp-cognito": JSON.stringify(cognito) };
const oidc = {
  issuer: "https://idp",
  authorizationEndpoint: "https://idp/a",
  tokenEndpoint: "https://idp/t",
  userInfoEndpoint: "https://idp/u",
  secretName: "client",
};
const instance = { "target-type": "instance" };

/** What an Ingress says, and what is then found in everything that was made for it. `web` is behind all of them. */
const cases: Readonly<Record<string, readonly [Readonly<Record<string, string>>, RegExp]>> = {
  "load-balancer-name": [{ "load-balancer-name": "chosen" }, /"type":"application".*"name":"chosen"/],
  scheme: [{ scheme: "internet-facing" }, /"scheme":"internet-facing"/],
  "ip-address-type": [{ "ip-address-type": "dualstack" }, /"ipAddressType":"dualstack"/],
  subnets: [{ subnets: "SUBNETS" }, /"zones":\[[^\]]*FIRST_SUBNET/],
  "load-balancer-attributes": [{ "load-balancer-attributes": "idle_timeout.timeout_seconds=61" }, /idle_timeout.timeout_seconds":"61"/],
  "minimum-load-balancer-capacity": [{ "minimum-load-balancer-capacity": "CapacityUnits=100" }, /"capacity":\{[^}]*100/],
  "security-groups": [{ "security-groups": "NODE_GROUP" }, /"groupIds":\["NODE_GROUP"\]/],
  "manage-backend-security-group-rules": [
    { "security-groups": "NODE_GROUP", "manage-backend-security-group-rules": "true" },
    /"groupIds":\["NODE_GROUP","sg-\w+"\].*"networking":\{"ingress"/,
  ],
  "inbound-cidrs": [{ "inbound-cidrs": "10.9.8.7/16" }, /10\.9\.0\.0\/16/],
  "security-group-prefix-lists": [{ "security-group-prefix-lists": "pl-0123456789abcdef0" }, /pl-0123456789abcdef0/],
  tags: [{ tags: "team=a" }, /"team":"a"/],
  "listen-ports": [{ "listen-ports": '[{"HTTP":8081},{"HTTP":8082}]' }, /"port":8081.*"port":8082/],
  "ssl-redirect": [
    { ...https, "listen-ports": '[{"HTTP":80},{"HTTPS":443}]', "ssl-redirect": "443" },
    /"Protocol":"HTTPS"[^}]*"StatusCode":"HTTP_301"|"StatusCode":"HTTP_301"[^}]*/,
  ],
  "certificate-arn": [https, /"certificate":"CERTIFICATE"/],
  "ssl-policy": [{ ...https, "ssl-policy": "ELBSecurityPolicy-TLS13-1-2-2021-06" }, /"sslPolicy":"ELBSecurityPolicy-TLS13-1-2-2021-06"/],
  "mutual-authentication": [{ ...https, "mutual-authentication": '[{"port":443,"mode":"passthrough"}]' }, /"Mode":"passthrough"/],
  "use-regex-path-match": [{ "use-regex-path-match": "true" }, /"RegexValues":\["\^\/regex\/\(\.\+\)\$"\]/],
  "jwt-validation": [{ ...https, "jwt-validation": '{"jwksEndpoint":"https://idp/j","issuer":"https://idp"}' }, /"Type":"jwt-validation"/],
  "target-type": [instance, /"targetType":"instance"/],
  "backend-protocol": [{ "backend-protocol": "HTTPS" }, /"protocol":"HTTPS"/],
  "backend-protocol-version": [{ ...https, "backend-protocol-version": "HTTP2" }, /"version":"HTTP2"/],
  "target-group-attributes": [
    { "target-group-attributes": "deregistration_delay.timeout_seconds=33" },
    /deregistration_delay.timeout_seconds":"33"/,
  ],
  "healthcheck-port": [{ "healthcheck-port": "8123" }, /"port":"8123"/],
  "healthcheck-protocol": [{ "healthcheck-protocol": "HTTPS" }, /"check":\{[^}]*"HTTPS"/],
  "healthcheck-path": [{ "healthcheck-path": "/up" }, /"check":\{[^}]*"\/up"/],
  "healthcheck-interval-seconds": [{ "healthcheck-interval-seconds": "17" }, /"check":\{[^}]*:17[,}]/],
  "healthcheck-timeout-seconds": [{ "healthcheck-timeout-seconds": "7" }, /"check":\{[^}]*:7[,}]/],
  "healthy-threshold-count": [{ "healthy-threshold-count": "9" }, /"check":\{[^}]*:9[,}]/],
  "unhealthy-threshold-count": [{ "unhealthy-threshold-count": "8" }, /"check":\{[^}]*:8[,}]/],
  "success-codes": [{ "success-codes": "200-204" }, /200-204/],
  "target-node-labels": [{ ...instance, "target-node-labels": "pool=a" }, /"nodeSelector":\{"matchLabels":\{"pool":"a"\}\}/],
  "multi-cluster-target-group": [{ "multi-cluster-target-group": "true" }, /"multiClusterTargetGroup":true/],
  "auth-type": [logIn, /"Type":"authenticate-cognito"/],
  "auth-idp-cognito": [logIn, /"UserPoolClientId":"c"/],
  "auth-idp-oidc": [{ ...https, "auth-type": "oidc", "auth-idp-oidc": JSON.stringify(oidc) }, /"Issuer":"https:\/\/idp"/],
  "auth-on-unauthenticated-request": [{ ...logIn, "auth-on-unauthenticated-request": "deny" }, /"OnUnauthenticatedRequest":"deny"/],
  "auth-scope": [{ ...logIn, "auth-scope": "openid email" }, /"Scope":"openid email"/],
  "auth-session-cookie": [{ ...logIn, "auth-session-cookie": "mine" }, /"SessionCookieName":"mine"/],
  "auth-session-timeout": [{ ...logIn, "auth-session-timeout": "77" }, /"SessionTimeout":77/],
  "actions.": [
    { "actions.answer": '{"type":"fixed-response","fixedResponseConfig":{"contentType":"text/plain","statusCode":"418"}}' },
    /"StatusCode":"418"/,
  ],
  "conditions.": [{ "conditions.web": '[{"field":"http-request-method","httpRequestMethodConfig":{"values":["PUT"]}}]' }, /"PUT"/],
  "transforms.": [
    { "transforms.web": '[{"type":"url-rewrite","urlRewriteConfig":{"rewrites":[{"regex":"^/a","replace":"/b"}]}}]' },
    /"Type":"url-rewrite"/,
  ],
  "listener-attributes.": [
    { "listener-attributes.HTTP-80": "routing.http.response.server.enabled=false" },
    /routing.http.response.server.enabled":"false"/,
  ],
  "target-control-port.": [{ "target-control-port.web.80": "3000" }, /"targetControlPort":3000/],
};

/** The same for parameters of a class, beside annotations that say something else. */
const params: Readonly<Record<string, readonly [object, Readonly<Record<string, string>>, RegExp]>> = {
  loadBalancerName: [{ loadBalancerName: "by-class" }, { "load-balancer-name": "by-annotation" }, /"name":"by-class"/],
  certificateArn: [{ certificateArn: ["CERTIFICATE"] }, {}, /"certificate":"CERTIFICATE"/],
  scheme: [{ scheme: "internet-facing" }, { scheme: "internal" }, /"scheme":"internet-facing"/],
  inboundCIDRs: [{ inboundCIDRs: ["10.7.0.0/16"] }, { "inbound-cidrs": "10.8.0.0/16" }, /10\.7\.0\.0\/16/],
  sslPolicy: [{ sslPolicy: "ELBSecurityPolicy-TLS13-1-2-2021-06" }, https, /"sslPolicy":"ELBSecurityPolicy-TLS13-1-2-2021-06"/],
  sslRedirectPort: [{ sslRedirectPort: "443" }, { ...https, "listen-ports": '[{"HTTP":80},{"HTTPS":443}]' }, /"StatusCode":"HTTP_301"/],
  subnets: [{ subnets: { ids: ["FIRST_SUBNET", "SECOND_SUBNET"] } }, { subnets: "subnet-none" }, /"zones":\[[^\]]*FIRST_SUBNET/],
  ipAddressType: [{ ipAddressType: "dualstack" }, { "ip-address-type": "ipv4" }, /"ipAddressType":"dualstack"/],
  tags: [{ tags: [{ key: "team", value: "class" }] }, { tags: "team=annotation" }, /"team":"class"/],
  targetType: [{ targetType: "instance" }, { "target-type": "ip" }, /"targetType":"instance"/],
  loadBalancerAttributes: [
    { loadBalancerAttributes: [{ key: "idle_timeout.timeout_seconds", value: "62" }] },
    { "load-balancer-attributes": "idle_timeout.timeout_seconds=63" },
    /idle_timeout.timeout_seconds":"62"/,
  ],
  listeners: [
    { listeners: [{ protocol: "HTTP", port: 80, listenerAttributes: [{ key: "routing.http.response.server.enabled", value: "false" }] }] },
    {},
    /routing.http.response.server.enabled":"false"/,
  ],
  minimumLoadBalancerCapacity: [
    { minimumLoadBalancerCapacity: { capacityUnits: 200 } },
    { "minimum-load-balancer-capacity": "CapacityUnits=100" },
    /"capacity":\{[^}]*200/,
  ],
  prefixListsIDs: [
    { prefixListsIDs: ["pl-0000000000000000a"] },
    { "security-group-prefix-lists": "pl-0000000000000000b" },
    /pl-0000000000000000a/,
  ],
  PrefixListsIDs: [{ PrefixListsIDs: ["pl-0000000000000000c"] }, {}, /pl-0000000000000000c/],
};

/** Groups and selectors of namespaces, guards, and address pools, which the account has none of. */
const paramsElsewhere = ["group", "namespaceSelector", "wafv2AclArn", "wafv2AclName", "ipamConfiguration"];

/** In tests of their own: groups, guards, discovery of subnets, the load balancer in front, requested certificates. What a region without Outposts and IPAM cannot have. */
const elsewhere =
  /^(group\.|waf|web-acl|shield|enable-frontend|frontend-|customer-owned|ipam-|create-acm-cert|acm-pca-arn|subnet-discovery)/;

test("there is a case for every annotation", () => {
  const all = [memberTable, backendTable, authTable, familyTable].flatMap((table) => Object.keys(table));
  const expected = all.filter((name) => !elsewhere.test(name));
  assert.deepEqual(Object.keys(cases).toSorted(), expected.toSorted());
});

test("there is a case for every parameter of a class", () => {
  const [{ schema }] = ingressClassParamsDefinition.spec.versions as unknown as [
    { schema: { openAPIV3Schema: { properties: { spec: { properties: object } } } } },
  ];
  const all = Object.keys(schema.openAPIV3Schema.properties.spec.properties);
  assert.deepEqual(Object.keys(params).toSorted(), all.filter((name) => !paramsElsewhere.includes(name)).toSorted());
});

interface Thing {
  readonly arn: string;
  readonly tags: unknown;
  readonly loadBalancerArn?: string;
  readonly listenerArn?: string;
}

/** Everything that was made for an Ingress, as text. */
function madeFor(world: IngressWorld, name: string): string {
  const isOwn = ({ tags }: Thing) => JSON.stringify(tags instanceof Map ? [...tags] : tags).includes(`"default/${name}"`);
  const of = (kind: string) => world.all<Thing>(kind).filter(isOwn);
  const lbs = of("elbv2/load-balancers");
  const listeners = world.all<Thing>("elbv2/listeners").filter(({ loadBalancerArn }) => lbs.some(({ arn }) => arn === loadBalancerArn));
  const rules = world.all<Thing>("elbv2/rules").filter(({ listenerArn }) => listeners.some(({ arn }) => arn === listenerArn));
  const groups = of("ec2/security-groups");
  const text = JSON.stringify([lbs, listeners, rules, of("elbv2/target-groups"), groups]);
  const group = (groups[0] as { readonly id?: string } | undefined)?.id ?? "-";
  const opened = world.all<object>("ec2/security-group-rules").filter((rule) => JSON.stringify(rule).includes(group));
  const bindings = (world.bindings() as readonly { readonly metadata: { readonly labels?: object } }[]).filter(({ metadata }) =>
    JSON.stringify(metadata.labels).includes(`"${name}"`),
  );
  return `${text}${JSON.stringify(opened)}${JSON.stringify(bindings)}`;
}

test("each annotation and each parameter of a class has its effect on the account", async (t) => {
  const world = await ingressWorld({ ipv6: true });
  t.after(() => world.close());
  world.aws.controls.change({ quotas: { applicationLoadBalancers: 100, securityGroups: 500 } as never });
  await world.service("web", { type: "NodePort", ports: [{ name: "http", port: 80, targetPort: 8080, nodePort: 30080 }] });
  await world.pods("web", 1);
  const [certificate = ""] = await world.issue(["x.example.com"]);
  const data = { clientID: Buffer.from("id").toString("base64"), clientSecret: Buffer.from("secret").toString("base64") };
  await world.say("POST", "/api/v1/namespaces/default/secrets", { metadata: { name: "client" }, data });
  const { privateSubnetIds, nodeGroupId } = world.network;
  const filled = (text: string) =>
    text
      .replaceAll("CERTIFICATE", certificate)
      .replaceAll("NODE_GROUP", nodeGroupId)
      .replaceAll("FIRST_SUBNET", privateSubnetIds[0] ?? "")
      .replaceAll("SECOND_SUBNET", privateSubnetIds[1] ?? "")
      .replaceAll("SUBNETS", privateSubnetIds.slice(0, 2).join());
  world.serve();
  const named = Object.entries(cases).map(([key, [annotations, found]], i) => ({ key, name: `case-${i}`, annotations, found }));
  for (const { name, annotations } of named) {
    const paths = ["Prefix / web:80", "ImplementationSpecific /^/regex/(.+)$ web:80", "Exact /answer answer:use-annotation"];
    const given = Object.fromEntries(Object.entries(annotations).map(([key, value]) => [key, filled(value)]));
    await world.ingress(name, { "x.example.com": given["use-regex-path-match"] ? paths : [paths[0]!, paths[2]!] }, given);
  }
  const classed = Object.entries(params).map(([key, [spec, annotations, found]], i) => ({
    key,
    name: `params-${i}`,
    spec,
    annotations,
    found,
  }));
  for (const { name, spec, annotations } of classed) {
    await world.say("POST", "/apis/elbv2.k8s.aws/v1beta1/ingressclassparams", {
      apiVersion: "elbv2.k8s.aws/v1beta1",
      kind: "IngressClassParams",
      metadata: { name },
      spec: JSON.parse(filled(JSON.stringify(spec))) as object,
    });
    const parameters = { apiGroup: "elbv2.k8s.aws", kind: "IngressClassParams", name };
    await world.say("POST", "/apis/networking.k8s.io/v1/ingressclasses", {
      metadata: { name },
      spec: { controller: "ingress.k8s.aws/alb", parameters },
    });
    const given = Object.fromEntries(Object.entries(annotations).map(([key, value]) => [key, filled(value)]));
    await world.ingress(name, { "x.example.com": ["Prefix / web:80"] }, given, name);
  }
  await world.world.advance(20 * 60_000);
  const wrong = [...named, ...classed].flatMap(({ key, name, found }) => {
    const failures = world.events(name).filter((event) => event.includes("Failed"));
    return new RegExp(filled(found.source)).test(madeFor(world, name)) && failures.length === 0 ? [] : [`${key}: ${failures.join("; ")}`];
  });
  assert.deepEqual(wrong, []);
});
