/** What the steps of a cycle share. */
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import type { KubeObject, Resource, Stored, Target } from "../kube/resource.ts";
import type { Host } from "../runtime/host.ts";
import { within } from "../runtime/world.ts";
import type { DataKind, DiscoveryMetrics } from "./metrics.ts";
import { retrying } from "./retry.ts";

export interface DiscoveryContext {
  readonly host: Host;
  readonly kube: KubeClient;
  readonly cloud: Cloud;
  /** By whose tag the cluster's subnets and disks are known; undefined: nothing is said of them. */
  readonly clusterId: string | undefined;
  readonly metrics: DiscoveryMetrics;
}

/** One request to the API server. */
const requestLimitMs = 10_000;
/** A read from AWS with all its pages and retries: a cycle that hangs would never be followed by another. */
const readLimitMs = 10 * 60_000;

/** Asks AWS in a step, within a limit of time. */
export function askAws<T>({ host }: DiscoveryContext, kind: DataKind, signal: AbortSignal, read: (ask: Ask) => Promise<T>): Promise<T> {
  const cause = `discovery of ${kind.replaceAll("_", " ")}`;
  return within(host.world.clock, readLimitMs, cause, signal, (inner) => read({ cause, signal: inner }));
}

/** Brings something to the cluster, and tells in the metric what came of it. */
export async function publish(
  { host, metrics }: DiscoveryContext,
  resource: DataKind,
  what: string,
  signal: AbortSignal,
  attempt: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  try {
    await retrying(host, what, requestLimitMs, signal, attempt);
    metrics.written(resource, false);
  } catch (error) {
    signal.throwIfAborted();
    metrics.written(resource, true);
    throw error;
  }
}

/** An object of the cluster; undefined when there is none. */
export function fetchIfThere<T extends KubeObject>(
  { host, kube }: DiscoveryContext,
  of: Resource<T>,
  target: Target & { readonly name: string },
  signal: AbortSignal,
): Promise<Stored<T> | undefined> {
  const what = `read ${of.kind} ${target.name}`;
  return retrying(host, what, requestLimitMs, signal, (inner) => getIfThere(kube, of, target, inner));
}

/** The same in one attempt. */
export async function getIfThere<T extends KubeObject>(
  kube: KubeClient,
  of: Resource<T>,
  target: Target & { readonly name: string },
  signal: AbortSignal,
): Promise<Stored<T> | undefined> {
  try {
    return await kube.get(of, target, { signal });
  } catch (error) {
    if (isApiError(error, "not-found")) return undefined;
    throw error;
  }
}
