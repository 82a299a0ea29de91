/** The LoadBalancerConfiguration of the Gateway that takes the place of an Ingress. Pure. */
import type { ListenerConfiguration, LoadBalancerSettings, MutualAuthentication } from "../../loadbalancers/gateway/config.ts";
import { hostsOf } from "../../loadbalancers/ingress/certificates.ts";
import type { MemberOptions } from "../../loadbalancers/ingress/member.ts";
import {
  type ApplicationListener,
  type ApplicationLoadBalancer,
  managedGroups,
  type Rule,
  wantedGroups,
} from "../../loadbalancers/model.ts";
import { given, type Lose, lostAnnotation, membersOf, pairsOf, type TranslationInput, userTags } from "./translation.ts";

export function loadBalancerSettings(input: TranslationInput, lose: Lose): LoadBalancerSettings {
  const { desire, sources } = input;
  const { model } = desire;
  const members = membersOf(input);
  for (const member of members) loseUnknown(member, lose);
  return given({
    scheme: model.internal ? ("internal" as const) : ("internet-facing" as const),
    ipAddressType: model.addressType === "ipv4" ? undefined : model.addressType,
    ...subnetsOf(input, members),
    ...securityGroupsOf(input, members, lose),
    loadBalancerAttributes: pairsOf(model.attributes),
    tags: userTags(model.tags, sources),
    customerOwnedIpv4Pool: model.customerOwnedIpv4Pool,
    ipv4IPAMPoolId: model.ipv4IpamPool,
    minimumLoadBalancerCapacity: model.capacity ? { capacityUnits: model.capacity } : undefined,
    wafV2: model.guards?.webAcl ? { webACL: model.guards.webAcl } : undefined,
    shieldConfiguration: model.guards?.shield ? { enabled: true } : undefined,
    listenerConfigurations: listenersOf(input, members),
  });
}

interface Unknown {
  readonly name: Extract<keyof MemberOptions["values"], string>;
  readonly isMeant?: (value: unknown, member: MemberOptions) => boolean;
  readonly advice: string;
  /** Where the two load balancers differ by it. */
  readonly explains?: string;
}

/** Annotations that no configuration of a Gateway has a field for. */
const unknowns: readonly Unknown[] = [
  {
    name: "enable-frontend-nlb",
    isMeant: (value) => value === true,
    advice:
      "a Gateway has no load balancer in front: apply a Gateway of a class with controllerName gateway.k8s.aws/nlb whose TCPRoutes have this Gateway as their backend",
  },
  {
    name: "subnet-discovery",
    isMeant: (value) => value === "always",
    advice: "a Gateway discovers its subnets once: name them in loadBalancerSubnets, and change them there",
  },
  {
    name: "wafv2-acl-association",
    isMeant: (value) => value === "if-none",
    explains: "keepsOtherWebAcl",
    advice:
      "a Gateway replaces a web ACL of somebody else's: leave wafV2 out of the LoadBalancerConfiguration where another one manages it",
  },
  {
    name: "waf-acl-id",
    explains: "classicWebAcl",
    isMeant: (value) => value !== "none",
    advice: "a Gateway knows no WAF Classic: move to a web ACL of WAFv2, and name it in wafV2.webACL",
  },
  {
    name: "web-acl-id",
    explains: "classicWebAcl",
    isMeant: (value) => value !== "none",
    advice: "a Gateway knows no WAF Classic: move to a web ACL of WAFv2, and name it in wafV2.webACL",
  },
  {
    name: "create-acm-cert",
    isMeant: (_value, { requestsCertificate }) => requestsCertificate,
    advice:
      "no certificate is requested for a Gateway, and the one of the Ingress is deleted with it: request one of your own, and name it in listenerConfigurations before the Ingress goes",
  },
];

function loseUnknown(member: MemberOptions, lose: Lose): void {
  for (const { name, isMeant = () => true, advice, explains } of unknowns) {
    const value = member.values[name];
    if (value !== undefined && isMeant(value, member)) lose(member.key, lostAnnotation(member, name, advice), explains);
  }
}

function subnetsOf({ desire, pins }: TranslationInput, members: readonly MemberOptions[]): LoadBalancerSettings {
  const identified = (names: readonly string[]) => ({ loadBalancerSubnets: names.map((identifier) => ({ identifier })) });
  if (pins.has("subnets")) return identified(desire.model.subnets.map(({ subnet }) => subnet));
  for (const { member, values } of members) {
    const { ids, tags } = member.params?.subnets ?? {};
    if (ids) return identified(ids);
    if (tags) return { loadBalancerSubnetsSelector: tags };
    if (values.subnets) return identified(values.subnets);
  }
  return {};
}

