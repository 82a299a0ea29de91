/** Flags of the process and its controllers. */
import { flag, undecided } from "../../runtime/flags.ts";
import { bool, duration, float, float32, int, int32, string, stringArray, strings, stringToString } from "../../runtime/flags-kinds.ts";
import { canonicalNames, controllerNames } from "./controller-names.ts";
import { featureGates, gateList } from "./feature-gates.ts";

const offByDefault = canonicalNames.filter((name) => !controllerNames[name].onByDefault);

/** Profiles and dumps. */
export const debuggingFlags = {
  profiling: flag(bool, true, "Serve CPU profiles under /debug/pprof/ and the log verbosity under /debug/flags/v, to authorized users."),
  "contention-profiling": flag(bool, false, "Accepted for compatibility; has no effect: there are no locks to profile."),
  "enable-heap-dumps": flag(
    bool,
    false,
    "Serve heap dumps under /debug/pprof/heap as well. A heap dump holds every token and secret of the process: turn this on only to hunt a leak.",
  ),
};

/** Leader migration. */
export const leaderMigrationFlags = {
  "enable-leader-migration": flag(
    bool,
    false,
    "Hold a second lease for controllers that move between controller managers. Needs --leader-elect.",
  ),
  "leader-migration-config": flag(
    string,
    "",
    "File of kind LeaderMigrationConfiguration (controllermanager.config.k8s.io/v1). Empty: the built-in configuration, which migrates the node lifecycle, route and service controllers.",
  ),
};

/** The process, leader election, routes. */
export const genericFlags = {
  "allocate-node-cidrs": flag(
    bool,
    false,
    "Accepted for compatibility; has no effect: node CIDRs are allocated by kube-controller-manager.",
  ),
  "allow-untagged-cloud": flag(bool, false, "Run without a cluster ID.", {
    deprecated:
      "This flag has no effect: a cluster ID is needed to tell what belongs to the cluster. Set KubernetesClusterID in the cloud config.",
  }),
  "cidr-allocator-type": flag(string, "RangeAllocator", "Accepted for compatibility; has no effect."),
  "cloud-config": flag(string, "", "Path of the AWS cloud config file. Empty: everything is discovered."),
  "cloud-provider": flag(string, "", 'The cloud provider. Must be "aws".'),
  "cluster-cidr": flag(
    string,
    "",
    "Pod CIDRs of the cluster, at most one of each IP family, comma-separated. Needed by the route controller; without it that controller is skipped.",
  ),
  "cluster-name": flag(
    string,
    "kubernetes",
    "Name of the cluster, part of route and security group names. Not the cluster ID in AWS tags.",
  ),
  "configure-cloud-routes": flag(bool, true, "Keep a VPC route for the pod CIDR of every node. Needs --cluster-cidr."),
  "controller-start-interval": flag(duration, 0, "Pause between the starts of two controllers."),
  controllers: flag(
    strings,
    ["*"],
    [
      "Controllers to run: '*' for all that are on by default, 'foo' for the one named foo, '-foo' for not that one.",
      `All controllers: ${canonicalNames.join(", ")}`,
      `Off by default: ${offByDefault.join(", ")}`,
    ].join("\n"),
  ),
  "dry-run": flag(
    bool,
    false,
    "Change nothing: log what would be done to AWS and to the cluster. Only Events and a Lease of its own, <resource name>-dry-run, are written, so it can run beside the controllers in charge.",
  ),
  "external-cloud-volume-plugin": flag(string, "", "Accepted for compatibility; has no effect."),
  "feature-gates": flag(featureGates, {}, `Feature gates as name=value pairs. Gates:\n${gateList()}`),
  "kube-api-burst": undecided(
    int32,
    "no limit of our own: the API server's fairness decides",
    "Largest burst of requests to the API server.",
  ),
  "kube-api-content-type": flag(string, "application/vnd.kubernetes.protobuf", "Accepted for compatibility; requests are JSON."),
  "kube-api-qps": undecided(float32, "no limit of our own: the API server's fairness decides", "Requests to the API server a second."),
  "leader-elect": flag(bool, true, "Hold a Lease while controllers run, so that of several replicas only one acts."),
  "leader-elect-lease-duration": flag(
    duration,
    15_000,
    "How long candidates wait after the last renewal they saw before they take the Lease.",
  ),
  "leader-elect-renew-deadline": flag(
    duration,
    10_000,
    "How long the leader goes on without managing to renew the Lease. Less than the lease duration.",
  ),
  "leader-elect-resource-lock": flag(string, "leases", "Kind of object the leader holds. Must be 'leases'."),
  "leader-elect-resource-name": flag(string, "cloud-controller-manager", "Name of the Lease."),
  "leader-elect-resource-namespace": flag(string, "kube-system", "Namespace of the Lease, and of that of leader migration."),
  "leader-elect-retry-period": flag(duration, 2_000, "Pause between two attempts to acquire or renew the Lease."),
  "min-resync-period": flag(duration, 43_200_000, "Every object is looked at again after a period drawn from this to twice this."),
  "node-sync-period": flag(duration, 0, "No effect.", { deprecated: "This flag has no effect and will be removed." }),
  "route-reconciliation-period": undecided(
    duration,
    "Fairlead decides: changes are acted on at once, this is the period of the check for drift",
    "Period in which all routes are compared with what they should be.",
  ),
  "strict-cloud-config": flag(bool, false, "Refuse a cloud config file with unknown sections or keys instead of warning about them."),
  "use-service-account-credentials": flag(bool, false, "Give every controller a service account of its own in kube-system."),
};

