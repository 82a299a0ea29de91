/** The flags of the termination handler, each with the environment variable that means the same: one table for parser, help and docs. */
import { type Flag, type FlagSection, type FlagValues, flag, type Kind } from "../../runtime/flags.ts";
import { bool, int, oneOf, string, stringToString } from "../../runtime/flags-kinds.ts";

/** A flag and its environment variable. */
interface Variable<T> extends Flag<T> {
  readonly env: string;
}

function of<T>(env: string, kind: Kind<T & {}>, initial: NoInfer<T>, help: string): Variable<T> {
  return { ...flag<T>(kind, initial, `${help} [${env}]`), env };
}

/** Addresses and headers of webhooks carry tokens. */
function secret<T>(declared: Variable<T>): Variable<T> {
  return { ...declared, secret: true };
}

const managedTag = "aws-node-termination-handler/managed";

/** The default body of webhooks. */
export const defaultTemplate =
  '{"text":"[NTH][Instance Interruption] EventID: {{ .EventID }} - Kind: {{ .Kind }} - Instance: {{ .InstanceID }} - Node: {{ .NodeName }} - Description: {{ .Description }} - Start Time: {{ .StartTime }}"}';

const generalFlags = {
  "node-name": of("NODE_NAME", string, "", "The Node this process runs on, and in metadata mode the one it acts on. Required."),
  "pod-name": of("POD_NAME", string, "", "The pod of this process, which it never evicts."),
  "pod-namespace": of("NAMESPACE", string, "", "Its namespace; empty matches any. In queue mode also that of its Lease."),
  "dry-run": of("DRY_RUN", bool, false, "Write nothing, neither to the cluster nor to AWS; the log says what would be done."),
  "enable-sqs-termination-draining": of(
    "ENABLE_SQS_TERMINATION_DRAINING",
    bool,
    false,
    "Read a queue and act on any Node, instead of the metadata service of its own.",
  ),
  "kubernetes-service-host": of("KUBERNETES_SERVICE_HOST", string, "", "Host of the API server."),
  "kubernetes-service-port": of("KUBERNETES_SERVICE_PORT", string, "", "Port of the API server."),
  "kube-api-qps": of("KUBE_API_QPS", int, 0, "Requests to the API server per second. 0: the API server's own fairness decides."),
  "kube-api-burst": of("KUBE_API_BURST", int, 0, "Largest burst of requests to the API server."),
  kubeconfig: flag(string, "", "Path of a kubeconfig file. Empty: the service account of the pod."),
  master: flag(string, "", "Address of the API server; overrides the kubeconfig's."),
};

const metadataFlags = {
  "metadata-url": of("INSTANCE_METADATA_URL", string, "http://169.254.169.254", "Address of the metadata service."),
  "metadata-tries": of("METADATA_TRIES", int, 3, "Accepted for compatibility: a request is tried three times within five seconds."),
  "enable-scheduled-event-draining": of("ENABLE_SCHEDULED_EVENT_DRAINING", bool, true, "Drain for scheduled maintenance."),
  "enable-spot-interruption-draining": of("ENABLE_SPOT_INTERRUPTION_DRAINING", bool, true, "Drain for spot interruptions."),
  "enable-asg-lifecycle-draining": of(
    "ENABLE_ASG_LIFECYCLE_DRAINING",
    bool,
    false,
    "Drain when Auto Scaling is about to terminate the instance.",
  ),
  "enable-rebalance-monitoring": of("ENABLE_REBALANCE_MONITORING", bool, false, "Cordon on a rebalance recommendation."),
  "enable-rebalance-draining": of("ENABLE_REBALANCE_DRAINING", bool, false, "Drain on a rebalance recommendation."),
  "uptime-from-file": of(
    "UPTIME_FROM_FILE",
    string,
    "",
    "File with the uptime of the machine, for a Node that the reference has cordoned for a restart. Empty: /proc/uptime.",
  ),
};

