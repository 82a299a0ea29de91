/** Every flag of `fairlead load-balancer-controller`, by section. */

import { type FlagSection, type FlagValues, flag, type ParsedFlags, parseFlags, undecided } from "../../runtime/flags.ts";
import { bool, duration, int, string, strings, stringToString } from "../../runtime/flags-kinds.ts";
import { webhookServingFlags } from "../webhook-serving.ts";
import { featureGates } from "./feature-gates.ts";

const none: readonly string[] = [];
const noPairs: Readonly<Record<string, string>> = {};

/** The cluster, and where it is in AWS. */
export const clusterFlags = {
  "aws-api-endpoints": flag(
    stringToString,
    noPairs,
    "Endpoints of AWS services, in place of the usual ones: serviceID=URL. Needs --aws-region.",
  ),
  "aws-api-throttle": flag(string, "", "Accepted for compatibility; how often AWS is called is decided by what AWS allows."),
  "aws-max-retries": flag(int, 10, "Accepted for compatibility; calls are retried for as long as their work is wanted."),
  "aws-region": flag(string, "", "AWS region. Empty: from the environment, else from the metadata service."),
  "aws-vpc-id": flag(string, "", "The cluster's VPC. Empty: that of the instance this runs on, from the metadata service."),
  "aws-vpc-tag-key": flag(string, "Name", "Accepted for compatibility; has no effect."),
  "aws-vpc-tags": flag(
    stringToString,
    noPairs,
    "Tags of the cluster's VPC, where --aws-vpc-id is not set: exactly one must have all of them.",
  ),
  "cluster-name": flag(string, "", "Name of the cluster, as in its tags. Required."),
  kubeconfig: flag(string, "", "Path of a kubeconfig file. Empty: the service account of the pod."),
  "sync-period": flag(duration, 10 * 3_600_000, "How often everything is read again, whether or not something changed."),
  "watch-namespace": flag(string, "", "Watch objects of this namespace only. Empty: of all."),
};

/** TargetGroupBindings, their targets and readiness gates. */
export const bindingFlags = {
  "disable-restricted-sg-rules": flag(
    bool,
    false,
    "Write every rule of a target's security group as it is asked for. Else those from one group are one rule, from the lowest port to the highest.",
  ),
  "enable-endpoint-slices": flag(bool, true, "Take pods from EndpointSlices. Off: from Endpoints, which Kubernetes has deprecated."),
  "max-targets-per-target-group": flag(int, 0, "The most targets that are registered with one target group. 0: as many as AWS takes."),
  "quic-environment-variable-name": flag(
    string,
    "AWS_LBC_QUIC_SERVER_ID",
    "The environment variable in which a container has its QUIC server id, in base64.",
  ),
  "service-target-eni-security-group-tags": flag(
    stringToString,
    noPairs,
    "Tags of the security group that rules are written to, besides the cluster's, where an interface has several groups.",
  ),
  "targetgroupbinding-max-concurrent-reconciles": flag(int, 3, "TargetGroupBindings worked on at the same time."),
  "targetgroupbinding-max-exponential-backoff-delay": undecided(
    duration,
    "2m; the reference's 16m40s delays rollouts",
    "The longest pause before a TargetGroupBinding that failed is retried.",
  ),
  "targetgroupbinding-requeue-duration": undecided(
    duration,
    "3s to 30s, by the protocol and by how long it takes",
    "How soon targets that are not healthy yet are checked again.",
  ),
};

/** Ingresses and what is made for them. */
export const ingressFlags = {
  "allowed-certificate-authority-arns": flag(
    strings,
    none,
    "Certificates are found by host names only among those that one of these private authorities has issued. Empty: among all.",
  ),
  "backend-security-group": flag(
    string,
    "",
    "An existing security group that load balancers share towards their targets. Empty: one is created when it is first needed.",
  ),
  "default-load-balancer-scheme": flag(
    string,
    "internal",
    "Scheme of load balancers whose objects name none: internal or internet-facing.",
  ),
  "default-pca-arn": flag(
    string,
    "",
    "ARN of the private authority that issues certificates requested for Ingresses which name none. Empty: Amazon issues them.",
  ),
  "default-ssl-policy": flag(
    string,
    "ELBSecurityPolicy-2016-08",
    "Security policy of HTTPS and TLS listeners whose Ingresses or Services name none.",
  ),
  "default-tags": flag(stringToString, noPairs, "Tags on everything that is created."),
  "default-target-type": flag(string, "instance", "What is registered where nothing else is said: instance or ip."),
  "disable-ingress-class-annotation": flag(
    bool,
    false,
    "With webhooks: refuse new Ingresses with the annotation kubernetes.io/ingress.class.",
  ),
  "disable-ingress-group-name-annotation": flag(
    bool,
    false,
    "With webhooks: refuse Ingresses with a new or another annotation group.name.",
  ),
  "enable-backend-security-group": flag(bool, true, "Load balancers share a security group, which their targets allow."),
  "enable-manage-backend-security-group-rules": flag(
    bool,
    false,
    "Open targets also for load balancers with security groups of the user's. Needs --enable-backend-security-group.",
  ),
  "enable-shield": flag(bool, true, "Protect load balancers with Shield Advanced where that is asked for. Off: Shield is never called."),
  "enable-waf": flag(bool, true, "Put web ACLs of WAF Classic before load balancers where that is asked for. Off: it is never called."),
  "enable-wafv2": flag(bool, true, "Put web ACLs of WAF before load balancers where that is asked for. Off: it is never called."),
  "external-managed-tags": flag(strings, none, "Keys of tags that others keep on what is made: they are left alone."),
  "ingress-class": flag(
    string,
    "alb",
    "Value of the annotation kubernetes.io/ingress.class that is served. Empty: Ingresses without a class too. IngressClasses are known by their controller.",
  ),
  "ingress-max-concurrent-reconciles": flag(int, 3, "Groups of Ingresses worked on at the same time."),
  "lb-stabilization-monitor-interval": flag(
    duration,
    120_000,
    "Accepted for compatibility; a load balancer that is being provisioned keeps nothing else waiting.",
  ),
  "required-secrets-label": flag(string, "", "A label, key=value, that a Secret must carry to be read for a log-in. Empty: none."),
  "tolerate-non-existent-backend-action": flag(
    bool,
    true,
    "Answer 503 where an annotation with an action is missing. Off: that is an error.",
  ),
  "tolerate-non-existent-backend-service": flag(bool, true, "Answer 503 where a Service is missing. Off: that is an error."),
};

