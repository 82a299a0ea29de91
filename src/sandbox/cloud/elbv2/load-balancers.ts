/** Load balancers: made, described, deleted. */
import {
  CreateLoadBalancer$,
  type CreateLoadBalancerInput,
  type CreateLoadBalancerOutput,
  DeleteLoadBalancer$,
  type DeleteLoadBalancerInput,
  DescribeLoadBalancers$,
  type DescribeLoadBalancersInput,
  type DescribeLoadBalancersOutput,
  type LoadBalancer as LoadBalancerAnswer,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { arn } from "../account.ts";
import { hostedZoneId } from "../balancing/hosted-zones.ts";
import { checkedSecurityGroups, defaultGroup } from "../balancing/network.ts";
import { markerPage } from "../balancing/pages.ts";
import { createServiceRole, needsServiceRole } from "../balancing/service-role.ts";
import { needsAddTags, withTags } from "../balancing/tags.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { forgetAssociations } from "../waf/associations.ts";
import { checkedPools } from "./address-pools.ts";
import { removeListener } from "./listeners.ts";
import { checkedIpAddressType } from "./network.ts";
import { checkArn, type Elbv2, type LoadBalancer, listenersOf, loadBalancerAt } from "./state.ts";
import { type LoadBalancerType, TYPES, unmodelled } from "./types.ts";
import { closeZones, describeZone, openZones, type ZoneWish, zonesAsked } from "./zones.ts";

/** How many may be asked for at once. */
const DESCRIBED_AT_ONCE = 20;

/** The operations on load balancers themselves. */
export function loadBalancerOperations(elbv2: Elbv2): Operations {
  return [
    write<CreateLoadBalancerInput, CreateLoadBalancerOutput>(
      CreateLoadBalancer$,
      (input) => ({ LoadBalancers: [describe(elbv2, createLoadBalancer(elbv2, input))] }),
      (input) => [...needsAddTags(input), ...needsServiceRole(elbv2.account)],
    ),
    write<DeleteLoadBalancerInput, object>(DeleteLoadBalancer$, (input) => {
      deleteLoadBalancer(elbv2, checkArn(input.LoadBalancerArn, "loadbalancer"));
      return {};
    }),
    read<DescribeLoadBalancersInput, DescribeLoadBalancersOutput>(DescribeLoadBalancers$, (input) => {
      const { items, NextMarker } = markerPage(elbv2.account, asked(elbv2, input), (loadBalancer) => loadBalancer.arn, input);
      return { LoadBalancers: items.map((loadBalancer) => describe(elbv2, loadBalancer)), NextMarker };
    }),
  ];
}

function asked(elbv2: Elbv2, { LoadBalancerArns: arns = [], Names: names = [] }: DescribeLoadBalancersInput): readonly LoadBalancer[] {
  if (arns.length > 0 && names.length > 0) {
    throw new ServiceError("ValidationError", "Load balancer names and load balancer ARNs cannot be specified at the same time");
  }
  if (arns.length > DESCRIBED_AT_ONCE || names.length > DESCRIBED_AT_ONCE) {
    throw new ServiceError("ValidationError", `At most ${DESCRIBED_AT_ONCE} load balancers can be specified`);
  }
  if (arns.length > 0) return [...new Set(arns)].map((one) => loadBalancerAt(elbv2, one));
  const all = elbv2.loadBalancers.values();
  if (names.length === 0) return all;
  return [...new Set(names)].map((name) => {
    const found = all.find((loadBalancer) => loadBalancer.name === name);
    if (found === undefined) throw new ServiceError("LoadBalancerNotFound", `Load balancers '[${name}]' not found`);
    return found;
  });
}

function createLoadBalancer(elbv2: Elbv2, input: CreateLoadBalancerInput): LoadBalancer {
  const { account } = elbv2;
  const type = typeAsked(elbv2, input);
  const rules = TYPES[type];
  const name = checkedName(input.Name ?? "");
  const scheme = schemeAsked(input);
  const wishes = zonesAsked(account, input, { type, scheme });
  const { vpcId } = wishes[0]!.subnet;
  const tags = withTags({}, input.Tags);
  const guards = checkedSecurityGroups(account, vpcId, input.SecurityGroups ?? []);
  const wish = {
    type,
    scheme,
    vpcId,
    ipAddressType: checkedIpAddressType({ type, scheme }, input.IpAddressType),
    ipv6SourceNat: input.EnablePrefixForIpv6SourceNat ?? "off",
    ipamPoolId: checkedPools({ type, scheme }, input),
    groupIds: guards.length > 0 || !rules.alwaysGuarded ? guards : defaultGroup(account, vpcId),
  };
  const all = elbv2.loadBalancers.values();
  const known = all.find((other) => other.name === name);
  if (known !== undefined) return sameOrRefuse(known, wish, wishes);
  if (all.filter((other) => other.type === type).length >= account.settings().quotas[rules.quota]) {
    throw new ServiceError("TooManyLoadBalancers", "The maximum number of load balancers has been reached");
  }
  const id = account.ids.hex(16);
  const base = { ...wish, name, arn: arn(account, "elasticloadbalancing", `loadbalancer/${rules.path}/${name}/${id}`) };
  const zones = openZones(elbv2, base, wishes);
  createServiceRole(account);
  account.time.after(account.settings().provisioningMs, () => {
    if (elbv2.loadBalancers.has(base.arn)) elbv2.loadBalancers.update(base.arn, { state: "active" });
  });
  return elbv2.loadBalancers.put(base.arn, {
    ...base,
    dnsName: rules.dnsName(account, { name, id, scheme }),
    state: "provisioning",
    zones,
    privateLinkRules: "on",
    attributes: {},
    capacity: undefined,
    created: account.time.now(),
    tags,
  });
}

/** Creating what is there already succeeds when nothing but its tags differs. */
function sameOrRefuse(
  known: LoadBalancer,
  wish: Pick<LoadBalancer, "type" | "scheme" | "vpcId" | "ipAddressType" | "ipv6SourceNat" | "ipamPoolId" | "groupIds">,
  wishes: readonly ZoneWish[],
): LoadBalancer {
  const zones = wishes.every(({ subnet, mapping }) => {
    const zone = known.zones.find((other) => other.subnetId === subnet.id);
    return zone !== undefined && zone.allocationId === mapping.AllocationId && zone.privateAddress === mapping.PrivateIPv4Address;
  });
  const same =
    zones &&
    known.zones.length === wishes.length &&
    known.type === wish.type &&
    known.scheme === wish.scheme &&
    known.ipAddressType === wish.ipAddressType &&
    known.ipv6SourceNat === wish.ipv6SourceNat &&
    known.ipamPoolId === wish.ipamPoolId &&
    [...known.groupIds].sort().join() === [...wish.groupIds].sort().join();
  if (same) return known;
  throw new ServiceError(
    "DuplicateLoadBalancerName",
    `A load balancer with the same name '${known.name}' exists, but with different settings`,
  );
}

function typeAsked(elbv2: Elbv2, { Type: type = "application" }: CreateLoadBalancerInput): LoadBalancerType {
  if (type in TYPES) return type as LoadBalancerType;
  throw unmodelled(elbv2.account, `load balancers of type ${type}`);
}

function schemeAsked({ Scheme: scheme = "internet-facing" }: CreateLoadBalancerInput): LoadBalancer["scheme"] {
  if (scheme !== "internal" && scheme !== "internet-facing") throw new ServiceError("InvalidScheme", `'${scheme}' is not a valid scheme`);
  return scheme;
}

function checkedName(name: string): string {
  const refuse = (why: string) => new ServiceError("ValidationError", `The load balancer name '${name}' ${why}`);
  if (name.length > 32 || name === "") throw refuse("must have between 1 and 32 characters");
  if (!/^[a-zA-Z0-9-]+$/.test(name)) throw refuse("can only contain characters that are alphanumeric characters and hyphens(-)");
  if (name.startsWith("-") || name.endsWith("-")) throw refuse("cannot begin or end with a hyphen(-)");
  if (name.startsWith("internal-")) throw refuse("cannot begin with 'internal-'");
  return name;
}

function deleteLoadBalancer(elbv2: Elbv2, loadBalancerArn: string): void {
  const loadBalancer = elbv2.loadBalancers.get(loadBalancerArn);
  if (loadBalancer === undefined) return;
  if (loadBalancer.attributes["deletion_protection.enabled"] === "true") {
    throw new ServiceError(
      "OperationNotPermitted",
      `Load balancer '${loadBalancerArn}' cannot be deleted because deletion protection is enabled`,
    );
  }
  for (const listener of listenersOf(elbv2, loadBalancerArn)) removeListener(elbv2, listener);
  elbv2.loadBalancers.delete(loadBalancerArn);
  forgetAssociations(elbv2.account, loadBalancerArn);
  closeZones(elbv2, loadBalancer.zones);
}

function describe(elbv2: Elbv2, loadBalancer: LoadBalancer): LoadBalancerAnswer {
  const guarded = loadBalancer.groupIds.length > 0;
  const onNetwork = loadBalancer.type === "network";
  return {
    LoadBalancerArn: loadBalancer.arn,
    DNSName: loadBalancer.dnsName,
    CanonicalHostedZoneId: hostedZoneId(elbv2.account.region, TYPES[loadBalancer.type].zone),
    CreatedTime: new Date(loadBalancer.created),
    LoadBalancerName: loadBalancer.name,
    Scheme: loadBalancer.scheme,
    VpcId: loadBalancer.vpcId,
    State: { Code: loadBalancer.state },
    Type: loadBalancer.type,
    AvailabilityZones: loadBalancer.zones.map(describeZone),
    SecurityGroups: guarded ? [...loadBalancer.groupIds] : undefined,
    IpAddressType: loadBalancer.ipAddressType,
    EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic: guarded && onNetwork ? loadBalancer.privateLinkRules : undefined,
    EnablePrefixForIpv6SourceNat: onNetwork ? loadBalancer.ipv6SourceNat : undefined,
    IpamPools: loadBalancer.ipamPoolId === undefined ? undefined : { Ipv4IpamPoolId: loadBalancer.ipamPoolId },
  };
}
