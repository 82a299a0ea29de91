/** Security groups on the way of a client to a load balancer, and of a load balancer to its targets. */
import type { Account, Probe } from "../account.ts";
import { blockOf, contains, parseAddress, parseBlock } from "../ec2/cidr.ts";
import type { RulePeer } from "../ec2/state.ts";

/** What carries connections or datagrams. */
export type Transport = "tcp" | "udp";

/** Whether an address lies in a block. */
export function isIn(cidr: string, address: string): boolean {
  const [block, parsed] = [parseBlock(cidr), parseAddress(address)];
  return block !== undefined && parsed !== undefined && contains(block, blockOf(parsed));
}

/** Whether one of the groups lets a client reach a port. Groups that a rule names as its source stand for nobody outside the VPC. */
export function letsIn(
  account: Account,
  groupIds: readonly string[],
  port: number,
  sourceIp: string,
  transport: Transport = "tcp",
): boolean {
  return opens(account, groupIds, { port, transport }, (peer) => "cidr" in peer && isIn(peer.cidr, sourceIp));
}

/**
 * Whether the security groups of a target let these interfaces of a load balancer reach a port of it. An address that belongs to no
 * interface has no groups to pass; and where the settings leave targets open, so has every other.
 */
export function reaches(
  account: Account,
  interfaceIds: readonly string[],
  address: string,
  port: number,
  transport: Transport = "tcp",
): boolean {
  if (!account.settings().guardTargets) return true;
  const target = account.ec2.interfaces
    .values()
    .find(
      ({ privateAddresses, ipv6Addresses, ipv4Prefixes, ipv6Prefixes }) =>
        [...privateAddresses, ...ipv6Addresses].includes(address) ||
        [...ipv4Prefixes, ...ipv6Prefixes].some((prefix) => isIn(prefix, address)),
    );
  if (target === undefined) return true;
  const nodes = interfaceIds.flatMap((id) => account.ec2.interfaces.get(id) ?? []);
  return opens(account, target.groupIds, { port, transport }, (peer) =>
    nodes.some((node) => {
      if ("cidr" in peer) return [...node.privateAddresses, ...node.ipv6Addresses].some((each) => isIn(peer.cidr, each));
      return peer.kind === "group" && node.groupIds.includes(peer.groupId);
    }),
  );
}

/** A probe that gets no answer where security groups are in its way. */
export function guarded(account: Account, interfaceIds: readonly string[], probe: Probe): Probe {
  return (target) => (reaches(account, interfaceIds, target.address, target.port) ? probe(target) : { kind: "silent" });
}

interface Door {
  readonly port: number;
  readonly transport: Transport;
}

function opens(account: Account, groupIds: readonly string[], { port, transport }: Door, fits: (peer: RulePeer) => boolean): boolean {
  return account.ec2.rules.values().some((rule) => {
    if (rule.egress || !groupIds.includes(rule.groupId)) return false;
    const open = rule.protocol === "-1" || (rule.protocol === transport && (rule.fromPort ?? 0) <= port && port <= (rule.toPort ?? 65_535));
    return open && fits(rule.peer);
  });
}
