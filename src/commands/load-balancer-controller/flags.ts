/** Every flag of `fairlead load-balancer-controller`, by section. */
import { type FlagSection, type FlagValues, flag, type ParsedFlags, parseFlags, undecided } from "../../runtime/flags.ts";
import { bool, duration, int, string, strings, stringToString } from "../../runtime/flags-kinds.ts";
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
  "aws-max-retries": flag(int, 10, "Accepted for compatibility; calls are tried again as long as their work is wanted."),
  "aws-region": flag(string, "", "AWS region. Empty: from the environment, else from the metadata service."),
  "aws-vpc-id": flag(string, "", "The cluster's VPC. Empty: that of the instance this runs on, from the metadata service."),
  "aws-vpc-tag-key": flag(string, "Name", "Accepted for compatibility; has no effect."),
  "aws-vpc-tags": flag(stringToString, noPairs, "Not supported: set --aws-vpc-id."),
  "cluster-name": flag(string, "", "Name of the cluster, as in its tags. Required."),
  kubeconfig: flag(string, "", "Path of a kubeconfig file. Empty: the service account of the pod."),
  "sync-period": flag(duration, 10 * 3_600_000, "How often everything is read again, whether or not something changed."),
  "watch-namespace": flag(string, "", "Look at objects of this namespace only. Empty: at all."),
};

/** TargetGroupBindings, their targets and readiness gates. */
export const bindingFlags = {
  "disable-restricted-sg-rules": flag(
    bool,
    false,
    "Write every rule of a target's security group as it is asked for. Else those from one group are one rule, from the lowest port to the highest.",
  ),
  "enable-endpoint-slices": flag(bool, true, "Accepted for compatibility; EndpointSlices are read always, which every Service has."),
  "max-targets-per-target-group": flag(int, 0, "The most targets that are registered with one target group. 0: as many as AWS takes."),
  "service-target-eni-security-group-tags": flag(
    stringToString,
    noPairs,
    "Tags of the security group that rules are written to, besides the cluster's, where an interface has several groups.",
  ),
  "targetgroupbinding-max-concurrent-reconciles": flag(int, 3, "TargetGroupBindings worked on at the same time."),
  "targetgroupbinding-max-exponential-backoff-delay": undecided(
    duration,
    "2m; the reference's 16m40s holds rollouts up",
    "The longest pause before a TargetGroupBinding that failed is tried again.",
  ),
  "targetgroupbinding-requeue-duration": undecided(
    duration,
    "3s to 30s, by the protocol and by how long it takes",
    "How soon targets that are not healthy yet are looked at again.",
  ),
};

/** The lease, and what is served. */
export const processFlags = {
  "enable-leader-election": flag(bool, true, "Hold a Lease while controllers run, so that of several replicas only one acts."),
  "feature-gates": flag(
    featureGates,
    {},
    "Features to turn on or off: Gate=true,Other=false. EndpointsFailOpen (default true) takes nodes and pods that are not heard of where there are no others; IngressController (default false) serves Ingresses, as far as that is built: see the guide. All other gates count for Ingresses, or are of parts that are not built yet.",
  ),
  "health-probe-bind-addr": flag(string, ":61779", "Address to serve /healthz and /readyz on, over HTTP. 0: serve nothing."),
  help: flag(bool, false, "Print this help.", { shorthand: "h" }),
  "leader-election-id": flag(string, "aws-load-balancer-controller-leader", "Name of the Lease."),
  "leader-election-namespace": flag(string, "", "Namespace of the Lease. Empty: that of the pod, else kube-system."),
  "log-level": flag(string, "info", "How much is logged: info or debug."),
  "metrics-bind-addr": flag(string, ":8080", "Address to serve /metrics on, over HTTP. 0: serve nothing."),
};

const notBuilt = "Not built yet; accepted so that manifests need no change.";

/** Flags of parts of the reference that this build does not have: they change nothing that is done. */
export const laterFlags = {
  "alb-gateway-max-concurrent-reconciles": flag(int, 3, notBuilt),
  "allowed-certificate-authority-arns": flag(strings, none, notBuilt),
  "backend-security-group": flag(string, "", notBuilt),
  "default-load-balancer-scheme": flag(string, "internal", notBuilt),
  "default-pca-arn": flag(string, "", notBuilt),
  "default-ssl-policy": flag(string, "ELBSecurityPolicy-2016-08", notBuilt),
  "default-tags": flag(stringToString, noPairs, notBuilt),
  "default-target-type": flag(string, "instance", notBuilt),
  "disable-ingress-class-annotation": flag(bool, false, notBuilt),
  "disable-ingress-group-name-annotation": flag(bool, false, notBuilt),
  "enable-backend-security-group": flag(bool, true, notBuilt),
  "enable-manage-backend-security-group-rules": flag(bool, false, notBuilt),
  "enable-pod-readiness-gate-inject": flag(bool, true, notBuilt),
  "enable-shield": flag(bool, true, notBuilt),
  "enable-waf": flag(bool, true, notBuilt),
  "enable-wafv2": flag(bool, true, notBuilt),
  "external-managed-tags": flag(strings, none, notBuilt),
  "gateway-class-max-concurrent-reconciles": flag(int, 3, notBuilt),
  "ingress-class": flag(string, "alb", notBuilt),
  "ingress-max-concurrent-reconciles": flag(int, 3, notBuilt),
  "kube-ca-pem-filepath": flag(string, "", notBuilt),
  "lb-stabilization-monitor-interval": flag(duration, 120_000, notBuilt),
  "load-balancer-class": flag(string, "service.k8s.aws/nlb", notBuilt),
  "nlb-gateway-max-concurrent-reconciles": flag(int, 3, notBuilt),
  "quic-environment-variable-name": flag(string, "AWS_LBC_QUIC_SERVER_ID", notBuilt),
  "required-secrets-label": flag(string, "", notBuilt),
  "service-max-concurrent-reconciles": flag(int, 3, notBuilt),
  "tolerate-non-existent-backend-action": flag(bool, true, notBuilt),
  "tolerate-non-existent-backend-service": flag(bool, true, notBuilt),
  "webhook-bind-port": flag(int, 9443, notBuilt),
  "webhook-cert-dir": flag(string, "", notBuilt),
  "webhook-cert-file": flag(string, "tls.crt", notBuilt),
  "webhook-key-file": flag(string, "tls.key", notBuilt),
};

export const flagSections: readonly FlagSection[] = [
  { title: "Cluster", flags: clusterFlags },
  { title: "TargetGroupBinding", flags: bindingFlags },
  { title: "Process", flags: processFlags },
  { title: "Parts that are not built yet", flags: laterFlags },
];

export const flagTable = { ...clusterFlags, ...bindingFlags, ...processFlags, ...laterFlags };

export type Options = FlagValues<typeof flagTable>;

export function parseOptions(argv: readonly string[]): ParsedFlags<typeof flagTable> {
  return parseFlags(flagTable, argv);
}
