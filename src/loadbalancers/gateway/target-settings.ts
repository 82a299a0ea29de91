/** What TargetGroupConfigurations say of the target group of a route's backend. Pure. */
import type { MergingMode, RouteIdentifier, TargetGroupConfiguration, TargetGroupSettings } from "./config.ts";
import { byPriority, mergeTargetGroups } from "./merge.ts";
import type { RouteView } from "./view.ts";

type RouteRef = Pick<RouteView, "kind" | "namespace" | "name">;

/** What is said for a backend of a route: of its own configuration over that of the Gateway. */
export function targetSettings(
  route: RouteRef,
  ofBackend: TargetGroupConfiguration | undefined,
  ofGateway: TargetGroupConfiguration | undefined,
): TargetGroupSettings {
  return mergeTargetGroups(settingsFor(route, ofBackend), settingsFor(route, ofGateway));
}

/** What is said for a backend of every route that nothing is said of in particular. */
export const usualSettings = (
  ofBackend: TargetGroupConfiguration | undefined,
  ofGateway: TargetGroupConfiguration | undefined,
): TargetGroupSettings => mergeTargetGroups(ofBackend?.defaultConfiguration ?? {}, ofGateway?.defaultConfiguration ?? {});

/** What one configuration says for a route: what it says of the route over what it says of all. */
export function settingsFor(route: RouteRef, configuration: TargetGroupConfiguration | undefined): TargetGroupSettings {
  const { defaultConfiguration = {}, routeConfigurations = [] } = configuration ?? {};
  const ranked = routeConfigurations.map((each) => ({ each, rank: rankOf(each.routeIdentifier, route) })).filter(({ rank }) => rank > 0);
  const [best] = ranked.toSorted((a, b) => b.rank - a.rank);
  return best ? mergeTargetGroups(best.each.targetGroupProps, defaultConfiguration) : defaultConfiguration;
}

/** How well an identifier fits: kind, namespace and name before kind and namespace before kind; 0: not at all. */
function rankOf({ kind, namespace, name }: RouteIdentifier, route: RouteRef): number {
  if (kind !== route.kind || (namespace !== undefined && namespace !== route.namespace)) return 0;
  // A name says nothing without its namespace.
  if (name !== undefined) return namespace !== undefined && name === route.name ? 3 : 0;
  return namespace !== undefined ? 2 : 1;
}

/** The default of a Gateway, from those that its class's and its own configuration name. */
export function mergeDefaults(
  mode: MergingMode,
  ofClass: TargetGroupConfiguration | undefined,
  ofGateway: TargetGroupConfiguration | undefined,
): TargetGroupConfiguration | undefined {
  const [high, low] = byPriority(mode, ofClass, ofGateway);
  if (high === undefined || low === undefined) return high ?? low;
  return { ...high, defaultConfiguration: mergeTargetGroups(high.defaultConfiguration ?? {}, low.defaultConfiguration ?? {}) };
}

/** The configuration of a backend among those of its namespace: the first that names it. */
export function configurationOf<T extends TargetGroupConfiguration>(
  backend: { readonly kind: "Service" | "Gateway"; readonly name: string },
  configurations: readonly T[],
): T | undefined {
  return configurations.find(
    ({ targetReference }) => targetReference?.name === backend.name && (targetReference.kind ?? "Service") === backend.kind,
  );
}
