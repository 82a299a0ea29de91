/** The pods of a Node that is drained: which have to go, and by which step of the ladder. Pure. */
import type { Stored } from "../kube/resource.ts";
import type { Pod } from "../kube/types.ts";

/** As much of a pod as draining needs. */
export interface PodView {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
    readonly deletionGracePeriodSeconds?: number;
    /** Only where Events tell of them. */
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly node: string;
  /** In milliseconds, as exact as its second. */
  readonly created: number;
  /** The name of the DaemonSet that controls it. */
  readonly daemonSet: string | undefined;
  readonly mirror: boolean;
  readonly finished: boolean;
  readonly localData: boolean;
  readonly graceSeconds: number;
}

/** What is kept of a pod, with its labels where they are wanted. */
export function podView({ metadata, spec, status }: Stored<Pod>, withLabels = false): PodView {
  const { name, namespace = "", uid, resourceVersion, labels, annotations, ownerReferences } = metadata;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  return {
    metadata: {
      ...{ name, namespace, uid, resourceVersion },
      ...(deletionTimestamp && { deletionTimestamp, deletionGracePeriodSeconds }),
      ...(withLabels && labels && { labels }),
    },
    node: spec?.nodeName ?? "",
    created: Date.parse(metadata.creationTimestamp ?? "") || 0,
    daemonSet: ownerReferences?.find(({ controller, kind }) => controller && kind === "DaemonSet")?.name,
    mirror: annotations?.["kubernetes.io/config.mirror"] !== undefined,
    finished: status?.phase === "Succeeded" || status?.phase === "Failed",
    localData: spec?.volumes?.some(({ emptyDir }) => emptyDir !== undefined) ?? false,
    graceSeconds: spec?.terminationGracePeriodSeconds ?? 30,
  };
}

/** What a user says about draining. */
export interface DrainSettings {
  /** DaemonSets' pods stay; otherwise one of them makes the drain fail. */
  readonly ignoreDaemonSets: boolean;
  /** Pods with local data go; otherwise one of them makes the drain fail. */
  readonly deleteLocalData: boolean;
  /** Negative: each pod's own. */
  readonly podGraceSeconds: number;
  /** This process itself. */
  readonly ownPod: { readonly name: string; readonly namespace: string };
  /** So long before the deadline disruption budgets count no more; undefined: they always do. */
  readonly overrideBudgetsMs: number | undefined;
  /** So long before the deadline pods get only the time that is left; undefined: always their own. */
  readonly shortenGraceMs: number | undefined;
}

/** One step of the ladder. */
export type PodRemoval =
  /** The eviction API, which respects disruption budgets. */
  | { readonly how: "evict"; readonly pod: PodView; readonly graceSeconds: number | undefined }
  /** A deletion, which does not. */
  | { readonly how: "delete"; readonly pod: PodView; readonly graceSeconds: number | undefined };

/** What was tried on a pod, and when it may be tried again. */
export interface Attempt {
  readonly how: PodRemoval["how"];
  readonly graceSeconds?: number | undefined;
  /** Accepted: the pod is on its way out. */
  readonly accepted: boolean;
  /** Refused, and why. */
  readonly refusal?: string;
  readonly retryAt: number;
}

/** What draining a Node comes to at one moment. */
export interface Drain {
  /** Pods that must go and have not. */
  readonly remaining: readonly PodView[];
  /** Why it cannot be done at all. */
  readonly problem: string | undefined;
  readonly removals: readonly PodRemoval[];
  /** When to look again if nothing changes. */
  readonly lookAgainAt: number | undefined;
}

