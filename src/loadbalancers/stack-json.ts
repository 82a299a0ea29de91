/**
 * What an owner asks for, in the form that the reference writes where it only shows a plan: a stack of resources which refer to
 * each other. Lists are sorted, so that the same wish is the same text. Pure.
 */
import {
  type ApplicationListener,
  type ApplicationLoadBalancer,
  type Attributes,
  type Guards,
  managedGroups,
  type NetworkListener,
  type NetworkLoadBalancer,
  type Rule,
  type TargetGroup,
  wantedGroups,
} from "./model.ts";
import type { Action, Condition, ListenerRule, LogIn } from "./routing.ts";
import type { BindingWish } from "./targets/owned-bindings.ts";

const types = {
  securityGroup: "AWS::EC2::SecurityGroup",
  loadBalancer: "AWS::ElasticLoadBalancingV2::LoadBalancer",
  listener: "AWS::ElasticLoadBalancingV2::Listener",
  rule: "AWS::ElasticLoadBalancingV2::ListenerRule",
  targetGroup: "AWS::ElasticLoadBalancingV2::TargetGroup",
  binding: "K8S::ElasticLoadBalancingV2::TargetGroupBinding",
  webAcl: "AWS::WAFv2::WebACLAssociation",
  classicWebAcl: "AWS::WAFRegional::WebACLAssociation",
  shield: "AWS::Shield::Protection",
} as const;

/** Ids of what there is one of. */
const ids = { loadBalancer: "LoadBalancer", securityGroup: "ManagedLBSecurityGroup" } as const;

export interface StackWish {
  readonly model: ApplicationLoadBalancer | NetworkLoadBalancer;
  readonly bindings: readonly BindingWish[];
  /** Stands in bindings for the id of the managed security group, which is known when it stands. */
  readonly managedSource: string;
}

/** The text of a stack with these resources. */
export const stackText = (id: string, resources: object) => JSON.stringify(sorted({ id, resources }));

const ref = (type: string, id: string, field: string) => ({ $ref: `#/resources/${type}/${id}/status/${field}` });
const loadBalancerRef = ref(types.loadBalancer, ids.loadBalancer, "loadBalancerARN");
const groupRef = ref(types.securityGroup, ids.securityGroup, "groupID");

/** Resources by type and id. */
export function stackResources({ model, bindings, managedSource }: StackWish): object {
  const idOf = (name: string) => model.targetGroups.find((each) => each.name === name)?.part ?? name;
  const arnOf = (name: string) => ref(types.targetGroup, idOf(name), "targetGroupARN");
  const { guards, settings, rules } = ofKind(model);
  const ofBalancer = (spec: object) => ({ [ids.loadBalancer]: { spec: { ...spec, resourceARN: loadBalancerRef } } });
  const specs = (pairs: readonly (readonly [string, object])[]) => Object.fromEntries(pairs.map(([id, spec]) => [id, { spec }]));
  const all = {
    [types.securityGroup]: specs(
      managedGroups(model).map(({ name, description, tags, rules }) => [
        ids.securityGroup,
        { groupName: name, description, tags, ingress: rules.map(permission).toSorted(byText) },
      ]),
    ),
    [types.loadBalancer]: specs([[ids.loadBalancer, loadBalancerSpec(model, settings)]]),
    [types.listener]: specs(model.listeners.map((listener) => [String(listener.port), listenerSpec(listener, arnOf)])),
    [types.rule]: specs(rules.map(([port, rule]) => [`${port}:${rule.priority}`, ruleSpec(port, rule, arnOf)])),
    [types.targetGroup]: specs(model.targetGroups.map((each) => [idOf(each.name), targetGroupSpec(each)])),
    [types.binding]: specs(
      bindings.map(({ namespace, name, targetGroup, spec }) => [
        idOf(targetGroup),
        {
          template: {
            metadata: { name, namespace },
            spec: withManagedGroup({ ...spec, targetGroupARN: arnOf(targetGroup) }, managedSource),
          },
        },
      ]),
    ),
    ...(guards.webAcl !== undefined && { [types.webAcl]: ofBalancer({ webACLARN: guards.webAcl }) }),
    ...(guards.classicWebAcl !== undefined && { [types.classicWebAcl]: ofBalancer({ webACLID: guards.classicWebAcl }) }),
    ...(guards.shield !== undefined && { [types.shield]: ofBalancer({ enabled: guards.shield }) }),
  };
  return Object.fromEntries(Object.entries(all).filter(([, some]) => Object.keys(some).length > 0));
}

