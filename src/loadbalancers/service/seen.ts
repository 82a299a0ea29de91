/** What there is to do for a Service. */
import type { SeenService } from "../service-state.ts";
import { annotationKey } from "./annotations.ts";
import { type WantedKind, wantedKindOf } from "./type-annotation.ts";

/** Guards a Service until nothing in AWS is left of its load balancer. */
export const cleanupFinalizer = "service.kubernetes.io/load-balancer-cleanup";

export function hasFinalizer({ metadata }: SeenService): boolean {
  return metadata.finalizers.includes(cleanupFinalizer);
}

/**
 * Decided once: the controller, its dry run, `plan` and `explain` all ask here.
 *
 *     the Service is …                              without our finalizer   with it
 *     being deleted, or of another type             none                    clean-up
 *     given to another controller by its class      none                    leave-to-others
 *     given to another controller by its annotation leave-to-others         leave-to-others
 *     of load balancer type none                    targets-only            targets-only
 *     anything else of type LoadBalancer            ensure                  ensure
 */
export type Task =
  | { readonly kind: "ensure"; readonly of: WantedKind }
  /** Target groups are made, and whatever forwards to them is not ours. */
  | { readonly kind: "targets-only" }
  /** What we made for it goes. Our finalizer stays until the Service goes, its status is theirs. */
  | { readonly kind: "leave-to-others" }
  /** What we made for it goes, and then our finalizer. */
  | { readonly kind: "clean-up" }
  | { readonly kind: "none" };

export function taskOf(service: SeenService): Task {
  const { metadata, view } = service;
  const { type, loadBalancerClass } = view;
  const ifGuarded = (kind: "clean-up" | "leave-to-others"): Task => ({ kind: hasFinalizer(service) ? kind : "none" });
  if (metadata.deletionTimestamp !== undefined || type !== "LoadBalancer") return ifGuarded("clean-up");
  if (loadBalancerClass !== undefined) return ifGuarded("leave-to-others");
  const kind = wantedKindOf(view.annotations);
  if (kind === "targets") return { kind: "targets-only" };
  return kind === "foreign" ? { kind: "leave-to-others" } : { kind: "ensure", of: kind };
}

/** Who else serves a Service, in words; undefined when nobody else does. Then nothing of its status is ours. */
export function otherServer({ view }: SeenService): string | undefined {
  const { loadBalancerClass } = view;
  if (loadBalancerClass !== undefined) {
    const known = classes.get(loadBalancerClass);
    return `${known ?? "another controller"}, by loadBalancerClass ${loadBalancerClass}`;
  }
  if (wantedKindOf(view.annotations) !== "foreign") return undefined;
  const key = annotationKey("type");
  return `the AWS Load Balancer Controller, by annotation ${key}: ${view.annotations[key]}`;
}

const classes: ReadonlyMap<string, string> = new Map([
  ["service.k8s.aws/nlb", "the AWS Load Balancer Controller"],
  ["eks.amazonaws.com/nlb", "EKS Auto Mode"],
]);

/** Whether a change of a Service is a reason to look at its load balancer. Labels, selectors and status are not. */
export function concernsLoadBalancer(before: SeenService | undefined, after: SeenService): boolean {
  const task = taskOf(after);
  if (task.kind === "clean-up") return true;
  if (before === undefined) return task.kind !== "none";
  if (taskOf(before).kind !== task.kind) return true;
  // Without its finalizer what stands would be left behind.
  if (hasFinalizer(before) && !hasFinalizer(after)) return true;
  return task.kind !== "none" && before.fingerprint !== after.fingerprint;
}
