/** Which add-ons of a Gateway are recorded as enabled, on the Gateway itself, and what is to be recorded. Pure. */
import { parseGoBool } from "../values.ts";
import type { LoadBalancerSettings } from "./config.ts";
import type { AddOn, Flavour } from "./flavours.ts";
import { recordOf } from "./merge.ts";
import type { GatewayView } from "./view.ts";

export const addOnAnnotation = (addOn: AddOn) => `gateway.k8s.aws.addon.${addOn}`;

/** What cannot be read counts as no. */
export function recordedAddOns({ annotations }: Pick<GatewayView, "annotations">, { addOns }: Pick<Flavour, "addOns">): ReadonlySet<AddOn> {
  return new Set(addOns.filter((addOn) => parseGoBool(annotations[addOnAnnotation(addOn)] ?? "") ?? false));
}

export interface AddOnChanges {
  /** Recorded before anything is done, so that whoever comes after a crash disables them. */
  readonly before: Readonly<Record<string, string>>;
  /** Recorded when they are disabled. */
  readonly after: Readonly<Record<string, string>>;
}

export function addOnChanges(recorded: ReadonlySet<AddOn>, wanted: ReadonlySet<AddOn>): AddOnChanges {
  const marks = (addOns: Iterable<AddOn>, value: string) => Object.fromEntries([...addOns].map((addOn) => [addOnAnnotation(addOn), value]));
  return {
    before: marks(
      [...wanted].filter((addOn) => !recorded.has(addOn)),
      "true",
    ),
    after: marks(
      [...recorded].filter((addOn) => !wanted.has(addOn)),
      "false",
    ),
  };
}

/** Whether its author protects the load balancer against deletion. What cannot be read counts as no. */
export function isProtected({ loadBalancerAttributes }: Pick<LoadBalancerSettings, "loadBalancerAttributes">): boolean {
  return parseGoBool(recordOf(loadBalancerAttributes)["deletion_protection.enabled"] ?? "") ?? false;
}