/** What only load balancers of one kind have, by kind. */
const kinds = {
  application: ({ guards = {}, listeners, customerOwnedIpv4Pool, ipv4IpamPool }: ApplicationLoadBalancer) => ({
    guards,
    rules: listeners.flatMap(({ port, rules }) => rules.map((rule) => [port, rule] as const)),
    settings: { customerOwnedIPv4Pool: customerOwnedIpv4Pool, ipv4IPAMPool: ipv4IpamPool },
  }),
  network: ({ sourceNat, privateLinkRules }: NetworkLoadBalancer) => ({
    guards: {},
    rules: [],
    settings: {
      enablePrefixForIpv6SourceNat: sourceNat === undefined ? undefined : sourceNat ? "on" : "off",
      securityGroupsInboundRulesOnPrivateLink: privateLinkRules,
    },
  }),
};

interface OfKind {
  readonly guards: Guards;
  readonly rules: readonly (readonly [number, ListenerRule])[];
  readonly settings: object;
}

const ofKind = (model: StackWish["model"]) => (kinds[model.kind] as (of: StackWish["model"]) => OfKind)(model);

/** The managed group is known by its id when it stands. */
const withManagedGroup = (spec: object, managedSource: string): unknown =>
  JSON.parse(JSON.stringify(spec), (_, value: unknown) => (value === managedSource ? groupRef : value));

function permission({ protocol, fromPort, toPort, cidr, prefixList }: Rule): object {
  const source = prefixList
    ? { prefixLists: [{ listID: prefixList }] }
    : cidr?.includes(":")
      ? { ipv6Ranges: [{ cidrIPv6: cidr }] }
      : { ipRanges: [{ cidrIP: cidr }] };
  return { ipProtocol: protocol, fromPort, toPort, ...source };
}

const pairs = (attributes: Attributes) =>
  Object.entries(attributes)
    .map(([key, value]) => ({ key, value }))
    .toSorted(byText);

function loadBalancerSpec(model: StackWish["model"], settings: object): object {
  return {
    name: model.name,
    type: model.kind,
    scheme: model.internal ? "internal" : "internet-facing",
    ipAddressType: model.addressType,
    subnetMapping: model.subnets.map((mapping) => ({
      subnetID: mapping.subnet,
      allocationID: mapping.allocation,
      privateIPv4Address: mapping.privateIpv4Address,
      ipv6Address: mapping.ipv6Address,
      sourceNatIpv6Prefix: mapping.sourceNatIpv6Prefix,
    })),
    securityGroups: wantedGroups(model).map((entry) => (entry.kind === "given" ? entry.id : groupRef)),
    ...settings,
    loadBalancerAttributes: pairs(model.attributes),
    minimumLoadBalancerCapacity: model.capacity === undefined ? undefined : { capacityUnits: model.capacity },
    tags: model.tags,
  };
}

type ArnOf = (name: string) => object;

function listenerSpec(listener: ApplicationListener | NetworkListener, arnOf: ArnOf): object {
  const { port, protocol, certificates, sslPolicy } = listener;
  const mutualTls = "mutualTls" in listener ? listener.mutualTls : undefined;
  const actions: readonly Action[] = "forward" in listener ? [listener.forward] : listener.defaultActions;
  return {
    loadBalancerARN: loadBalancerRef,
    port,
    protocol,
    defaultActions: actions.map((action) => actionJson(action, arnOf)),
    certificates: certificates.map((certificateARN) => ({ certificateARN })),
    sslPolicy,
    alpnPolicy: "alpnPolicy" in listener && listener.alpnPolicy ? [listener.alpnPolicy] : undefined,
    mutualAuthentication: mutualTls && {
      mode: mutualTls.mode,
      ...(mutualTls.mode === "verify" && {
        trustStoreArn: mutualTls.trustStore,
        ignoreClientCertificateExpiry: mutualTls.ignoresExpiry,
        advertiseTrustStoreCaNames: mutualTls.advertisesNames ? "on" : "off",
      }),
    },
    listenerAttributes: pairs(listener.attributes),
    tags: listener.untagged ? undefined : listener.tags,
  };
}

