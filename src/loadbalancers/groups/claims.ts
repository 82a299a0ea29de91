/** What each load balancer needs from the nodes: the claims, and the descriptions and groups by which its rules are known. */
import type { LoadBalancer, NodeAccess, Rule } from "../model.ts";
import { nodeRuleDescription } from "../names.ts";
import type { Claim, Marks, NodeRule } from "./node-rules.ts";

/** Known only once the load balancer stands. */
export interface Stand {
  /** Groups of the nodes behind it. */
  readonly nodeGroups: readonly string[];
  /** Names under which the Service had one before: rules that still go by them are its own too. */
  readonly formerNames: readonly string[];
  /** Classic: the group its traffic comes from, and whether we made it. */
  readonly source?: { readonly id: string; readonly ours: boolean };
  /** Groups of ours that rules may name as their source: the present one and one that was replaced. */
  readonly ownGroups: readonly string[];
  /** Network: the IPv4 blocks of its subnets, where health checks come from. */
  readonly subnetCidrs: readonly string[];
}

export function claimFor(access: NodeAccess, stand: Stand): Claim {
  const kind = access.kind === "from-group" ? "classic" : "network";
  const marks = marksOf(kind, [access.loadBalancer, ...stand.formerNames], stand.ownGroups);
  const former = marksOf(kind, stand.formerNames, []).descriptions;
  const rules = access.kind === "from-group" ? groupRules(access, stand) : clientRules(access, stand);
  return { nodeGroups: stand.nodeGroups.toSorted(), rules, marks, former };
}

/** All by which rules of load balancers of these names are known. No rule names the group of a network load balancer as its source. */
export function marksOf(kind: LoadBalancer["kind"], names: readonly string[], ownGroups: readonly string[]): Marks {
  const { client, health, source } = nodeRuleDescription;
  if (kind === "network") return { descriptions: names.flatMap((name) => [client(name), health(name)]), sources: [] };
  return { descriptions: names.map(source), sources: ownGroups.toSorted() };
}

/** A rule from a group that was lent to us is known as ours only by what it says. */
function groupRules({ loadBalancer }: NodeAccess, { source }: Stand): NodeRule[] {
  if (source === undefined) return [];
  return [{ protocol: "all", sourceGroup: source.id, ...(!source.ours && { description: nodeRuleDescription.source(loadBalancer) }) }];
}

function clientRules(access: Extract<NodeAccess, { kind: "from-clients" }>, { subnetCidrs }: Stand): NodeRule[] {
  const { loadBalancer, ports, cidrs, healthPorts } = access;
  const client = ports.flatMap(({ protocol, port }) =>
    cidrs.map((cidr): Rule => ({ protocol, fromPort: port, toPort: port, cidr, description: nodeRuleDescription.client(loadBalancer) })),
  );
  if (healthIsCovered(access)) return client;
  const health = healthPorts.flatMap((port) =>
    subnetCidrs.map(
      (cidr): Rule => ({ protocol: "tcp", fromPort: port, toPort: port, cidr, description: nodeRuleDescription.health(loadBalancer) }),
    ),
  );
  return [...client, ...health];
}

/** Everybody may reach the very ports that are checked: nothing more is needed. */
function healthIsCovered({ ports, cidrs, healthPorts }: Extract<NodeAccess, { kind: "from-clients" }>): boolean {
  const clientPorts = new Set(ports.map(({ port }) => port));
  return (
    cidrs.length === 1 &&
    cidrs[0] === "0.0.0.0/0" &&
    ports.every(({ protocol }) => protocol === "tcp") &&
    healthPorts.length === clientPorts.size &&
    healthPorts.every((port) => clientPorts.has(port))
  );
}
