/** Classic load balancers: made, described, deleted. */

import { isDeepStrictEqual } from "node:util";
import {
  type CreateAccessPointInput,
  type CreateAccessPointOutput,
  CreateLoadBalancer$,
  type DeleteAccessPointInput,
  DeleteLoadBalancer$,
  type DescribeAccessPointsInput,
  type DescribeAccessPointsOutput,
  DescribeLoadBalancers$,
  type LoadBalancerDescription,
} from "@aws-sdk/client-elastic-load-balancing";
import { hostedZoneId } from "../balancing/hosted-zones.ts";
import { checkedSecurityGroups, checkedSubnets, defaultGroup, releaseInterfaces } from "../balancing/network.ts";
import { markerPage } from "../balancing/pages.ts";
import { createServiceRole, needsServiceRole } from "../balancing/service-role.ts";
import { needsAddTags, withTags } from "../balancing/tags.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { DEFAULT_ATTRIBUTES } from "./attributes.ts";
import { present } from "./instances.ts";
import { addListeners, sameListener, withDefaultPolicies } from "./listeners.ts";
import { defaultSubnet, openInterfaces, zonesOf } from "./network.ts";
import { type ClassicLoadBalancer, type Elb, loadBalancerNamed, type Policy } from "./state.ts";

/** The operations on load balancers themselves. */
export function loadBalancerOperations(elb: Elb): Operations {
  return [
    write<CreateAccessPointInput, CreateAccessPointOutput>(
      CreateLoadBalancer$,
      (input) => ({ DNSName: createLoadBalancer(elb, input).dnsName }),
      (input) => [...needsAddTags(input), ...needsServiceRole(elb.account)],
    ),
    write<DeleteAccessPointInput, object>(DeleteLoadBalancer$, (input) => {
      const loadBalancer = elb.loadBalancers.get(input.LoadBalancerName!);
      if (loadBalancer === undefined) return {};
      elb.loadBalancers.delete(loadBalancer.name);
      releaseInterfaces(elb.account, Object.values(loadBalancer.interfaceIds));
      return {};
    }),
    read<DescribeAccessPointsInput, DescribeAccessPointsOutput>(DescribeLoadBalancers$, (input) => {
      const asked = input.LoadBalancerNames?.length
        ? input.LoadBalancerNames.map((name) => loadBalancerNamed(elb, name))
        : elb.loadBalancers.values();
      const { items, NextMarker } = markerPage(elb.account, asked, (loadBalancer) => loadBalancer.name, input);
      return { LoadBalancerDescriptions: items.map((loadBalancer) => describe(elb, loadBalancer)), NextMarker };
    }),
  ];
}

function createLoadBalancer(elb: Elb, input: CreateAccessPointInput): ClassicLoadBalancer {
  const { account } = elb;
  const name = checkedName(input.LoadBalancerName ?? "");
  const scheme = schemeOf(input);
  const subnets = checkedSubnets(account, subnetsAsked(elb, input), scheme === "internet-facing");
  const { vpcId } = subnets[0]!;
  const groupIds = input.SecurityGroups?.length
    ? checkedSecurityGroups(account, vpcId, input.SecurityGroups)
    : defaultGroup(account, vpcId);
  if (!input.Listeners?.length) throw new ServiceError("ValidationError", "Listeners is empty");
  const listeners = addListeners(elb, [], input.Listeners);
  const tags = withTags({}, input.Tags);
  const subnetIds = subnets.map((subnet) => subnet.id);
  const known = elb.loadBalancers.get(name);
  if (known !== undefined) return sameOrRefuse(known, { scheme, subnetIds, groupIds, listeners, tags });
  if (elb.loadBalancers.size >= account.settings().quotas.classicLoadBalancers) {
    throw new ServiceError("TooManyLoadBalancers", "Exceeded quota of account");
  }
  const interfaceIds = openInterfaces(elb, { name, scheme, groupIds }, subnets);
  createServiceRole(account);
  return elb.loadBalancers.put(name, {
    name,
    dnsName: dnsName(elb, name, scheme),
    scheme,
    vpcId,
    subnetIds,
    interfaceIds,
    groupIds,
    listeners,
    policies: withDefaultPolicies([], listeners),
    backendPolicies: {},
    healthCheck: {
      Target: `TCP:${listeners[0]!.instancePort}`,
      Interval: 30,
      Timeout: 5,
      UnhealthyThreshold: 2,
      HealthyThreshold: 10,
    },
    instances: [],
    attributes: DEFAULT_ATTRIBUTES,
    created: account.time.now(),
    tags,
  });
}

