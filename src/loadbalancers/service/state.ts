/**
 * What is known of a Service's load balancer between two looks, and every way in which that changes. Pure.
 *
 *     new ──────────▶ standing ◀──────▶ replacing
 *      ▲                 ▲                  │        by what a look has found and brought about;
 *      │                 │                  │        a failure, or the hourly look, makes a state distrusted:
 *      ├──▶ targets-only ┤                  ▼        then everything is read again
 *      └─────────────────┴──────────────▶ leaving
 */
import type { NodeRuleContext } from "../groups/claims.ts";
import type { LoadBalancerKind } from "../kind.ts";
import type { NodeAccess, Problem } from "../model.ts";
import type { ServiceOptions } from "./options.ts";

/** A load balancer as it stood when it was last brought to its wanted state. */
export interface Standing {
  readonly fingerprint: string;
  readonly kind: LoadBalancerKind;
  readonly name: string;
  readonly options: ServiceOptions;
  readonly access: NodeAccess;
  readonly ruleContext: NodeRuleContext;
  /** What was odd about it, apart from its targets. */
  readonly warnings: readonly Problem[];
  /** What was odd about the groups of the nodes behind it. */
  readonly groupWarnings: readonly Problem[];
}

export type ServiceState =
  /** Nothing was brought to its wanted state yet. */
  | { readonly kind: "new"; readonly distrusted: boolean }
  /** As wanted: only its targets follow the nodes. */
  | { readonly kind: "standing"; readonly standing: Standing; readonly distrusted: boolean }
  /** As wanted, but what stood before it, of another kind, is not gone yet: looked at fully each time. */
  | { readonly kind: "replacing"; readonly standing: Standing }
  /** It has target groups and no load balancer; what stood before is remembered until they are made. */
  | { readonly kind: "targets-only"; readonly standing?: Standing; readonly distrusted: boolean }
  /** Everything goes. Whoever wants it again is looked at as if nothing were known. */
  | { readonly kind: "leaving"; readonly standing?: Standing; readonly hadTargetsOnly: boolean };

export const newState: ServiceState = { kind: "new", distrusted: false };

export function standingIn(state: ServiceState): Standing | undefined {
  return state.kind === "new" ? undefined : state.standing;
}

/** Whether what is remembered counts. */
export function isTrusted(state: ServiceState): boolean {
  return state.kind !== "replacing" && state.kind !== "leaving" && !state.distrusted;
}

/** The load balancer of which only the targets have to be looked at, for a Service that asks for this. */
export function settledFor(state: ServiceState, fingerprint: string): Standing | undefined {
  const standing = standingIn(state);
  return isTrusted(state) && standing?.fingerprint === fingerprint ? standing : undefined;
}

/** Whether it is looked at once an hour, though nobody asks for it. */
export function drifts(state: ServiceState): boolean {
  return state.kind === "targets-only" || (state.kind === "leaving" && state.hadTargetsOnly) || standingIn(state) !== undefined;
}

/** Something failed, AWS is not ready, or an hour has passed: the next look reads everything. */
export function distrust(state: ServiceState): ServiceState {
  return state.kind === "replacing" || state.kind === "leaving" ? state : { ...state, distrusted: true };
}

/** A load balancer is wanted, perhaps again. */
export function wanted(state: ServiceState): ServiceState {
  if (state.kind !== "targets-only" && state.kind !== "leaving") return state;
  const distrusted = !isTrusted(state);
  const { standing } = state;
  return standing ? { kind: "standing", standing, distrusted } : { kind: "new", distrusted };
}

/** Target groups are wanted, and no load balancer. */
export function wantedTargetsOnly(state: ServiceState): ServiceState {
  const standing = standingIn(state);
  return { kind: "targets-only", ...(standing && { standing }), distrusted: !isTrusted(state) };
}

/** The load balancer is as wanted; it is the only one, unless it is still moving into the place of another. */
export function standingAs(standing: Standing, moving: boolean): ServiceState {
  return moving ? { kind: "replacing", standing } : { kind: "standing", standing, distrusted: false };
}

/** The target groups are as wanted, and what stood before is none of their business any more. */
export function madeTargetsOnly(state: ServiceState): ServiceState {
  return { kind: "targets-only", distrusted: !isTrusted(state) };
}

/** The targets of what stands have followed the nodes. */
export function followed(state: ServiceState, standing: Standing): ServiceState {
  return state.kind === "new" ? state : { ...state, standing };
}

/** Whatever is remembered to stand is going. */
export function leave(state: ServiceState): ServiceState {
  const standing = standingIn(state);
  const hadTargetsOnly = state.kind === "targets-only" || (state.kind === "leaving" && state.hadTargetsOnly);
  return { kind: "leaving", ...(standing && { standing }), hadTargetsOnly };
}
