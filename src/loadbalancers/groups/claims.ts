/** What each load balancer needs from the nodes: the claims, and the descriptions and groups by which its rules are known. */
import type { LoadBalancerKind } from "../kind.ts";
import type { NodeAccess, Rule } from "../model.ts";
import { nodeRuleDescription } from "../names.ts";
import type { Claim, Marks, NodeRule } from "./node-rules.ts";

/** What the rules of nodes follow from, besides what is asked for: known only once the load balancer stands. */
export interface NodeRuleContext {
  /** Groups of the nodes behind it. */
  readonly nodeGroups: readonly string[];
  /** Names under which its owner had one before: rules that still go by them are its own too. */
  readonly formerNames: readonly string[];
  /** The group its traffic comes from, and whether we made it. */
  readonly source?: { readonly id: string; readonly ours: boolean };
  /** Groups of ours that rules may name as their source: the present one and one that was replaced. */
  readonly ownGroups: readonly string[];
  /** The IPv4 blocks of its subnets, where health checks come from. */
  readonly subnetCidrs: readonly string[];
}

export function claimFor({ ruleMarks }: Pick<LoadBalancerKind, "ruleMarks">, access: NodeAccess, context: NodeRuleContext): Claim {
  const marks = ruleMarks([access.loadBalancer, ...context.formerNames], context.ownGroups);
  const former = ruleMarks(context.formerNames, []).descriptions;
  const rules = access.kind === "from-group" ? groupRules(access, context) : clientRules(access, context);
  return { nodeGroups: context.nodeGroups.toSorted(), rules, marks, former };
}

/** By what the rules of load balancers of these names are known whose traffic comes from their own groups. */
export function marksOfSource(names: readonly string[], ownGroups: readonly string[]): Marks {
  return { descriptions: names.map(nodeRuleDescription.source), sources: ownGroups.toSorted() };
}

/** The same where clients come with their own addresses: no rule names the group of such a load balancer as its source. */
export function marksOfClients(names: readonly string[]): Marks {
  const { client, health } = nodeRuleDescription;
  return { descriptions: names.flatMap((name) => [client(name), health(name)]), sources: [] };
}

/** A rule from a group that was lent to us is known as ours only by what it says. */
function groupRules({ loadBalancer }: NodeAccess, { source }: NodeRuleContext): NodeRule[] {
  if (source === undefined) return [];
  return [{ protocol: "all", sourceGroup: source.id, ...(!source.ours && { description: nodeRuleDescription.source(loadBalancer) }) }];
}

function clientRules(access: Extract<NodeAccess, { kind: "from-clients" }>, { subnetCidrs }: NodeRuleContext): NodeRule[] {
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
