/**
 * The attributes of a Service's load balancer. AWS tells of them one load balancer at a time, so what was read or
 * written last counts for a while, as long as the Service asks for the same: whoever asks for others has them read anew.
 */
import type { Ask } from "../../aws/ask.ts";
import { modifyAttributes } from "../../aws/elb-actions.ts";
import { seeAttributes } from "../classic/observe.ts";
import type { Inventory } from "../inventory.ts";
import type { ClassicAttributes } from "../model.ts";
import type { ServiceOptions } from "./annotations.ts";
import type { Found } from "./find.ts";
import type { Survey } from "./survey.ts";

/** As old as they may be when something else is changed. The hourly look at everything reads them anew. */
export const attributesAgeMs = 60 * 60_000;

/** Those of a classic load balancer. */
export function classicAttributes(
  { name }: Extract<Found, { kind: "classic" }>,
  options: ServiceOptions,
  { cloud, classicAttributes: kept }: Inventory,
  maxAgeMs: number,
  ask: Ask,
): Promise<ClassicAttributes> {
  return kept.get(keyFor(name, options), maxAgeMs, async () =>
    seeAttributes((await cloud.classicLoadBalancers.attributes(name, ask)) ?? {}),
  );
}

/** Those of a network load balancer. */
export function networkAttributes(
  { name, arn }: Extract<Found, { kind: "network" }>,
  options: ServiceOptions,
  { cloud, networkAttributes: kept }: Inventory,
  maxAgeMs: number,
  ask: Ask,
): Promise<Readonly<Record<string, string>>> {
  return kept.get(keyFor(name, options), maxAgeMs, () => cloud.loadBalancers.attributes(arn, ask));
}

/** After the steps of a survey: what they have written is known if all went well, and nothing is if not. */
export function noteAttributes({ desire, found, options, steps, seen }: Survey, inventory: Inventory, now: number, allDone: boolean): void {
  const { model } = desire;
  const written = found === undefined || steps.some(({ action }) => action.name === modifyAttributes.name);
  const key = keyFor(model.name, options);
  if (!allDone) {
    inventory.classicAttributes.invalidate(key);
    inventory.networkAttributes.invalidate(key);
  } else if (written && model.kind === "classic") {
    inventory.classicAttributes.offer(key, model.attributes, now);
  } else if (written && model.kind === "network") {
    const before = "targetGroups" in seen ? seen.loadBalancer?.attributes : undefined;
    inventory.networkAttributes.offer(key, { ...before, ...model.attributes }, now);
  }
}

/** A load balancer, and all of its Service's wishes that attributes follow from. */
function keyFor(name: string, { accessLog, connectionDraining, idleTimeout, crossZone }: ServiceOptions): string {
  return JSON.stringify([name, accessLog, connectionDraining, idleTimeout, crossZone]);
}
