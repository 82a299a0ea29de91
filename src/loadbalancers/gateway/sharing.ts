/**
 * Routes of a Gateway that lead to one port of a Service, with the same settings, may share one target group: AWS takes a hundred
 * behind a load balancer, and pods are registered and checked once. The reference makes one per route, so it has to be asked for.
 */
import { hash } from "../controller-names.ts";
import { sortedJson } from "../elbv2/actions.ts";
import type { ServicePortView } from "../service-state.ts";
import { attempt, GatewayFault } from "./fault.ts";
import type { GroupSettings } from "./group-settings.ts";
import { type ClassView, type GatewayView, keyOf } from "./view.ts";

/** On a Gateway, or on its class for all that say nothing themselves. */
export const sharingAnnotation = "gateway.fairlead.io/share-target-groups";

/** Throws a `GatewayFault` for what is neither yes nor no. */
export function sharesTargetGroups(gateway: Pick<GatewayView, "namespace" | "name" | "annotations">, of: ClassView): boolean {
  return saidBy(`Gateway ${keyOf(gateway)}`, gateway.annotations) ?? saidBy(`GatewayClass ${of.name}`, of.annotations) ?? false;
}

function saidBy(who: string, { [sharingAnnotation]: said }: GatewayView["annotations"]): boolean | undefined {
  if (said === undefined) return undefined;
  if (said === "true" || said === "false") return said === "true";
  throw new GatewayFault(`annotation ${sharingAnnotation} of ${who} is "${said}": it takes "true" or "false"`);
}

/** `shared by HTTPRoute shop/cart, HTTPRoute shop/web` */
export const usersText = (routes: ReadonlySet<string>) => `shared by ${[...routes].toSorted().join(", ")}`;

/**
 * What tells a shared target group from others of its Service: the port, and what cannot be changed of a group. Where a configuration
 * says something of single routes, those have one of their own; what it says of all others may change, and their group stays.
 */
export function sharedPort(settings: GroupSettings, { port }: ServicePortView, usual: () => GroupSettings): string {
  const { protocol, protocolVersion } = settings;
  const others = attempt(usual);
  const isUsual = "value" in others && sortedJson(others.value) === sortedJson(settings);
  return [port, protocol, ...(protocolVersion ? [protocolVersion] : []), ...(isUsual ? [] : [hash(sortedJson(settings))])].join(":");
}