function ruleSpec(port: number, { priority, conditions, actions, transforms, tags, untagged }: ListenerRule, arnOf: ArnOf): object {
  return {
    listenerARN: ref(types.listener, String(port), "listenerARN"),
    priority,
    conditions: conditions.map(conditionJson),
    actions: actions.map((action) => actionJson(action, arnOf)),
    transforms: transforms.map(({ kind, rewrites }) => ({
      type: kind,
      [kind === "url-rewrite" ? "urlRewriteConfig" : "hostHeaderRewriteConfig"]: { rewrites },
    })),
    tags: untagged ? undefined : tags,
  };
}

function targetGroupSpec(group: TargetGroup): object {
  const { healthCheck: check } = group;
  return {
    name: group.name,
    targetType: group.targetType,
    port: group.port,
    protocol: group.protocol,
    protocolVersion: group.protocolVersion,
    ipAddressType: group.addressType ?? "ipv4",
    targetControlPort: group.controlPort,
    healthCheckConfig: {
      port: /^\d+$/.test(check.port) ? Number(check.port) : check.port,
      protocol: check.protocol,
      path: check.path,
      matcher: check.matcher && { [check.matcher.kind === "grpc" ? "grpcCode" : "httpCode"]: check.matcher.codes },
      intervalSeconds: check.interval,
      timeoutSeconds: check.timeout,
      healthyThresholdCount: check.healthyThreshold,
      unhealthyThresholdCount: check.unhealthyThreshold,
    },
    targetGroupAttributes: pairs(group.attributes),
    tags: group.tags,
  };
}

const configNames = {
  "host-header": "hostHeaderConfig",
  "path-pattern": "pathPatternConfig",
  "http-header": "httpHeaderConfig",
  "http-request-method": "httpRequestMethodConfig",
  "query-string": "queryStringConfig",
  "source-ip": "sourceIPConfig",
} as const;

function conditionJson(condition: Condition): object {
  const { field, values } = condition;
  const key = "match" in condition && condition.match === "regex" ? "regexValues" : "values";
  const header = field === "http-header" ? { httpHeaderName: condition.header } : {};
  return { field, [configNames[field]]: { ...header, [key]: values } };
}

/** What nobody may read is never in it. */
const redacted = "[REDACTED]";

function actionJson(action: Action, arnOf: ArnOf): object {
  switch (action.kind) {
    case "forward":
      return {
        type: action.kind,
        forwardConfig: {
          targetGroups: action.to.map(({ group, arn, weight }) => ({ targetGroupARN: group === undefined ? arn : arnOf(group), weight })),
          targetGroupStickinessConfig: action.stickiness && {
            enabled: action.stickiness.enabled,
            durationSeconds: action.stickiness.seconds,
          },
        },
      };
    case "redirect": {
      const { kind, status, ...rest } = action;
      return { type: kind, redirectConfig: { ...rest, statusCode: status } };
    }
    case "fixed-response":
      return {
        type: action.kind,
        fixedResponseConfig: { contentType: action.contentType, messageBody: action.body, statusCode: action.status },
      };
    case "authenticate-cognito": {
      const { userPoolArn: userPoolARN, userPoolClientId: userPoolClientID, userPoolDomain } = action;
      return { type: action.kind, authenticateCognitoConfig: { ...logIn(action), userPoolARN, userPoolClientID, userPoolDomain } };
    }
    case "authenticate-oidc": {
      const { issuer, authorizationEndpoint, tokenEndpoint, userInfoEndpoint } = action;
      const endpoints = { issuer, authorizationEndpoint, tokenEndpoint, userInfoEndpoint };
      return { type: action.kind, authenticateOIDCConfig: { ...logIn(action), ...endpoints, clientID: redacted, clientSecret: redacted } };
    }
    case "jwt-validation":
      return {
        type: action.kind,
        jwtValidationConfig: { issuer: action.issuer, jwksEndpoint: action.jwksEndpoint, additionalClaims: action.claims },
      };
  }
}

const logIn = ({ scope, sessionCookie, sessionSeconds, onUnauthenticated, extraParameters }: LogIn) => ({
  authenticationRequestExtraParams: extraParameters,
  onUnauthenticatedRequest: onUnauthenticated,
  scope,
  sessionCookieName: sessionCookie,
  sessionTimeout: sessionSeconds,
});

function byText(a: object, b: object): number {
  const [first, second] = [JSON.stringify(a), JSON.stringify(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** Keys in order, and nothing that is empty but a record of nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const full = Object.entries(value).filter(([, part]) => part !== undefined && !(Array.isArray(part) && part.length === 0));
  return Object.fromEntries(full.map(([key, part]) => [key, sorted(part)] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
