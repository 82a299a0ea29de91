/** What a binding lets in to its targets: which security groups, and which rules in each. */
import type { Ask } from "../../aws/ask.ts";
import type { Cloud } from "../../aws/cloud.ts";
import type { NetworkInterface } from "../../aws/instance.ts";
import type { SecurityGroup } from "../../aws/security-groups.ts";
import type { SeenNode } from "../../identity/node-view.ts";
import { parseProviderId } from "../../identity/provider-id.ts";
import type { Frozen } from "../../kube/resource.ts";
import { contains, formatCidr, parseAddress, parseCidr } from "../../runtime/ip.ts";
import type { EndpointRule } from "../groups/endpoint-rules.ts";
import type { EndpointClaim } from "../groups/endpoint-rules-writer.ts";
import type { BindingSpec, NetworkingPeer, NetworkingPort } from "./binding.ts";
import type { Endpoint } from "./endpoints.ts";

export interface NetworkingParts {
  readonly cloud: Cloud;
  readonly vpc: string;
  readonly clusterTag: string;
  /** Tags that a group must have, too, where an interface has several. */
  readonly groupTags: Readonly<Record<string, string>>;
  node(name: string): SeenNode | undefined;
}

export interface NetworkingWish {
  readonly claim: EndpointClaim;
  /** Targets whose groups are not known, and rules that cannot be. Everything else is in the claim. */
  readonly problems: readonly string[];
}

/** Which interfaces an instance has hardly changes; which addresses they have does, and is asked again where one is missing. */
const instanceAgeMs = 10 * 60_000;

export async function networkingOf(
  spec: Frozen<BindingSpec>,
  endpoints: readonly Endpoint[],
  parts: NetworkingParts,
  ask: Ask,
): Promise<NetworkingWish> {
  const found = await Promise.all(
    endpoints.map(async (endpoint) => ({ endpoint, at: await interfaceOf(endpoint, spec.targetType === "ip", parts, ask) })),
  );
  const severalGroups = new Set(found.flatMap(({ at }) => (at.kind === "found" && at.groups.length > 1 ? at.groups : [])));
  const groups =
    severalGroups.size === 0 ? [] : await parts.cloud.securityGroups.list([{ name: "group-id", values: [...severalGroups] }], ask);
  const problems = new Set<string>();
  const byGroup = new Map<string, Endpoint[]>();
  for (const { endpoint, at } of found) {
    if (at.kind === "none") continue;
    const chosen = at.kind === "found" ? groupOf(at, groups, parts) : { why: at.why };
    if ("why" in chosen) problems.add(chosen.why);
    else byGroup.set(chosen.id, [...(byGroup.get(chosen.id) ?? []), endpoint]);
  }
  const claim = new Map<string, readonly EndpointRule[]>();
  for (const [id, some] of byGroup) {
    const { rules, problems: odd } = rulesFor(spec, some);
    claim.set(id, rules);
    for (const each of odd) problems.add(each);
  }
  return { claim, problems: [...problems] };
}

/** Rule by peer by port. A port by name is that of the containers behind the group. Pure. */
export function rulesFor(
  { networking, targetType }: Pick<Frozen<BindingSpec>, "networking" | "targetType">,
  endpoints: readonly Endpoint[],
): { readonly rules: readonly EndpointRule[]; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const rules: EndpointRule[] = [];
  for (const [i, { from, ports }] of (networking?.ingress ?? []).entries()) {
    // Its documentation says all of TCP, the reference lets nothing in: whoever means all says so.
    if (ports.length === 0 && from.length > 0)
      problems.push(`spec.networking.ingress[${i}].ports is empty: nothing is allowed; write [{protocol: TCP}] for all ports of TCP`);
    for (const peer of from) {
      const source = sourceOf(peer);
      if (source === undefined) {
        problems.push(`spec.networking.ingress[${i}].from: ${JSON.stringify(peer.ipBlock?.cidr)} is not a CIDR block`);
        continue;
      }
      for (const port of ports) {
        const numbers = numbersOf(port, targetType === "ip", endpoints);
        if ("why" in numbers) problems.push(numbers.why);
        else
          for (const [fromPort, toPort] of numbers.ranges)
            rules.push({ protocol: port.protocol === "UDP" ? "udp" : "tcp", fromPort, toPort, source });
      }
    }
  }
  return { rules, problems };
}

/** What a binding lets in, whichever groups its targets have; a port by name may be any of a pod's. Pure. */
export function possibleRules({ networking, targetType }: Pick<Frozen<BindingSpec>, "networking" | "targetType">): readonly EndpointRule[] {
  return (networking?.ingress ?? []).flatMap(({ from, ports }) =>
    from.flatMap((peer) => {
      const source = sourceOf(peer);
      if (source === undefined) return [];
      const possible = targetType === "ip" ? ports : ports.filter(({ port }) => typeof port !== "string");
      return possible.map(({ protocol, port }): EndpointRule => {
        const [fromPort, toPort] = typeof port === "number" ? [port, port] : [0, 65_535];
        return { protocol: protocol === "UDP" ? "udp" : "tcp", fromPort, toPort, source };
      });
    }),
  );
}

/** A block as AWS writes it, whatever host bits it was given with; undefined when it is none. */
function sourceOf({ ipBlock, securityGroup }: Frozen<NetworkingPeer>): EndpointRule["source"] | undefined {
  if (ipBlock === undefined) return { kind: "group", id: securityGroup?.groupID ?? "" };
  const block = parseCidr(ipBlock.cidr);
  return block && { kind: "cidr", cidr: formatCidr(block) };
}