/** Webhooks: optional, and served by every replica. */
export const webhookFlags = {
  "enable-pod-readiness-gate-inject": flag(bool, true, "Give new pods the readiness gates of the bindings that register them."),
  "kube-ca-pem-filepath": flag(
    string,
    "",
    "Path of the authorities of API servers' client certificates: only those are answered. Empty: everybody who reaches the port.",
  ),
  ...webhookServingFlags("aws-load-balancer-webhook"),
};

/** Services with the load balancer class; flags of load balancers in general stand with those of Ingresses. */
export const serviceFlags = {
  "load-balancer-class": flag(string, "service.k8s.aws/nlb", "The spec.loadBalancerClass of Services that get a network load balancer."),
  "service-max-concurrent-reconciles": flag(int, 3, "Services worked on at the same time."),
};

/** The lease, and what is served. */
export const processFlags = {
  "enable-leader-election": flag(bool, true, "Hold a Lease while controllers run, so that of several replicas only one acts."),
  "feature-gates": flag(
    featureGates,
    {},
    "Features to turn on or off: Gate=true,Other=false. EndpointsFailOpen (default true) registers nodes and pods of unknown health where there are no others; IngressController and EnableServiceController (default true) serve Ingresses, and Services with the load balancer class; ALBGatewayAPI, NLBGatewayAPI and GatewayListenerSet (default true) serve Gateways and ListenerSets as soon as the API server knows their kinds. All other gates count for these, or are of parts that are not built yet.",
  ),
  "health-probe-bind-addr": flag(string, ":61779", "Address to serve /healthz and /readyz on, over HTTP. 0: serve nothing."),
  help: flag(bool, false, "Print this help.", { shorthand: "h" }),
  "leader-election-id": flag(string, "aws-load-balancer-controller-leader", "Name of the Lease."),
  "leader-election-namespace": flag(string, "", "Namespace of the Lease. Empty: that of the pod, else kube-system."),
  "log-level": flag(string, "info", "How much is logged: info or debug."),
  "metrics-bind-addr": flag(string, ":8080", "Address to serve /metrics on, over HTTP. 0: serve nothing."),
};

/** Gateways, their classes and configurations; flags of load balancers in general stand with those of Ingresses. */
export const gatewayFlags = {
  "alb-gateway-max-concurrent-reconciles": flag(int, 3, "Gateways with an application load balancer worked on at the same time."),
  "gateway-class-max-concurrent-reconciles": flag(int, 3, "GatewayClasses and configurations of Gateways worked on at the same time."),
  "nlb-gateway-max-concurrent-reconciles": flag(int, 3, "Gateways with a network load balancer worked on at the same time."),
};

export const flagSections: readonly FlagSection[] = [
  { title: "Cluster", flags: clusterFlags },
  { title: "TargetGroupBinding", flags: bindingFlags },
  { title: "Load balancers, Ingress", flags: ingressFlags },
  { title: "Service", flags: serviceFlags },
  { title: "Gateway", flags: gatewayFlags },
  { title: "Webhooks", flags: webhookFlags },
  { title: "Process", flags: processFlags },
];

export const flagTable = {
  ...clusterFlags,
  ...bindingFlags,
  ...ingressFlags,
  ...serviceFlags,
  ...webhookFlags,
  ...processFlags,
  ...gatewayFlags,
};

export type Options = FlagValues<typeof flagTable>;

export function parseOptions(argv: readonly string[]): ParsedFlags<typeof flagTable> {
  return parseFlags(flagTable, argv);
}
