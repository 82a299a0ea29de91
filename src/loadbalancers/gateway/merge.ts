/** What two configurations say together. Pure. */
import type { KeyValue, LoadBalancerSettings, MergingMode, TargetGroupSettings } from "./config.ts";

/** Of a class's configuration; what a Gateway's says of it counts for nothing. */
export const mergingModeOf = (ofClass: LoadBalancerSettings | undefined): MergingMode => ofClass?.mergingMode ?? "prefer-gateway-class";

/** Field by field what is said with the higher priority. Tags, attributes and listeners are merged by their keys. */
export function mergeLoadBalancers(
  ofClass: LoadBalancerSettings | undefined,
  ofGateway: LoadBalancerSettings | undefined,
): LoadBalancerSettings {
  const [high, low] = byPriority(mergingModeOf(ofClass), ofClass, ofGateway);
  if (high === undefined || low === undefined) return high ?? low ?? {};
  const { mergingMode: _, ...first } = defined(high);
  const { mergingMode: _low, ...second } = defined(low);
  const tags = mergeMaps(first.tags, second.tags);
  const attributes = mergeByKey(first.loadBalancerAttributes, second.loadBalancerAttributes, ({ key }) => key);
  const listeners = mergeByKey(first.listenerConfigurations, second.listenerConfigurations, ({ protocolPort }) => protocolPort);
  return {
    ...second,
    ...first,
    ...(ofClass?.mergingMode && { mergingMode: ofClass.mergingMode }),
    ...(tags && { tags }),
    ...(attributes && { loadBalancerAttributes: attributes }),
    ...(listeners && { listenerConfigurations: listeners }),
  };
}

/** Of what a class and a Gateway say, the one that goes before the other. */
export function byPriority<T>(mode: MergingMode, ofClass: T, ofGateway: T): readonly [T, T] {
  return mode === "prefer-gateway" ? [ofGateway, ofClass] : [ofClass, ofGateway];
}

/** Field by field; tags and attributes key by key. A health check and a selector of nodes are taken whole. */
export function mergeTargetGroups(high: TargetGroupSettings, low: TargetGroupSettings): TargetGroupSettings {
  const [first, second] = [defined(high), defined(low)];
  const tags = mergeMaps(first.tags, second.tags);
  const attributes = mergeByKey(first.targetGroupAttributes, second.targetGroupAttributes, ({ key }) => key);
  return { ...second, ...first, ...(tags && { tags }), ...(attributes && { targetGroupAttributes: attributes }) };
}

/** By their keys; the last of equal ones counts. */
export const recordOf = (pairs: readonly KeyValue[] | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries((pairs ?? []).map(({ key, value }) => [key, value]));

/** Without fields that are null or undefined: those say nothing. An empty list says something. */
function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined && inner !== null)) as T;
}

function mergeMaps<T>(high: Readonly<Record<string, T>> | undefined, low: Readonly<Record<string, T>> | undefined) {
  return high && low ? { ...low, ...high } : undefined;
}

function mergeByKey<T>(
  high: readonly T[] | undefined,
  low: readonly T[] | undefined,
  keyOf: (item: T) => string,
): readonly T[] | undefined {
  if (high === undefined || low === undefined) return undefined;
  const keys = new Set(high.map(keyOf));
  return [...high, ...low.filter((item) => !keys.has(keyOf(item)))];
}