function securityGroupsOf(
  { desire: { model }, sources }: TranslationInput,
  members: readonly MemberOptions[],
  lose: Lose,
): LoadBalancerSettings {
  const [managed] = managedGroups(model);
  if (managed) return sourcesOf(managed.rules, model, members, lose);
  const ids = wantedGroups(model).flatMap((each) => (each.kind === "given" ? [each.id] : []));
  const isManaging = sources.backendGroup !== undefined && ids.includes(sources.backendGroup);
  return given({
    securityGroups: ids.filter((id) => id !== sources.backendGroup),
    manageBackendSecurityGroupRules: isManaging ? true : undefined,
  });
}

/** Whom the managed group lets in: a Gateway says it of all its listeners at once. */
function sourcesOf(
  rules: readonly Rule[],
  { listeners, addressType }: ApplicationLoadBalancer,
  members: readonly MemberOptions[],
  lose: Lose,
): LoadBalancerSettings {
  const ofPort = (port: number) => rules.filter(({ fromPort }) => fromPort === port);
  const texts = new Set(
    listeners.map(({ port }) =>
      JSON.stringify(
        ofPort(port)
          .map(({ cidr, prefixList }) => cidr ?? prefixList)
          .toSorted(),
      ),
    ),
  );
  if (texts.size > 1) {
    for (const member of members)
      for (const name of ["inbound-cidrs", "security-group-prefix-lists"] as const)
        if (member.values[name] !== undefined)
          lose(
            member.key,
            lostAnnotation(
              member,
              name,
              "a Gateway lets the same clients reach all its listeners, so nobody is let in: write sourceRanges that fit all of them, or securityGroups",
            ),
            "securityGroups",
          );
    return { sourceRanges: [] };
  }
  const own = ofPort(listeners[0]?.port ?? 0);
  const cidrs = own.flatMap(({ cidr }) => cidr ?? []);
  const prefixLists = own.flatMap(({ prefixList }) => prefixList ?? []);
  const everybody = addressType === "ipv4" ? "0.0.0.0/0" : "0.0.0.0/0,::/0";
  const isOpen = prefixLists.length === 0 && cidrs.toSorted().join() === everybody;
  return given({
    // Blocks of IPv6 are left out where there are no such addresses; the one who wrote them may add those later.
    sourceRanges: isOpen ? undefined : cidrs,
    securityGroupPrefixes: prefixLists.length > 0 ? prefixLists : undefined,
  });
}

function listenersOf(input: TranslationInput, members: readonly MemberOptions[]): readonly ListenerConfiguration[] | undefined {
  const all = input.desire.model.listeners.flatMap((listener): ListenerConfiguration[] => {
    const protocolPort = `${listener.protocol}:${listener.port}`;
    const config = given({
      ...certificatesOf(listener, input, members),
      sslPolicy: listener.sslPolicy === input.sources.settings.defaultSslPolicy ? undefined : listener.sslPolicy,
      mutualAuthentication: mutualTlsOf(listener),
      listenerAttributes: pairsOf(listener.attributes),
    });
    return Object.keys(config).length > 0 ? [{ protocolPort, ...config }] : [];
  });
  return all.length > 0 ? all : undefined;
}

/** What is found by host names goes on being found by them. */
function certificatesOf({ port, certificates }: ApplicationListener, { pins }: TranslationInput, members: readonly MemberOptions[]) {
  const users = members.filter(({ ports }) => ports.has(port));
  const isFound = users.every(({ certificates: named, requestsCertificate }) => named.length === 0 && !requestsCertificate);
  const routed = (member: MemberOptions) => member.member.ingress.rules.map(({ host }) => host);
  const isFoundAgain = users.every((user) => hostsOf(user.member.ingress).every((host) => routed(user).includes(host)));
  const [defaultCertificate, ...others] = certificates;
  if (defaultCertificate === undefined || (isFound && isFoundAgain && !pins.has("certificates"))) return {};
  return { defaultCertificate, ...(others.length > 0 && { certificates: others }) };
}

function mutualTlsOf({ mutualTls }: ApplicationListener): MutualAuthentication | undefined {
  if (mutualTls === undefined || mutualTls.mode === "off") return undefined;
  if (mutualTls.mode !== "verify") return { mode: mutualTls.mode };
  const { mode, trustStore, ignoresExpiry, advertisesNames } = mutualTls;
  return {
    mode,
    trustStore,
    ...(ignoresExpiry && { ignoreClientCertificateExpiry: true }),
    ...(advertisesNames && { advertiseTrustStoreCaNames: "on" as const }),
  };
}
