/** TargetGroupBinding: a Service port, and the target group whose targets are kept equal to its endpoints. */
import type { Informer } from "../../kube/informer.ts";
import { type Frozen, type KubeObject, resource, type Stored } from "../../kube/resource.ts";

/** Guards a binding until its targets are deregistered. */
export const bindingFinalizer = "elbv2.k8s.aws/resources";
export const checkpointAnnotation = "elbv2.k8s.aws/checkpoint";
export const checkpointTimeAnnotation = "elbv2.k8s.aws/checkpoint-timestamp";

export const targetTypes = ["instance", "ip"] as const;
export type TargetType = (typeof targetTypes)[number];
export const addressTypes = ["ipv4", "ipv6"] as const;
export type AddressType = (typeof addressTypes)[number];
export const groupProtocols = ["HTTP", "HTTPS", "TCP", "TLS", "UDP", "TCP_UDP", "QUIC", "TCP_QUIC"] as const;

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
}

export interface NetworkingPeer {
  readonly ipBlock?: { readonly cidr: string };
  readonly securityGroup?: { readonly groupID: string };
}

export interface NetworkingPort {
  readonly protocol?: "TCP" | "UDP";
  /** A number, or the name of a container's port. Absent: all of them. */
  readonly port?: number | string;
}

export interface NetworkingIngressRule {
  readonly from: readonly NetworkingPeer[];
  readonly ports: readonly NetworkingPort[];
}

export interface BindingSpec {
  readonly targetGroupARN?: string;
  readonly targetGroupName?: string;
  readonly multiClusterTargetGroup?: boolean;
  readonly targetType?: TargetType;
  readonly targetGroupProtocol?: string;
  readonly serviceRef: { readonly name: string; readonly port: number | string };
  readonly networking?: { readonly ingress?: readonly NetworkingIngressRule[] };
  readonly nodeSelector?: LabelSelector;
  readonly ipAddressType?: AddressType;
  readonly vpcID?: string;
  readonly iamRoleArnToAssume?: string;
  readonly assumeRoleExternalId?: string;
}

export interface BindingCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
}

/** How many targets there are: wanted, registered and not on their way out, of those healthy; and on their way out. */
export interface TargetCounts {
  readonly wanted: number;
  readonly registered: number;
  readonly healthy: number;
  readonly draining: number;
}

export interface BindingStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly BindingCondition[];
  readonly targets?: TargetCounts;
}

export interface TargetGroupBinding extends KubeObject {
  readonly spec?: BindingSpec;
  readonly status?: BindingStatus;
}

export const targetGroupBindings = resource<TargetGroupBinding>({
  group: "elbv2.k8s.aws",
  version: "v1beta1",
  plural: "targetgroupbindings",
  kind: "TargetGroupBinding",
  namespaced: true,
});

/** As much of a binding as is read here. */
export interface BindingState {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation: number;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly finalizers: readonly string[];
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: BindingSpec;
  readonly status: BindingStatus;
  /** Empty when there is none, or when it was cleared before a change. */
  readonly checkpoint: string;
}

export type SeenBinding = Frozen<BindingState>;
/** `service`: by `namespace/name` of the Service. `group`: by the ARN of the target group. */
export type Bindings = Informer<BindingState, "service" | "group">;

export function bindingState({ metadata, spec, status = {} }: Stored<TargetGroupBinding>): BindingState {
  const {
    name,
    namespace = "",
    uid,
    resourceVersion,
    generation = 0,
    creationTimestamp = "",
    deletionTimestamp,
    finalizers = [],
    labels = {},
    annotations = {},
  } = metadata;
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      generation,
      creationTimestamp,
      ...(deletionTimestamp && { deletionTimestamp }),
      finalizers,
      labels,
    },
    spec: spec ?? { serviceRef: { name: "", port: 0 } },
    status,
    checkpoint: annotations[checkpointAnnotation] ?? "",
  };
}

export const hasBindingFinalizer = ({ metadata }: SeenBinding) => metadata.finalizers.includes(bindingFinalizer);
