/**
 * The binary form of the kinds that clients create by hand or by habit: `number name type`, with `[]` for a list, `{}` for
 * a map, `!` for a field whose zero value means something, `^` for one whose fields stand in its parent.
 */

export interface ProtoField {
  readonly name: string;
  /** A scalar (`string`, `int`, `bool`, `bytes`, `time`, `microtime`, `intOrString`, `quantity`) or the name of a message. */
  readonly type: string;
  readonly form: "one" | "kept" | "list" | "map" | "inline";
}

const forms: Readonly<Record<string, ProtoField["form"]>> = { "[]": "list", "{}": "map", "!": "kept", "^": "inline" };

const described: Readonly<Record<string, string>> = {
  ObjectMeta:
    "1 name string, 2 generateName string, 3 namespace string, 5 uid string, 6 resourceVersion string, 7 generation int, 8 creationTimestamp time, 9 deletionTimestamp time, 10 deletionGracePeriodSeconds int, 11 labels string{}, 12 annotations string{}, 13 ownerReferences OwnerReference[], 14 finalizers string[]",
  OwnerReference: "1 kind string, 3 name string, 4 uid string, 5 apiVersion string, 6 controller bool!, 7 blockOwnerDeletion bool!",
  DeleteOptions: "1 gracePeriodSeconds int!, 2 preconditions Preconditions, 4 propagationPolicy string, 5 dryRun string[]",
  Preconditions: "1 uid string, 2 resourceVersion string",
  ObjectReference:
    "1 kind string, 2 namespace string, 3 name string, 4 uid string, 5 apiVersion string, 6 resourceVersion string, 7 fieldPath string",
  LocalObjectReference: "1 name string",
  Namespace: "1 metadata ObjectMeta, 2 spec NamespaceSpec",
  NamespaceSpec: "1 finalizers string[]",
  ConfigMap: "1 metadata ObjectMeta, 2 data string{}, 3 binaryData bytes{}, 4 immutable bool!",
  Secret: "1 metadata ObjectMeta, 2 data bytes{}, 3 type string, 4 stringData string{}, 5 immutable bool!",
  ServiceAccount:
    "1 metadata ObjectMeta, 2 secrets ObjectReference[], 3 imagePullSecrets LocalObjectReference[], 4 automountServiceAccountToken bool!",
  Node: "1 metadata ObjectMeta, 2 spec NodeSpec, 3 status NodeStatus",
  NodeSpec: "1 podCIDR string, 3 providerID string, 4 unschedulable bool, 5 taints Taint[], 7 podCIDRs string[]",
  Taint: "1 key string, 2 value string, 3 effect string, 4 timeAdded time",
  NodeStatus:
    "1 capacity quantity{}, 2 allocatable quantity{}, 3 phase string, 4 conditions NodeCondition[], 5 addresses NodeAddress[], 6 daemonEndpoints NodeDaemonEndpoints, 7 nodeInfo NodeSystemInfo",
  NodeCondition: "1 type string, 2 status string, 3 lastHeartbeatTime time, 4 lastTransitionTime time, 5 reason string, 6 message string",
  NodeAddress: "1 type string, 2 address string",
  NodeDaemonEndpoints: "1 kubeletEndpoint DaemonEndpoint",
  DaemonEndpoint: "1 Port int!",
  NodeSystemInfo:
    "1 machineID string!, 2 systemUUID string!, 3 bootID string!, 4 kernelVersion string!, 5 osImage string!, 6 containerRuntimeVersion string!, 7 kubeletVersion string!, 8 kubeProxyVersion string!, 9 operatingSystem string!, 10 architecture string!",
  Service: "1 metadata ObjectMeta, 2 spec ServiceSpec",
  ServiceSpec:
    "1 ports ServicePort[], 2 selector string{}, 3 clusterIP string, 4 type string, 5 externalIPs string[], 7 sessionAffinity string, 8 loadBalancerIP string, 9 loadBalancerSourceRanges string[], 10 externalName string, 11 externalTrafficPolicy string, 12 healthCheckNodePort int, 13 publishNotReadyAddresses bool, 14 sessionAffinityConfig SessionAffinityConfig, 17 ipFamilyPolicy string, 18 clusterIPs string[], 19 ipFamilies string[], 20 allocateLoadBalancerNodePorts bool!, 21 loadBalancerClass string, 22 internalTrafficPolicy string, 23 trafficDistribution string",
  ServicePort: "1 name string, 2 protocol string, 3 port int, 4 targetPort intOrString, 5 nodePort int, 6 appProtocol string",
  SessionAffinityConfig: "1 clientIP ClientIPConfig",
  ClientIPConfig: "1 timeoutSeconds int!",
  Event:
    "1 metadata ObjectMeta, 2 involvedObject ObjectReference, 3 reason string, 4 message string, 5 source EventSource, 6 firstTimestamp time, 7 lastTimestamp time, 8 count int, 9 type string, 10 eventTime microtime, 11 series EventSeries, 12 action string, 13 related ObjectReference, 14 reportingComponent string, 15 reportingInstance string",
  EventSource: "1 component string, 2 host string",
  EventSeries: "1 count int, 2 lastObservedTime microtime",
  Lease: "1 metadata ObjectMeta, 2 spec LeaseSpec",
  LeaseSpec:
    "1 holderIdentity string!, 2 leaseDurationSeconds int!, 3 acquireTime microtime, 4 renewTime microtime, 5 leaseTransitions int!, 6 strategy string!, 7 preferredHolder string!",
  Role: "1 metadata ObjectMeta, 2 rules PolicyRule[]",
  RoleBinding: "1 metadata ObjectMeta, 2 subjects Subject[], 3 roleRef RoleRef",
  ClusterRole: "1 metadata ObjectMeta, 2 rules PolicyRule[]",
  ClusterRoleBinding: "1 metadata ObjectMeta, 2 subjects Subject[], 3 roleRef RoleRef",
  PolicyRule: "1 verbs string[], 2 apiGroups string[], 3 resources string[], 4 resourceNames string[], 5 nonResourceURLs string[]",
  RoleRef: "1 apiGroup string, 2 kind string, 3 name string",
  Subject: "1 kind string, 2 apiGroup string, 3 name string, 4 namespace string",
  TokenRequest: "1 metadata ObjectMeta, 2 spec TokenRequestSpec",
  TokenRequestSpec: "1 audiences string[], 3 boundObjectRef BoundObjectReference, 4 expirationSeconds int!",
  BoundObjectReference: "1 kind string, 2 apiVersion string, 3 name string, 4 uid string",
  TokenReview: "1 metadata ObjectMeta, 2 spec TokenReviewSpec",
  TokenReviewSpec: "1 token string, 2 audiences string[]",
  SelfSubjectAccessReview: "1 metadata ObjectMeta, 2 spec AccessReviewSpec",
  SubjectAccessReview: "1 metadata ObjectMeta, 2 spec AccessReviewSpec",
  AccessReviewSpec:
    "1 resourceAttributes ResourceAttributes, 2 nonResourceAttributes NonResourceAttributes, 3 user string, 4 groups string[], 6 uid string",
  ResourceAttributes:
    "1 namespace string, 2 verb string, 3 group string, 4 version string, 5 resource string, 6 subresource string, 7 name string",
  NonResourceAttributes: "1 path string, 2 verb string",
  Ingress: "1 metadata ObjectMeta, 2 spec IngressSpec",
  IngressSpec: "1 defaultBackend IngressBackend, 2 tls IngressTLS[], 3 rules IngressRule[], 4 ingressClassName string",
  IngressRule: "1 host string, 2 rule IngressRuleValue^",
  IngressRuleValue: "1 http HTTPIngressRuleValue",
  HTTPIngressRuleValue: "1 paths HTTPIngressPath[]",
  HTTPIngressPath: "1 path string, 2 backend IngressBackend, 3 pathType string",
  IngressBackend: "4 service IngressServiceBackend",
  IngressServiceBackend: "1 name string, 2 port ServiceBackendPort",
  ServiceBackendPort: "1 name string, 2 number int",
  IngressTLS: "1 hosts string[], 2 secretName string",
};

/** Message name → field number → field. */
export const messages: ReadonlyMap<string, ReadonlyMap<number, ProtoField>> = new Map(
  Object.entries(described).map(([message, text]) => [message, new Map(text.split(", ").map(fieldFrom))]),
);

function fieldFrom(text: string): [number, ProtoField] {
  const [number, name, written] = text.split(" ") as [string, string, string];
  const [, type, mark] = /^(\w+)(.*)$/.exec(written) as unknown as [string, string, string];
  return [Number(number), { name, type, form: forms[mark] ?? "one" }];
}