const queueFlags = {
  "queue-url": of("QUEUE_URL", string, "", "URL of the queue. Required in queue mode."),
  "aws-region": of("AWS_REGION", string, "", "Region of the queue; else that of its URL."),
  "aws-endpoint": of("AWS_ENDPOINT", string, "", "One address for every AWS service, for tests."),
  "check-tag-before-draining": of("CHECK_TAG_BEFORE_DRAINING", bool, true, "Act only on instances that carry the managed tag."),
  "check-asg-tag-before-draining": of("CHECK_ASG_TAG_BEFORE_DRAINING", bool, true, "Old name of check-tag-before-draining."),
  "managed-tag": of("MANAGED_TAG", string, managedTag, "Key of that tag; its value does not matter."),
  "managed-asg-tag": of("MANAGED_ASG_TAG", string, managedTag, "Old name of managed-tag."),
  "use-provider-id": of("USE_PROVIDER_ID", bool, false, "Accepted for compatibility: Nodes are always found by their provider ID first."),
  "delete-sqs-msg-if-node-not-found": of(
    "DELETE_SQS_MSG_IF_NODE_NOT_FOUND",
    bool,
    false,
    "Delete messages about instances that have no Node here, and complete their hooks; otherwise they are left to other clusters.",
  ),
  "sqs-msg-visibility-timeout-sec": of(
    "SQS_MSG_VISIBILITY_TIMEOUT_SEC",
    int,
    20,
    "How long a received message is hidden from others at first, 1 to 119 seconds; while it is worked on this is extended.",
  ),
  workers: of("WORKERS", int, 10, "Ten times as many evictions are sent at once. Cordoning waits for none of them."),
  "complete-lifecycle-action-delay-seconds": of(
    "COMPLETE_LIFECYCLE_ACTION_DELAY_SECONDS",
    int,
    -1,
    "Seconds between the end of a drain and the completion of its hook.",
  ),
  "heartbeat-interval": of("HEARTBEAT_INTERVAL", int, -1, "Seconds between heartbeats to a hook, 30 to 3600. -1: none are sent."),
  "heartbeat-until": of("HEARTBEAT_UNTIL", int, -1, "Seconds after which heartbeats stop, 60 to 172800."),
};

const drainFlags = {
  "ignore-daemon-sets": of("IGNORE_DAEMON_SETS", bool, true, "Leave pods of DaemonSets; false: one of them makes the drain fail."),
  "delete-local-data": of("DELETE_LOCAL_DATA", bool, true, "Evict pods with emptyDir volumes; false: one of them makes the drain fail."),
  "pod-termination-grace-period": of("POD_TERMINATION_GRACE_PERIOD", int, -1, "Seconds that evicted pods get. Negative: each pod's own."),
  "grace-period": of("GRACE_PERIOD", int, -1, "Old name of pod-termination-grace-period."),
  "node-termination-grace-period": of(
    "NODE_TERMINATION_GRACE_PERIOD",
    int,
    120,
    "Draining starts this many seconds before an event, and is overdue after as many. 0: never overdue.",
  ),
  "cordon-only": of("CORDON_ONLY", bool, false, "Never drain."),
  "taint-node": of("TAINT_NODE", bool, false, "Taint Nodes by the kind of their interruption."),
  "taint-effect": of("TAINT_EFFECT", oneOf("NoSchedule", "PreferNoSchedule", "NoExecute"), "NoSchedule", "Effect of these taints."),
  "enable-out-of-service-taint": of(
    "ENABLE_OUT_OF_SERVICE_TAINT",
    bool,
    false,
    "Mark a drained Node, or one whose instance is gone, as out of service: its volumes are then detached at once.",
  ),
  "exclude-from-load-balancers": of(
    "EXCLUDE_FROM_LOAD_BALANCERS",
    bool,
    false,
    "Label Nodes so that load balancers leave them out, before they are drained.",
  ),
  "use-apiserver-cache": of("USE_APISERVER_CACHE", bool, false, "Accepted for compatibility: pods are followed by a watch."),
  "event-policies": of(
    "EVENT_POLICIES",
    stringToString,
    {},
    "What is done for a kind of event, as kind=ignore|cordon|drain: spot, reservation, capacity-block, rebalance, maintenance, state-change, termination.",
  ),
  "schedule-maintenance": of("SCHEDULE_MAINTENANCE", bool, false, "Drain for maintenance when it comes near, not when it is announced."),
  "load-balancer-wait-seconds": of(
    "LOAD_BALANCER_WAIT_SECONDS",
    int,
    0,
    "Seconds that load balancers get to leave a Node out before its first pod is evicted; never more than a third of the time there is.",
  ),
  "override-budgets-before-deadline-seconds": of(
    "OVERRIDE_BUDGETS_BEFORE_DEADLINE_SECONDS",
    int,
    -1,
    "This many seconds before the instance goes, pods are deleted although their disruption budget forbids it. -1: never.",
  ),
  "force-delete-before-deadline-seconds": of(
    "FORCE_DELETE_BEFORE_DEADLINE_SECONDS",
    int,
    -1,
    "This many seconds before the instance goes, pods get only the time that is left to end. -1: never.",
  ),
};

