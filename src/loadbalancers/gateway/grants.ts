/** Whether a route may refer to something in another namespace. Pure. */
import type { GrantView, RouteView } from "./view.ts";

export interface Reference {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export const gatewayGroup = "gateway.networking.k8s.io";

/** In its own namespace always; in another one with a grant there. */
export function isGranted(route: Pick<RouteView, "kind" | "namespace">, to: Reference, grants: readonly GrantView[]): boolean {
  if (route.namespace === to.namespace) return true;
  return grants.some(
    (grant) =>
      grant.namespace === to.namespace &&
      grant.from.some((from) => from.group === gatewayGroup && from.kind === route.kind && from.namespace === route.namespace) &&
      grant.to.some((each) => each.group === to.group && each.kind === to.kind && (!each.name || each.name === to.name)),
  );
}
