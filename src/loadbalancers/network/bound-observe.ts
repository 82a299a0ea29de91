/** What AWS tells of a network load balancer that is known by its owner's marks: only what is managed is asked for. */
import type { Ask } from "../../aws/ask.ts";
import { attributesOf } from "../elbv2/kind.ts";
import { observeMarkedGroups } from "../elbv2/marked.ts";
import type { Inventory } from "../inventory.ts";
import type { ObserveOptions } from "../kind.ts";
import { newTargetGroupAttributes } from "../target-group-plan.ts";
import type { FoundNetwork } from "./find.ts";
import { seeListener } from "./observe.ts";
import type { SeenLoadBalancer, SeenNetwork } from "./plan.ts";
import type { SeenListener } from "./plan-listeners.ts";

export function observeBound(
  found: FoundNetwork | undefined,
  options: ObserveOptions,
  inventory: Inventory,
  ask: Ask,
): Promise<SeenNetwork> {
  const ports = options.managed?.listenerAttributes ?? [];
  return observe(found, options, (arn) => observeListeners(arn, ports, inventory, ask), inventory, ask);
}

/** The same from lists alone, which all load balancers share. */
export function observeBoundGlance(
  found: FoundNetwork | undefined,
  options: ObserveOptions,
  inventory: Inventory,
  ask: Ask,
): Promise<SeenNetwork> {
  const managed = { attributes: false, listenerAttributes: [], capacity: false };
  return observe(found, { ...options, targetGroupAttributes: false, managed }, async () => [], inventory, ask);
}

type ListenersOf = (arn: string) => Promise<readonly SeenListener[]>;

async function observe(
  found: FoundNetwork | undefined,
  options: ObserveOptions,
  listenersOf: ListenersOf,
  inventory: Inventory,
  ask: Ask,
): Promise<SeenNetwork> {
  const { owner } = options;
  const [loadBalancer, targetGroups] = await Promise.all([
    found && observeLoadBalancer(found, options, listenersOf, inventory, ask),
    // Where none are asked for but AWS's own, they are presumed.
    observeMarkedGroups(options, newTargetGroupAttributes, inventory, ask),
  ]);
  const isForeignTag = (key: string) => owner.marks?.isForeign(key) ?? false;
  return { kind: "network", ...(loadBalancer && { loadBalancer }), targetGroups, isForeignTag };
}

async function observeLoadBalancer(
  found: FoundNetwork,
  options: ObserveOptions,
  listenersOf: ListenersOf,
  inventory: Inventory,
  ask: Ask,
): Promise<SeenLoadBalancer> {
  const { name, arn, securityGroups, addressType, zones, sourceNat, privateLinkRules } = found;
  const { loadBalancers } = inventory.cloud;
  const { managed } = options;
  const [tags, listeners, attributes, capacity] = await Promise.all([
    inventory.tags(arn, ask),
    listenersOf(arn),
    managed?.attributes ? attributesOf({ name, arn }, options, inventory, ask) : {},
    managed?.capacity ? loadBalancers.capacity(arn, ask) : undefined,
  ]);
  return {
    arn,
    securityGroups,
    attributes,
    listeners,
    kept: {
      addressType,
      zones,
      sourceNat,
      ...(privateLinkRules && { privateLinkRules }),
      tags: tags ?? {},
      ...(capacity !== undefined && { capacity }),
    },
  };
}

async function observeListeners(arn: string, withAttributes: readonly number[], inventory: Inventory, ask: Ask): Promise<SeenListener[]> {
  const { loadBalancers, listeners } = inventory.cloud;
  const found = await loadBalancers.listeners(arn, ask);
  return Promise.all(
    found.map(async (listener) => {
      const { ListenerArn = "", Port = 0, Protocol } = listener;
      const [tags, furtherCertificates, attributes] = await Promise.all([
        inventory.tags(ListenerArn, ask),
        Protocol === "TLS" ? listeners.furtherCertificates(ListenerArn, ask) : [],
        withAttributes.includes(Port) && Protocol !== "TLS" ? listeners.attributes(ListenerArn, ask) : {},
      ]);
      return { ...seeListener(listener), kept: { tags: tags ?? {}, furtherCertificates, attributes } };
    }),
  );
}