const decided = "Fairlead decides";

/** Node initialisation and addresses. */
export const nodeFlags = {
  "concurrent-node-status-updates": undecided(
    int32,
    decided,
    "Nodes whose addresses are refreshed at the same time. 0: as many as --concurrent-node-syncs.",
  ),
  "concurrent-node-syncs": undecided(int32, decided, "Nodes initialised at the same time."),
  "identify-nodes-by-name-tag": flag(
    bool,
    false,
    "Take the one instance of the cluster whose Name tag equals a node's name for the node's machine, when neither its provider ID, its name nor its addresses tell. Whoever may tag instances can then choose.",
  ),
};

/** Removal and tainting of nodes. */
export const nodeLifecycleFlags = {
  "concurrent-node-lifecycle-syncs": undecided(int32, decided, "Nodes whose instance is looked up at the same time."),
  "node-monitor-period": flag(duration, 5_000, "How often instances of nodes that are not ready are looked up."),
};

/** Load balancers of Services. */
export const serviceFlags = {
  "concurrent-service-syncs": undecided(int32, decided, "Services reconciled at the same time."),
};

/** The API server, and what has no better place. */
export const miscFlags = {
  kubeconfig: flag(string, "", "Path of a kubeconfig file. Empty: the service account of the pod."),
  master: flag(string, "", "Address of the API server; overrides the kubeconfig's."),
  "node-status-update-frequency": flag(duration, 300_000, "How often the addresses of all nodes are refreshed."),
};

/** The tagging controller. */
export const taggingFlags = {
  resources: flag(stringArray, [], "AWS resources the tagging controller tags: instance. Repeat the flag for several."),
  tags: flag(stringToString, {}, "Tags the tagging controller applies, as key=value pairs."),
  "tagging-controller-burst-limit": flag(int, 0, "Burst of the tagging controller's rate limit. 0: no limit."),
  "tagging-controller-concurrent-node-syncs": undecided(int, decided, "Nodes the tagging controller tags at the same time."),
  "tagging-controller-enable-batching": flag(bool, false, "Accepted for compatibility; calls with the same tags are always joined."),
  "tagging-controller-rate-limit": flag(float, 0, "Nodes a second the tagging controller takes up. 0: no limit."),
};
