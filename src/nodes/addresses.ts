/** Which addresses a Node must show, and the patch that makes it so. Pure: EC2's answer and the Node in, a list out. */
import type { Instance } from "../aws/instance.ts";
import { providedNodeIpAnnotation } from "../identity/node-view.ts";
import { type Address, formatAddress, parseAddress, sameAddress } from "../runtime/ip.ts";

/** One entry of `status.addresses`: InternalIP, ExternalIP, InternalDNS, ExternalDNS or Hostname. */
export interface NodeAddress {
  readonly type: string;
  readonly address: string;
}

export type IpFamily = "ipv4" | "ipv6";

/** The node's own wish about its address cannot be met. The message tells its operator what to change. */
export class ProvidedNodeIpInvalid extends Error {
  override readonly name = "ProvidedNodeIpInvalid";
}

/** What EC2 knows of an instance's addresses, family by family in the configured order. */
export function cloudAddresses(instance: Instance, families: readonly IpFamily[]): NodeAddress[] {
  // The reference orders interfaces by device index only while it reads IPv4; IPv6 first sees EC2's own order.
  let interfaces = instance.interfaces.filter(({ status }) => status === "in-use");
  return families.flatMap((family) => {
    if (family === "ipv6")
      return interfaces.flatMap(({ ipv6Addresses }) => ipv6Addresses.slice(0, 1).map((ip) => internalIp(instance, ip)));
    interfaces = interfaces.toSorted((a, b) => deviceIndex(a) - deviceIndex(b));
    return ipv4Addresses(instance, interfaces);
  });
}

/** Interfaces that are attached to nothing come last. */
function deviceIndex({ attachment }: Instance["interfaces"][number]): number {
  return attachment?.deviceIndex ?? Number.MAX_SAFE_INTEGER;
}

function ipv4Addresses(instance: Instance, interfaces: Instance["interfaces"]): NodeAddress[] {
  const addresses = interfaces.flatMap(({ privateAddresses }) => privateAddresses.map(({ ip }) => internalIp(instance, ip)));
  if (instance.publicIp) addresses.push({ type: "ExternalIP", address: instance.publicIp });
  if (instance.privateDnsName) {
    addresses.push({ type: "InternalDNS", address: instance.privateDnsName }, { type: "Hostname", address: instance.privateDnsName });
  }
  if (instance.publicDnsName) addresses.push({ type: "ExternalDNS", address: instance.publicDnsName });
  return addresses;
}

function internalIp(instance: Instance, text: string): NodeAddress {
  return { type: "InternalIP", address: canonicalAddress(text, instance.id) };
}

/** The canonical text of an address that EC2 gave for `owner`. */
export function canonicalAddress(text: string, owner: string): string {
  const address = parseAddress(text);
  if (!address) throw new Error(`EC2 gave ${JSON.stringify(text)} as an address of ${owner}: not an IP address`);
  return formatAddress(address);
}

/**
 * The addresses a Node gets: the cloud's, with kubelet's Hostname kept where the cloud has none, cut down to what the
 * provided-node-ip annotation asks for.
 */
export function desiredAddresses(
  cloud: readonly NodeAddress[],
  existing: readonly NodeAddress[],
  providedNodeIp: string | undefined,
): NodeAddress[] {
  const hostnames = cloud.some(({ type }) => type === "Hostname") ? [] : existing.filter(({ type }) => type === "Hostname");
  return preferProvided([...cloud, ...hostnames], providedNodeIp);
}

/**
 * The addresses equal to the provided IPs come first, with all their types; of every other type everything stays.
 * So the other addresses of a matched type, usually all other InternalIPs, are dropped.
 */
export function preferProvided(addresses: readonly NodeAddress[], providedNodeIp: string | undefined): NodeAddress[] {
  if (providedNodeIp === undefined) return [...addresses];
  const matched = parseProvided(providedNodeIp).flatMap((ip) => {
    const equal = addresses.filter(({ address }) => {
      const parsed = parseAddress(address);
      return parsed && sameAddress(parsed, ip);
    });
    if (equal.length === 0) {
      throw new ProvidedNodeIpInvalid(
        `failed to get node address from cloud provider that matches ip: ${formatAddress(ip)} ` +
          `(kubelet's --node-ip asks for it; EC2 has ${addresses.map(({ address }) => address).join(", ") || "no address"})`,
      );
    }
    return equal;
  });
  const types = new Set(matched.map(({ type }) => type));
  return [...matched, ...addresses.filter(({ type }) => !types.has(type))];
}

function parseProvided(text: string): Address[] {
  const ips = text.split(",").map((part) => parseAddress(part));
  const [first, second] = ips;
  const valid = ips.length <= 2 && ips.every((ip) => ip !== undefined && ip.value !== 0n) && first?.family !== second?.family;
  if (!valid) {
    throw new ProvidedNodeIpInvalid(
      `annotation ${providedNodeIpAnnotation}=${JSON.stringify(text)} is not valid: ` +
        "it takes one IP address, or an IPv4 and an IPv6 address with a comma between them and no blanks",
    );
  }
  return ips as Address[];
}

/** Grouped by type, in order of first appearance: the order in which the API server keeps a list replaced by strategic merge. */
export function groupedByType(addresses: readonly NodeAddress[]): NodeAddress[] {
  return [...Map.groupBy(addresses, ({ type }) => type).values()].flat();
}

/** What a strategic merge must set `status.addresses` to, to turn `existing` into `desired`; undefined when nothing has to change. */
export function addressChange(existing: readonly NodeAddress[], desired: readonly NodeAddress[]): readonly object[] | undefined {
  if (desired.length === 0 || sameList(existing, desired) || sameList(existing, groupedByType(desired))) return undefined;
  // The list is replaced by a directive, because merging by key would keep only one address of each type.
  return existing.length > 0 ? [...desired, { $patch: "replace" }] : desired;
}

function sameList(a: readonly NodeAddress[], b: readonly NodeAddress[]): boolean {
  return a.length === b.length && a.every((address, i) => address.type === b[i]?.type && address.address === b[i]?.address);
}