/** Creating what is there already succeeds when nothing about it differs. */
function sameOrRefuse(
  known: ClassicLoadBalancer,
  wish: Pick<ClassicLoadBalancer, "scheme" | "subnetIds" | "groupIds" | "listeners" | "tags">,
): ClassicLoadBalancer {
  const differs = (what: string) =>
    new ServiceError(
      "DuplicateLoadBalancerName",
      `Load Balancer named ${known.name} already exists and it is configured with different ${what}`,
    );
  const sameListeners =
    known.listeners.length === wish.listeners.length &&
    known.listeners.every((listener) => wish.listeners.some((other) => sameListener(listener, other)));
  const samePlace = known.scheme === wish.scheme && sameSet(known.subnetIds, wish.subnetIds) && sameSet(known.groupIds, wish.groupIds);
  if (!sameListeners || !samePlace) throw differs("parameters");
  if (!isDeepStrictEqual(known.tags, wish.tags)) throw differs("tags");
  return known;
}

function sameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item) => other.includes(item));
}

function checkedName(name: string): string {
  if (!/^[a-zA-Z0-9-]{1,32}$/.test(name) || name.startsWith("-") || name.endsWith("-")) {
    throw new ServiceError(
      "ValidationError",
      `Load balancer name '${name}' must have 1 to 32 letters, digits or hyphens, and not begin or end with a hyphen`,
    );
  }
  return name;
}

function schemeOf({ Scheme: scheme = "internet-facing" }: CreateAccessPointInput): ClassicLoadBalancer["scheme"] {
  if (scheme !== "internal" && scheme !== "internet-facing") throw new ServiceError("InvalidScheme", `'${scheme}' is not a valid scheme`);
  return scheme;
}

function subnetsAsked(elb: Elb, input: CreateAccessPointInput): readonly string[] {
  const { Subnets: subnets = [], AvailabilityZones: zones = [] } = input;
  if (subnets.length > 0 && zones.length > 0) {
    throw new ServiceError("ValidationError", "Only one of SubnetIds or AvailabilityZones may be specified");
  }
  if (subnets.length === 0 && zones.length === 0) {
    throw new ServiceError("ValidationError", "Either AvailabilityZones or SubnetIds must be specified");
  }
  return subnets.length > 0 ? subnets : zones.map((zone) => defaultSubnet(elb, zone).id);
}

function dnsName(elb: Elb, name: string, scheme: ClassicLoadBalancer["scheme"]): string {
  const { account } = elb;
  const number = Number.parseInt(account.ids.hex(8), 16);
  return `${scheme === "internal" ? "internal-" : ""}${name}-${number}.${account.region}.elb.${account.dnsSuffix}`;
}

function describe(elb: Elb, loadBalancer: ClassicLoadBalancer): LoadBalancerDescription {
  const { account } = elb;
  const policiesOf = (type: string) => loadBalancer.policies.filter((policy) => policy.type === type);
  const cookies = ["AppCookieStickinessPolicyType", "LBCookieStickinessPolicyType"];
  return {
    LoadBalancerName: loadBalancer.name,
    DNSName: loadBalancer.dnsName,
    CanonicalHostedZoneName: loadBalancer.scheme === "internal" ? undefined : loadBalancer.dnsName,
    CanonicalHostedZoneNameID: hostedZoneId(account.region, "regional"),
    ListenerDescriptions: loadBalancer.listeners.map((listener) => ({
      Listener: {
        Protocol: listener.protocol,
        LoadBalancerPort: listener.port,
        InstanceProtocol: listener.instanceProtocol,
        InstancePort: listener.instancePort,
        SSLCertificateId: listener.certificate,
      },
      PolicyNames: [...listener.policyNames],
    })),
    Policies: {
      AppCookieStickinessPolicies: policiesOf(cookies[0]!).map((policy) => ({ PolicyName: policy.name, CookieName: firstValue(policy) })),
      LBCookieStickinessPolicies: policiesOf(cookies[1]!).map((policy) => {
        const period = firstValue(policy);
        return { PolicyName: policy.name, CookieExpirationPeriod: period === undefined ? undefined : Number(period) };
      }),
      OtherPolicies: loadBalancer.policies.filter((policy) => !cookies.includes(policy.type)).map((policy) => policy.name),
    },
    BackendServerDescriptions: Object.entries(loadBalancer.backendPolicies).map(([port, names]) => ({
      InstancePort: Number(port),
      PolicyNames: [...names],
    })),
    AvailabilityZones: zonesOf(elb, loadBalancer),
    Subnets: [...loadBalancer.subnetIds],
    VPCId: loadBalancer.vpcId,
    Instances: present(elb, loadBalancer).map(({ id }) => ({ InstanceId: id })),
    HealthCheck: loadBalancer.healthCheck,
    SourceSecurityGroup: {
      OwnerAlias: account.id,
      GroupName: account.ec2.securityGroups.get(loadBalancer.groupIds[0] ?? "")?.name,
    },
    SecurityGroups: [...loadBalancer.groupIds],
    CreatedTime: new Date(loadBalancer.created),
    Scheme: loadBalancer.scheme,
  };
}

function firstValue(policy: Policy): string | undefined {
  return policy.attributes[0]?.value;
}
