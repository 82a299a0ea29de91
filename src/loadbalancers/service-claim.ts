/**
 * Who serves a Service of type LoadBalancer: the Service controller of the cloud controller manager, or the load balancer
 * controller. Both go by this file, so that no Service has two servers, also where both run in one process.
 *
 *     class        type annotation        cloud controller manager              load balancer controller
 *     set          any                    leaves it alone                       serves it if the class is its own
 *     unset        external, nlb-ip       its finalizer, and nothing else       serves it if it says which targets
 *     unset        anything else          serves it                             leaves it alone
 */

const annotationPrefix = "service.beta.kubernetes.io/aws-load-balancer-";
export const typeAnnotation = `${annotationPrefix}type`;
const targetTypeAnnotation = `${annotationPrefix}nlb-target-type`;

/** Values of the type annotation by which a Service without a class is the load balancer controller's. */
export const handedOverTypes = ["external", "nlb-ip"] as const;

/** As much of a Service as decides it. */
export interface Claimable {
  readonly type: string;
  readonly loadBalancerClass?: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly isDeleted: boolean;
}

export interface ClaimSettings {
  /** `--load-balancer-class` */
  readonly loadBalancerClass: string;
  /** Whether Services of other types are left alone, whatever their annotations say. */
  readonly loadBalancersOnly: boolean;
}

/** What the load balancer controller has to do with a Service. */
export type ServiceClaim =
  | { readonly kind: "ours" }
  | { readonly kind: "not-ours" }
  /** Nobody serves it, though its author wants somebody to. */
  | { readonly kind: "unclear"; readonly message: string };

const targetTypes = ["ip", "instance"];

export function claimOf(service: Claimable, settings: ClaimSettings): ServiceClaim {
  const { type, loadBalancerClass, annotations, isDeleted } = service;
  if (isDeleted || (settings.loadBalancersOnly && type !== "LoadBalancer")) return { kind: "not-ours" };
  if (loadBalancerClass !== undefined) return { kind: loadBalancerClass === settings.loadBalancerClass ? "ours" : "not-ours" };
  const asked = annotations[typeAnnotation];
  if (asked === "nlb-ip") return { kind: "ours" };
  if (asked !== "external") return { kind: "not-ours" };
  const targetType = annotations[targetTypeAnnotation];
  if (targetType !== undefined && targetTypes.includes(targetType)) return { kind: "ours" };
  const found = targetType === undefined ? "is missing" : `is ${JSON.stringify(targetType)}`;
  const message = `no load balancer is created: with annotation ${typeAnnotation}: external, annotation ${targetTypeAnnotation} must be ip or instance, and ${found}`;
  return { kind: "unclear", message };
}
