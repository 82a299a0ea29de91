/** The load balancer of a Gateway but for its listeners: where it stands, and what guards it. Pure. */
import { formatCidr, parseCidr } from "../../runtime/ip.ts";
import { resolveGroups } from "../groups/given.ts";
import type { GroupOnLoadBalancer, Guards, ManagedGroup, Rule, SecurityGroups } from "../model.ts";
import type { Draft } from "./draft.ts";
import { GatewayFault } from "./fault.ts";
import type { AddOn } from "./flavours.ts";
import { isValid } from "./listener-validation.ts";
import { managedGroupName, parts, trackingTags } from "./names.ts";
import { tagsOf } from "./tags.ts";

/** Stands in bindings for the id of the managed security group, which is known when it stands. */
export const managedSource = "<managed security group>";

export interface Guard {
  readonly securityGroups: SecurityGroups;
  /** Whom targets let in: a group; nobody, because somebody else sees to it; or the addresses that traffic comes from. */
  readonly source: { readonly kind: "group"; readonly id: string } | { readonly kind: "nobody" } | { readonly kind: "addresses" };
}

const without: Guard = { securityGroups: { kind: "wanted", groups: [] }, source: { kind: "addresses" } };

export function guardOf(draft: Draft, isDualStack: boolean, warn: (message: string) => void): Guard {
  const { config, groups, backendGroup, standing, flavour } = draft;
  const mayLackGroups = flavour.name === "nlb";
  // AWS gives one that was made without groups none later.
  if (mayLackGroups && standing?.securityGroups.length === 0) {
    if (!config.disableSecurityGroup)
      warn("the load balancer was made without security groups and keeps none: AWS adds none to one that stands");
    return { ...without, securityGroups: { kind: "as-it-is" } };
  }
  if (mayLackGroups && config.disableSecurityGroup) return without;
  const shared: readonly GroupOnLoadBalancer[] = backendGroup === undefined ? [] : [{ kind: "given", id: backendGroup }];
  const given = config.securityGroups ?? [];
  if (given.length === 0) {
    const managed: GroupOnLoadBalancer = { kind: "managed", group: managedGroup(draft, isDualStack) };
    return {
      securityGroups: { kind: "wanted", groups: [managed, ...shared] },
      source: { kind: "group", id: backendGroup ?? managedSource },
    };
  }
  const resolved = resolveGroups(given, groups);
  if ("fault" in resolved) throw new GatewayFault(resolved.fault);
  const wanted: readonly GroupOnLoadBalancer[] = resolved.ids.map((id) => ({ kind: "given", id }));
  if (!config.manageBackendSecurityGroupRules) return { securityGroups: { kind: "wanted", groups: wanted }, source: { kind: "nobody" } };
  if (backendGroup === undefined)
    throw new GatewayFault("backendSG feature is required to manage worker node SG rules when frontendSG manually specified");
  return { securityGroups: { kind: "wanted", groups: [...wanted, ...shared] }, source: { kind: "group", id: backendGroup } };
}

/** Who may reach the load balancer; undefined where nobody says. */
export function sourceRangesOf({ config }: Pick<Draft, "config">, isDualStack: boolean): readonly string[] | undefined {
  return config.sourceRanges?.map(canonical).filter((cidr) => isDualStack || !cidr.includes(":"));
}

/** AWS keeps blocks in this form, and what is written otherwise would never be found again. */
function canonical(text: string): string {
  const cidr = parseCidr(text.trim());
  if (cidr === undefined) throw new GatewayFault(`invalid CIDR address: ${text} (sourceRanges takes CIDR blocks)`);
  return formatCidr(cidr);
}

function managedGroup(draft: Draft, isDualStack: boolean): ManagedGroup {
  const { gateway, settings, flavour, config, isForeignTag } = draft;
  return {
    name: managedGroupName(settings.cluster, gateway),
    description: "[k8s] Managed SecurityGroup for LoadBalancer",
    tags: tagsOf(config.tags ?? {}, draft, parts.securityGroup),
    ownership: trackingTags(settings.cluster, flavour, gateway, parts.securityGroup),
    isForeignTag,
    rules: rulesOf(draft, isDualStack),
  };
}

/** For every valid listener, whether it has routes or not. */
function rulesOf(draft: Draft, isDualStack: boolean): readonly Rule[] {
  const { config, listeners } = draft;
  const cidrs = sourceRangesOf(draft, isDualStack) ?? ["0.0.0.0/0", ...(isDualStack ? ["::/0"] : [])];
  const places = listeners.filter(isValid).map(({ listener: { port, protocol } }) => `${protocol === "UDP" ? "udp" : "tcp"} ${port}`);
  const ofPorts = [...new Set(places)].flatMap((place): Rule[] => {
    const [protocol, port] = place.split(" ");
    const base = { protocol: protocol as "tcp" | "udp", fromPort: Number(port), toPort: Number(port) };
    const prefixLists = config.securityGroupPrefixes ?? [];
    return [...cidrs.map((cidr) => ({ ...base, cidr })), ...prefixLists.map((prefixList) => ({ ...base, prefixList }))];
  });
  return [...ofPorts, ...(config.enableICMP ? cidrs.map(pathMtuRule) : [])];
}

/** ICMP type 3 code 4, ICMPv6 type 2 code 0. */
function pathMtuRule(cidr: string): Rule {
  return cidr.includes(":") ? { protocol: "icmpv6", fromPort: 2, toPort: 0, cidr } : { protocol: "icmp", fromPort: 3, toPort: 4, cidr };
}

/** Add-ons that the configuration asks for. */
export function wantedAddOns({ config, flavour, settings }: Pick<Draft, "config" | "flavour" | "settings">): ReadonlySet<AddOn> {
  const asked: Readonly<Record<AddOn, boolean>> = {
    wafv2: Boolean(config.wafV2?.webACL),
    shield: config.shieldConfiguration?.enabled === true,
    provisionedcapacity: settings.gates.capacityReservation && (config.minimumLoadBalancerCapacity?.capacityUnits ?? 0) > 0,
  };
  return new Set(flavour.addOns.filter((addOn) => asked[addOn]));
}

type AddOnDraft = Pick<Draft, "config" | "flavour" | "settings" | "addOns">;

/** What stands in front, as it is wanted. What was never enabled here is left alone; what was is disabled once. */
export function guardsOf(draft: AddOnDraft): Guards | undefined {
  const { config, settings, addOns } = draft;
  const wanted = wantedAddOns(draft);
  const isManaged = (addOn: AddOn) => wanted.has(addOn) || addOns.has(addOn);
  const all: Guards = {
    ...(isManaged("wafv2") && { webAcl: wanted.has("wafv2") ? (config.wafV2?.webACL ?? "") : "" }),
    ...(isManaged("shield") && { shield: wanted.has("shield") }),
  };
  const served = Object.entries(all).filter(([guard]) => settings.guards.includes(guard as keyof Guards));
  return served.length > 0 ? Object.fromEntries(served) : undefined;
}

/** Reserved units; 0 cancels what was reserved here. Absent: as it is. */
export function capacityOf(draft: AddOnDraft): number | undefined {
  if (!draft.settings.gates.capacityReservation) return undefined;
  if (wantedAddOns(draft).has("provisionedcapacity")) return draft.config.minimumLoadBalancerCapacity?.capacityUnits;
  return draft.addOns.has("provisionedcapacity") ? 0 : undefined;
}
