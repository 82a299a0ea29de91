/** `pods/eviction`: a deletion that disruption budgets may refuse, in the order of checks of the real API. */
import { asList, asObject, asText, type JsonObject, type KubeObject } from "./json.ts";
import type { Resource } from "./resources.ts";
import { ApiFailure, badRequest } from "./status.ts";
import type { Store } from "./store.ts";
import type { WriteOptions, Writes } from "./writes.ts";

const budgetsKey = "policy/poddisruptionbudgets";
const refused = "Cannot evict pod as it would violate the pod's disruption budget.";
/** A budget whose status does not speak of its latest form yet. */
const notComputedSeconds = 10;

export interface Eviction {
  readonly store: Store;
  readonly writes: Writes;
  readonly pods: Resource;
  readonly budgets: Resource;
  readonly now: string;
  readonly options: WriteOptions;
}

/** Evicts a pod, or throws the refusal. */
export function evict(pod: KubeObject, sent: JsonObject, eviction: Eviction): JsonObject {
  const { name, namespace } = pod.metadata;
  const asked = asText(asObject(sent.metadata).name);
  if (asked !== "" && asked !== name) throw badRequest("name in URL does not match name in Eviction object");
  const deleteOptions = asObject(sent.deleteOptions);
  if (!goesAnyway(pod)) {
    takeFromBudget(pod, eviction);
    markDisrupted(pod, eviction);
  }
  const { gracePeriodSeconds, preconditions } = deleteOptions;
  eviction.writes.delete(eviction.pods, namespace, name, {
    dryRun: eviction.options.dryRun,
    gracePeriodSeconds: typeof gracePeriodSeconds === "number" ? gracePeriodSeconds : undefined,
    propagationPolicy: undefined,
    preconditions: asObject(preconditions),
  });
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}

/** Pods that no budget counts: those that have ended, have not begun, or are on their way out. */
function goesAnyway(pod: KubeObject): boolean {
  const phase = asText(asObject(pod.status).phase);
  return ["Succeeded", "Failed", "Pending"].includes(phase) || pod.metadata.deletionTimestamp !== undefined;
}

function takeFromBudget(pod: KubeObject, { store, writes, budgets, now, options }: Eviction): void {
  const { name, namespace } = pod.metadata;
  const [budget, ...more] = store.list(budgetsKey).filter((each) => each.metadata.namespace === namespace && selects(each, pod));
  if (budget === undefined) return;
  if (more.length > 0) {
    throw new ApiFailure(500, "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
  }
  const status = asObject(budget.status);
  if (!isReady(pod) && mayGoUnready(budget)) return;
  const named = budget.metadata.name;
  if (Number(status.observedGeneration ?? 0) < Number(budget.metadata.generation ?? 0)) {
    throw tooMany(`The disruption budget ${named} is still being processed by the server.`, notComputedSeconds);
  }
  const allowed = Number(status.disruptionsAllowed ?? 0);
  if (allowed <= 0) {
    const { desiredHealthy = 0, currentHealthy = 0 } = status;
    const short = Number(currentHealthy) <= Number(desiredHealthy);
    const why = short
      ? `needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
      : "does not allow evicting pods currently";
    throw tooMany(`The disruption budget ${named} ${why}`);
  }
  const change = (current: KubeObject) => ({
    ...current,
    status: { ...status, disruptionsAllowed: allowed - 1, disruptedPods: { ...asObject(status.disruptedPods), [name]: now } },
  });
  writes.update(budgets, namespace, named, { subresource: "status", replaces: false, change }, options);
}

function isReady(pod: KubeObject): boolean {
  return asList(asObject(pod.status).conditions)
    .map(asObject)
    .some(({ type, status }) => type === "Ready" && status === "True");
}

/** A pod that serves nobody is let go where the budget says so, or where it has what it wants without it. */
function mayGoUnready(budget: KubeObject): boolean {
  if (asObject(budget.spec).unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  const { currentHealthy, desiredHealthy } = asObject(budget.status);
  return Number(desiredHealthy ?? 0) > 0 && Number(currentHealthy ?? 0) >= Number(desiredHealthy);
}

/** Says on the pod why it goes. */
function markDisrupted(pod: KubeObject, { writes, pods, now, options }: Eviction): void {
  const condition = { type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI", message: "Eviction API: evicting" };
  const change = (current: KubeObject) => {
    const status = asObject(current.status);
    const others = asList(status.conditions).filter((each) => asObject(each).type !== condition.type);
    return { ...current, status: { ...status, conditions: [...others, { ...condition, lastProbeTime: null, lastTransitionTime: now }] } };
  };
  writes.update(pods, pod.metadata.namespace, pod.metadata.name, { subresource: "status", replaces: false, change }, options);
}

function tooMany(message: string, retryAfterSeconds?: number): ApiFailure {
  const causes = [{ reason: "DisruptionBudget", message }];
  return new ApiFailure(429, refused, {
    reason: "TooManyRequests",
    details: { causes, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) },
  });
}

/** An empty selector of policy/v1 takes every pod of the namespace; none takes no pod. */
function selects(budget: KubeObject, pod: KubeObject): boolean {
  const { selector } = asObject(budget.spec);
  if (selector === undefined || selector === null) return false;
  const labels = asObject(pod.metadata.labels);
  const { matchLabels, matchExpressions } = asObject(selector);
  const byLabels = Object.entries(asObject(matchLabels)).every(([key, value]) => labels[key] === value);
  return byLabels && asList(matchExpressions).every((expression) => meets(labels, asObject(expression)));
}

function meets(labels: JsonObject, { key, operator, values }: JsonObject): boolean {
  const value = labels[asText(key)];
  const listed = asList(values).includes(value ?? null);
  switch (operator) {
    case "In":
      return value !== undefined && listed;
    case "NotIn":
      return !listed;
    case "Exists":
      return value !== undefined;
    default:
      return value === undefined;
  }
}
