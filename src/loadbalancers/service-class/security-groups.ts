/** The security groups of a load balancer: which it has, what the managed one lets in, and whom targets let in. Pure. */
import { formatCidr, parseCidr } from "../../runtime/ip.ts";
import { resolveGroups } from "../groups/given.ts";
import type { GroupOnLoadBalancer, ManagedGroup, Rule, SecurityGroups } from "../model.ts";
import type { Draft } from "./draft.ts";
import { managedGroupName, parts, trackingTags } from "./names.ts";
import { ServiceFault } from "./reader.ts";
import { tagsOf } from "./tags.ts";
import type { ServiceView } from "./view.ts";

/** Stands in bindings for the id of the managed security group, which is known when it stands. */
export const managedSource = "<managed security group>";

export interface Guard {
  readonly securityGroups: SecurityGroups;
  /**
   * Whom targets let in: a group; nobody, because somebody else sees to it; or, for a load balancer without groups, the
   * addresses that traffic comes from.
   */
  readonly source: { readonly kind: "group"; readonly id: string } | { readonly kind: "nobody" } | { readonly kind: "addresses" };
}

const without: Guard = { securityGroups: { kind: "wanted", groups: [] }, source: { kind: "addresses" } };

/** Whether a load balancer without groups is asked for. */
const isDisabled = ({ read, settings }: Draft) => (read.get("aws-load-balancer-disable-nlb-sg") ?? false) || !settings.gates.securityGroups;

export function guardOf(draft: Draft, isDualStack: boolean): Guard {
  const { read, standing, settings, groups, backendGroup } = draft;
  const disabled = isDisabled(draft);
  // AWS gives one that was made without groups none later.
  if (standing?.securityGroups.length === 0) return { ...without, securityGroups: { kind: "as-it-is" } };
  if (disabled) {
    if (standing) throw new ServiceFault("conflicting security groups configuration");
    return without;
  }
  const shared: readonly GroupOnLoadBalancer[] = backendGroup === undefined ? [] : [{ kind: "given", id: backendGroup }];
  const given = read.get("aws-load-balancer-security-groups") ?? [];
  if (given.length === 0) {
    const managed: GroupOnLoadBalancer = { kind: "managed", group: managedGroup(draft, isDualStack) };
    return {
      securityGroups: { kind: "wanted", groups: [managed, ...shared] },
      source: { kind: "group", id: backendGroup ?? managedSource },
    };
  }
  const manages = read.get("aws-load-balancer-manage-backend-security-group-rules") ?? settings.managesBackendRules;
  const resolved = resolveGroups(given, groups);
  if ("fault" in resolved) throw new ServiceFault(resolved.fault);
  const wanted: readonly GroupOnLoadBalancer[] = resolved.ids.map((id) => ({ kind: "given", id }));
  if (!manages) return { securityGroups: { kind: "wanted", groups: wanted }, source: { kind: "nobody" } };
  if (backendGroup === undefined)
    throw new ServiceFault("backendSG feature is required to manage worker node SG rules when frontendSG is manually specified");
  return { securityGroups: { kind: "wanted", groups: [...wanted, ...shared] }, source: { kind: "group", id: backendGroup } };
}

/** Who may reach a load balancer; undefined where nobody says. */
export function sourceRangesOf(
  { read }: Pick<Draft, "read">,
  { sourceRanges }: Pick<ServiceView, "sourceRanges">,
): readonly string[] | undefined {
  if (sourceRanges.length > 0) return sourceRanges.map(canonical);
  const given = read.get("load-balancer-source-ranges");
  return given?.length ? given : undefined;
}

/** AWS keeps blocks in this form, and what is written otherwise would never be found again. */
function canonical(text: string): string {
  const cidr = parseCidr(text.trim());
  if (cidr === undefined) throw new ServiceFault(`invalid CIDR address: ${text} (spec.loadBalancerSourceRanges takes CIDR blocks)`);
  return formatCidr(cidr);
}

function managedGroup(draft: Draft, isDualStack: boolean): ManagedGroup {
  const { of, settings, isForeignTag } = draft;
  return {
    name: managedGroupName(settings.cluster, of),
    description: "[k8s] Managed SecurityGroup for LoadBalancer",
    tags: tagsOf(draft, parts.securityGroup),
    ownership: trackingTags(settings.cluster, of, parts.securityGroup),
    isForeignTag,
    rules: rulesOf(draft, isDualStack),
  };
}

function rulesOf(draft: Draft, isDualStack: boolean): readonly Rule[] {
  const { read, of } = draft;
  const prefixLists = read.get("aws-load-balancer-security-group-prefix-lists");
  const everybody = prefixLists ? [] : ["0.0.0.0/0", ...(isDualStack ? ["::/0"] : [])];
  const cidrs = sourceRangesOf(draft, of) ?? everybody;
  const ipv6 = isDualStack ? undefined : cidrs.find((cidr) => cidr.includes(":"));
  if (ipv6 !== undefined) throw new ServiceFault(`unsupported v6 cidr ${ipv6} when lb is not dualstack`);
  const discovery = read.get("aws-load-balancer-enable-icmp-for-path-mtu-discovery") ? cidrs.map(pathMtuRule) : [];
  const ofPorts = of.ports.flatMap(({ protocol, port }): Rule[] => {
    const base = { protocol: protocol === "UDP" ? "udp" : "tcp", fromPort: port, toPort: port } as const;
    return [...cidrs.map((cidr) => ({ ...base, cidr })), ...(prefixLists ?? []).map((prefixList) => ({ ...base, prefixList }))];
  });
  return [...ofPorts, ...discovery];
}

/** ICMP type 3 code 4, ICMPv6 type 2 code 0. */
function pathMtuRule(cidr: string): Rule {
  return cidr.includes(":") ? { protocol: "icmpv6", fromPort: 2, toPort: 0, cidr } : { protocol: "icmp", fromPort: 3, toPort: 4, cidr };
}