const webhookFlags = {
  "webhook-url": secret(of("WEBHOOK_URL", string, "", "Where interruptions are posted to. Empty: nowhere.")),
  "webhook-proxy": of("WEBHOOK_PROXY", string, "", "Proxy for it."),
  "webhook-headers": secret(of("WEBHOOK_HEADERS", string, '{"Content-type":"application/json"}', "Headers, as a JSON object of texts.")),
  "webhook-template": of("WEBHOOK_TEMPLATE", string, defaultTemplate, "Body, as a template."),
  "webhook-template-file": of("WEBHOOK_TEMPLATE_FILE", string, "", "File with the body; wins over the template."),
};

const reportFlags = {
  "json-logging": of("JSON_LOGGING", bool, false, "Write the log as JSON."),
  "log-level": of("LOG_LEVEL", string, "INFO", "info, debug or error."),
  "log-format-version": of("LOG_FORMAT_VERSION", int, 1, "Accepted for compatibility."),
  "enable-prometheus-server": of("ENABLE_PROMETHEUS_SERVER", bool, false, "Serve /metrics."),
  "prometheus-server-port": of("PROMETHEUS_SERVER_PORT", int, 9092, "Its port."),
  "enable-probes-server": of("ENABLE_PROBES_SERVER", bool, false, "Serve probes."),
  "probes-server-port": of("PROBES_SERVER_PORT", int, 8080, "Their port."),
  "probes-server-endpoint": of("PROBES_SERVER_ENDPOINT", string, "/healthz", "Path of the liveness probe; readiness is at /readyz."),
  "emit-kubernetes-events": of("EMIT_KUBERNETES_EVENTS", bool, false, "Record Events of what is done to Nodes and their pods."),
  "kubernetes-events-extra-annotations": of(
    "KUBERNETES_EVENTS_EXTRA_ANNOTATIONS",
    string,
    "",
    "Annotations of Events besides those of the instance, as key=value,key=value.",
  ),
  help: flag(bool, false, "Print this help.", { shorthand: "h" }),
};

/** All of them. */
export const flagTable = { ...generalFlags, ...metadataFlags, ...queueFlags, ...drainFlags, ...webhookFlags, ...reportFlags };

export const flagSections: readonly FlagSection[] = [
  { title: "General", flags: generalFlags },
  { title: "Metadata mode", flags: metadataFlags },
  { title: "Queue mode", flags: queueFlags },
  { title: "Cordon and drain", flags: drainFlags },
  { title: "Webhook", flags: webhookFlags },
  { title: "Reports", flags: reportFlags },
];

export type Options = FlagValues<typeof flagTable>;

/** The environment variable of a flag, if it has one. */
export function variableOf(name: string): string | undefined {
  const declared = (flagTable as Readonly<Record<string, Partial<Variable<unknown>>>>)[name];
  return declared?.env;
}