/** What to do about the pods of a Node now. A pod whose DaemonSet is gone (`orphaned`, as `namespace/name`) is one like any other. */
export function planDrain(
  pods: readonly PodView[],
  attempts: ReadonlyMap<string, Attempt>,
  settings: DrainSettings,
  deadline: number | undefined,
  now: number,
  orphaned: ReadonlySet<string> = new Set(),
): Drain {
  const problems: string[] = [];
  const remaining = pods.filter((pod) => {
    if (isOwnPod(pod, settings) || pod.mirror) return false;
    if (pod.daemonSet !== undefined && !pod.finished && !orphaned.has(`${pod.metadata.namespace}/${pod.daemonSet}`)) {
      if (!settings.ignoreDaemonSets) problems.push(refused(pod, "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"));
      return false;
    }
    if (pod.localData && !pod.finished && !settings.deleteLocalData) {
      problems.push(refused(pod, "Pods with local storage (use --delete-emptydir-data to override)"));
    }
    return true;
  });
  if (problems.length > 0) return { remaining, problem: problems.join(", "), removals: [], lookAgainAt: undefined };
  const left = deadline === undefined ? Number.POSITIVE_INFINITY : deadline - now;
  const rung = rungAt(left, settings);
  const removals = remaining.flatMap((pod) => removalOf(pod, attempts.get(pod.metadata.uid), rung, settings, left, now));
  const times = remaining.flatMap((pod) => attempts.get(pod.metadata.uid)?.retryAt ?? []).filter((at) => at > now);
  const rungs = deadline === undefined ? [] : [settings.overrideBudgetsMs, settings.shortenGraceMs].flatMap((ms) => deadline - (ms ?? 0));
  const ahead = [...times, ...rungs.filter((at) => at > now)];
  return { remaining, problem: undefined, removals, lookAgainAt: ahead.length === 0 ? undefined : Math.min(...ahead) };
}

type Rung = "evict" | "override" | "shorten";

function rungAt(left: number, { overrideBudgetsMs, shortenGraceMs }: DrainSettings): Rung {
  if (shortenGraceMs !== undefined && left <= shortenGraceMs) return "shorten";
  return overrideBudgetsMs !== undefined && left <= overrideBudgetsMs ? "override" : "evict";
}

function removalOf(
  pod: PodView,
  attempt: Attempt | undefined,
  rung: Rung,
  settings: DrainSettings,
  left: number,
  now: number,
): readonly PodRemoval[] {
  const own = settings.podGraceSeconds < 0 ? undefined : settings.podGraceSeconds;
  const leaving = pod.metadata.deletionTimestamp !== undefined || (attempt?.accepted === true && now < attempt.retryAt);
  if (rung === "shorten") {
    // Whoever was given a period of its own by us ends within it.
    if (attempt?.how === "delete" && attempt.graceSeconds !== undefined && now < attempt.retryAt) return [];
    const allowed = secondsUntil(pod, now + left, now);
    const given = pod.metadata.deletionGracePeriodSeconds ?? own ?? pod.graceSeconds;
    // Who ends in time by itself is left to it.
    return leaving && given <= allowed ? [] : [{ how: "delete", pod, graceSeconds: Math.min(given, allowed) }];
  }
  if (leaving) return [];
  const how = rung === "override" ? "delete" : "evict";
  if (attempt !== undefined && attempt.how === how && now < attempt.retryAt) return [];
  return [{ how, pod, graceSeconds: own }];
}

/** The grace period with which a pod ends at the deadline. Of one that is on its way already it counts from when that began. */
function secondsUntil({ metadata: { deletionTimestamp, deletionGracePeriodSeconds = 0 } }: PodView, deadline: number, now: number): number {
  const begun = deletionTimestamp === undefined ? now : Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  return Math.max(1, Math.floor((deadline - begun) / 1000));
}

function isOwnPod({ metadata }: PodView, { ownPod }: DrainSettings): boolean {
  return ownPod.name !== "" && metadata.name === ownPod.name && (ownPod.namespace === "" || metadata.namespace === ownPod.namespace);
}

function refused({ metadata: { namespace, name } }: PodView, why: string): string {
  return `cannot delete ${why}: ${namespace}/${name}`;
}
