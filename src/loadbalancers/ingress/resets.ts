/**
 * Attributes that a group has set and that nobody asks for any more: with the gate EnhancedDefaultBehavior they go back to what AWS
 * gives. Which ones were set is written down on its first Ingress; what others have set is left alone. Pure.
 */
import { newAttributes, newListenerAttribute, newTargetGroupAttributes } from "../application/default-attributes.ts";
import type { ApplicationLoadBalancer, Attributes } from "../model.ts";

/** `load-balancer idle_timeout.timeout_seconds`, `listener 443 …`, `target-group k8s-… stickiness.enabled`, `capacity` */
export type SetAttribute = string;

export const setCapacity: SetAttribute = "capacity";
const ofBalancer = "load-balancer";
const ofListener = (port: number) => `listener ${port}`;
const ofGroup = (name: string) => `target-group ${name}`;

/** All that a model sets. */
export function setAttributesOf(model: ApplicationLoadBalancer): readonly SetAttribute[] {
  const keys = (where: string, attributes: Attributes = {}) => Object.keys(attributes).map((key) => `${where} ${key}`);
  return [
    ...keys(ofBalancer, model.attributes),
    ...(model.capacity === undefined ? [] : [setCapacity]),
    ...model.listeners.flatMap(({ port, attributes }) => keys(ofListener(port), attributes)),
    ...model.targetGroups.flatMap(({ name, attributes }) => keys(ofGroup(name), attributes)),
  ].toSorted();
}

/** What has to be read, because something of it may have to go back. */
export function concernedBy(set: readonly SetAttribute[]) {
  const has = (where: string) => set.some((each) => each.startsWith(`${where} `));
  return {
    attributes: has(ofBalancer),
    capacity: set.includes(setCapacity),
    targetGroupAttributes: has("target-group"),
    listenerAttributes: set.flatMap((each) => /^listener (\d+) /.exec(each)?.[1] ?? []).map(Number),
  };
}

/** The model that also asks for AWS's own values of what was set before. One that AWS has no value for stays as it is. */
export function withResets(model: ApplicationLoadBalancer, set: readonly SetAttribute[]): ApplicationLoadBalancer {
  // Whoever cannot be understood may still ask for them.
  if (set.length === 0 || model.keepsUnclaimed) return model;
  const before = (where: string) => set.filter((each) => each.startsWith(`${where} `)).map((each) => each.slice(where.length + 1));
  const reset = (where: string, asked: Attributes, defaultOf: (key: string) => string | undefined): Attributes => ({
    ...Object.fromEntries(before(where).flatMap((key) => (defaultOf(key) === undefined ? [] : [[key, defaultOf(key)!]]))),
    ...asked,
  });
  return {
    ...model,
    attributes: reset(ofBalancer, model.attributes, (key) => newAttributes[key]),
    ...(model.capacity === undefined && set.includes(setCapacity) && { capacity: 0 }),
    listeners: model.listeners.map((listener) => ({
      ...listener,
      attributes: reset(ofListener(listener.port), listener.attributes, newListenerAttribute),
    })),
    targetGroups: model.targetGroups.map((group) => ({
      ...group,
      attributes: reset(ofGroup(group.name), group.attributes, (key) => newTargetGroupAttributes[key]),
    })),
  };
}
