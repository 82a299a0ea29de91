/** What the kinds of load balancers that one API serves have in common. */
import type { Ask } from "../../aws/ask.ts";
import { modifyLoadBalancerAttributes } from "../../aws/elbv2-actions.ts";
import { isStepOf } from "../../aws/plan.ts";
import type { Inventory } from "../inventory.ts";
import { type Found, hostnameOf, type LoadBalancerKind, namesWith, type ObserveOptions, type Seen } from "../kind.ts";
import type { Attributes, LoadBalancerModel } from "../model.ts";

type Model = LoadBalancerModel & { readonly attributes: Attributes };
type View = Seen & { readonly loadBalancer?: { readonly attributes: Attributes } };
type Handle = Found & { readonly arn: string };

type Common = "namesBehind" | "tags" | "managedGroupName" | "hostnameIn" | "rememberAttributes" | "forgetAttributes" | "touch";

export const elbv2: Pick<LoadBalancerKind<Model, View, Handle>, Common> = {
  namesBehind: async (hostname, { loadBalancers }, maxAgeMs, ask, by) => namesWith(hostname, await loadBalancers.all(maxAgeMs, ask, by)),
  tags: ({ arn }, { cloud }, ask) => cloud.loadBalancers.tags(arn, ask),
  managedGroupName: ({ securityGroupName }) => securityGroupName,
  hostnameIn(output) {
    const { LoadBalancers = [] } = output as { readonly LoadBalancers?: readonly { readonly DNSName?: string }[] };
    return hostnameOf({ ...LoadBalancers[0] }) || undefined;
  },
  rememberAttributes({ model, seen, steps, isNew }, key, { networkAttributes }, now) {
    const isWritten = isNew || steps.some((step) => isStepOf(step, modifyLoadBalancerAttributes));
    const attributes = { ...seen.loadBalancer?.attributes, ...model.attributes };
    if (isWritten) networkAttributes.offer(attributesKey(model.name, key), attributes, now);
  },
  forgetAttributes: (name, key, { networkAttributes }) => networkAttributes.invalidate(attributesKey(name, key)),
  touch: (name, inventory, by) => inventory.loadBalancers.touch(name, by),
};

/** The attributes of one that stands, asked anew when others are wanted of it. */
export function attributesOf(
  { name, arn }: Pick<Handle, "name" | "arn">,
  { attributesKey: key, attributesAgeMs }: ObserveOptions,
  { networkAttributes, cloud }: Inventory,
  ask: Ask,
): Promise<Attributes> {
  return networkAttributes.get(attributesKey(name, key), attributesAgeMs, () => cloud.loadBalancers.attributes(arn, ask));
}

/** A load balancer, and everything asked of it that attributes follow from. */
const attributesKey = (name: string, key: string) => `${name} ${key}`;