type Numbers = { readonly ranges: readonly (readonly [number, number])[] } | { readonly why: string };

function numbersOf({ port }: NetworkingPort, isIp: boolean, endpoints: readonly Endpoint[]): Numbers {
  if (port === undefined) return { ranges: [[0, 65_535]] };
  if (typeof port === "number") return { ranges: [[port, port]] };
  if (!isIp) return { why: `named ports can only be used with pod endpoints: ${port}` };
  const lacking = endpoints.find(({ pod }) => pod?.ports[port] === undefined);
  const numbers = new Set(endpoints.flatMap(({ pod }) => pod?.ports[port] ?? []));
  if (numbers.size === 0) return { why: `pod ${lacking?.pod?.metadata.name ?? "?"} has no port named ${port}` };
  return { ranges: [...numbers].map((number) => [number, number] as const) };
}

type Attached =
  | { readonly kind: "found"; readonly id: string; readonly groups: readonly string[] }
  /** There is nothing in AWS that lets anything in to it. */
  | { readonly kind: "none" }
  | { readonly kind: "unknown"; readonly why: string };

const computeType = "eks.amazonaws.com/compute-type";

/** The network interface that a target is reached by. */
async function interfaceOf({ id, pod }: Endpoint, isIp: boolean, parts: NetworkingParts, ask: Ask): Promise<Attached> {
  if (!isIp) {
    const primary = (await interfacesOf(id, parts, ask, instanceAgeMs)).find(({ attachment }) => attachment?.deviceIndex === 0);
    return primary ? attached(primary) : { kind: "unknown", why: `cannot resolve node ENI for nodes: [${id}]` };
  }
  const node = pod && parts.node(pod.node);
  const unknown = { kind: "unknown", why: `cannot resolve pod ENI for pods: [${pod?.metadata.namespace}/${pod?.metadata.name}]` } as const;
  if (pod === undefined || node === undefined) return unknown;
  const { labels } = node.metadata;
  if (labels[computeType] === "hybrid") return { kind: "none" };
  const isHyperPod = labels["sagemaker.amazonaws.com/compute-type"] === "hyperpod";
  if (labels[computeType] === "fargate" || isHyperPod) {
    const [own] = await parts.cloud.networkInterfaces.attachedWith(id, parts.vpc, ask);
    // Pods of HyperPod have addresses of a prefix of their node's interface.
    const nodeIp = own || !isHyperPod ? undefined : node.addresses.find(({ type }) => type === "InternalIP")?.address;
    const ofNode = nodeIp === undefined ? [] : await parts.cloud.networkInterfaces.attachedWith(nodeIp, parts.vpc, ask);
    return first(own ? [own] : ofNode.filter((each) => hasAddress(each, id))) ?? unknown;
  }
  if (pod.eni !== undefined) {
    const filters = [{ name: "network-interface-id", values: [pod.eni] }];
    return first(await parts.cloud.networkInterfaces.list(filters, ask)) ?? unknown;
  }
  const claim = parseProviderId(node.providerId);
  if (claim.kind !== "instance") return unknown;
  for (const maxAgeMs of [instanceAgeMs, 0]) {
    const having = (await interfacesOf(claim.instanceId, parts, ask, maxAgeMs)).find((each) => hasAddress(each, id));
    if (having) return attached(having);
  }
  return unknown;
}

const attached = ({ id, groups }: NetworkInterface): Attached => ({ kind: "found", id, groups });
const first = ([found]: readonly NetworkInterface[]) => found && attached(found);

async function interfacesOf(
  instance: string,
  { cloud }: NetworkingParts,
  ask: Ask,
  maxAgeMs: number,
): Promise<readonly NetworkInterface[]> {
  const lookup = await cloud.instances.lookup(instance, { ...ask, maxAgeMs });
  return lookup.kind === "found" ? lookup.instance.interfaces : [];
}

function hasAddress({ privateAddresses, ipv4Prefixes, ipv6Prefixes }: NetworkInterface, ip: string): boolean {
  if (privateAddresses.some((each) => each.ip === ip)) return true;
  const address = parseAddress(ip);
  if (address === undefined) return false;
  const single = { ...address, prefix: address.family === 4 ? 32 : 128 };
  return [...ipv4Prefixes, ...ipv6Prefixes].some((text) => {
    const block = parseCidr(text);
    return block !== undefined && contains(block, single);
  });
}

/** The one group of an interface, or of several the one that is the cluster's. Pure. */
export function groupOf(
  { id: eni, groups }: { readonly id: string; readonly groups: readonly string[] },
  known: readonly SecurityGroup[],
  { clusterTag, groupTags }: Pick<NetworkingParts, "clusterTag" | "groupTags">,
): { readonly id: string } | { readonly why: string } {
  if (groups.length === 1) return { id: groups[0]! };
  const fits = ({ tags }: SecurityGroup) =>
    tags[clusterTag] !== undefined && Object.entries(groupTags).every(([key, value]) => tags[key] === value);
  const own = known.filter((group) => groups.includes(group.id) && fits(group)).map(({ id }) => id);
  if (own.length === 1) return { id: own[0]! };
  const tags = [clusterTag, ...Object.entries(groupTags).map((pair) => pair.join("="))].join(", ");
  return { why: `expected exactly one securityGroup tagged with ${tags} for eni ${eni}, got: [${own.join(" ")}]` };
}
