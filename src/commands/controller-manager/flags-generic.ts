/** Flags of the process and its controllers. */

import { apiServerFlags, kubeconfigFlags, leaderElectionFlags } from "../../process/flags.ts";
import { flag, undecided } from "../../runtime/flags.ts";
import {
  bool,
  duration,
  float,
  int,
  int32,
  int32s,
  ip,
  namedCertificates,
  string,
  stringArray,
  strings,
  stringToString,
} from "../../runtime/flags-kinds.ts";
import { canonicalNames, controllerNames } from "./controller-names.ts";
import { featureGates, gateList } from "./feature-gates.ts";

const none: readonly string[] = [];
const offByDefault = canonicalNames.filter((name) => !controllerNames[name].onByDefault);

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
      "Controllers to run: '*' for all that are on by default, 'foo' for the one named foo, '-foo' to leave that one out.",
      `All controllers: ${canonicalNames.join(", ")}`,
      `Off by default: ${offByDefault.join(", ")}`,
    ].join("\n"),
  ),
  "dry-run": flag(
    bool,
    false,
    "Change nothing: log what would be done to AWS and to the cluster. Only Events and a Lease of its own, <resource name>-dry-run, are written, so it can run beside the active controllers.",
  ),
  "external-cloud-volume-plugin": flag(string, "", "Accepted for compatibility; has no effect."),
  "feature-gates": flag(featureGates, {}, `Feature gates as name=value pairs. Gates:\n${gateList()}`),
  ...apiServerFlags,
  ...leaderElectionFlags("cloud-controller-manager"),
  "min-resync-period": flag(duration, 43_200_000, "Every object is reconciled again after a random period between this and twice this."),
  "node-sync-period": flag(duration, 0, "No effect.", { deprecated: "This flag has no effect and will be removed." }),
  "route-reconciliation-period": undecided(
    duration,
    "Fairlead decides: changes are acted on at once, this is the period of the check for drift",
    "How often all routes are compared with their wanted state.",
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
    "Identify a node by its name in the Name tag of exactly one instance of the cluster, when its provider ID, its name and its addresses identify none. Anybody who may tag instances can then choose the instance.",
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
  ...kubeconfigFlags,
  "node-status-update-frequency": flag(duration, 300_000, "How often the addresses of all nodes are refreshed."),
};

/** Webhooks, of which there are none. */
export const webhookFlags = {
  webhooks: flag(strings, none, "Admission webhooks to serve. There are none: every name is refused."),
};

/** The server webhooks would have. */
export const webhookServingFlags = {
  "webhook-bind-address": flag(ip, "0.0.0.0", "Accepted for compatibility; no webhook is served."),
  "webhook-cert-dir": flag(string, "", "Accepted for compatibility; no webhook is served."),
  "webhook-disable-http2-serving": flag(bool, false, "Accepted for compatibility; no webhook is served."),
  "webhook-secure-port": flag(int, 10260, "Accepted for compatibility; no webhook is served. Must differ from --secure-port unless 0."),
  "webhook-tls-cert-file": flag(string, "", "Accepted for compatibility; no webhook is served."),
  "webhook-tls-cipher-suites": flag(strings, none, "Accepted for compatibility; no webhook is served."),
  "webhook-tls-curve-preferences": flag(int32s, [], "Accepted for compatibility; no webhook is served."),
  "webhook-tls-min-version": flag(string, "", "Accepted for compatibility; no webhook is served."),
  "webhook-tls-private-key-file": flag(string, "", "Accepted for compatibility; no webhook is served."),
  "webhook-tls-sni-cert-key": flag(namedCertificates, [], "Accepted for compatibility; no webhook is served."),
};

/** The tagging controller. */
export const taggingFlags = {
  resources: flag(stringArray, [], "AWS resources the tagging controller tags: instance. Repeat the flag for several."),
  tags: flag(stringToString, {}, "Tags the tagging controller applies, as key=value pairs."),
  "tagging-controller-burst-limit": flag(int, 0, "Burst of the tagging controller's rate limit. 0: no limit."),
  "tagging-controller-concurrent-node-syncs": undecided(int, decided, "Nodes the tagging controller tags at the same time."),
  "tagging-controller-enable-batching": flag(bool, false, "Accepted for compatibility; calls with the same tags are always joined."),
  "tagging-controller-rate-limit": flag(float, 0, "Nodes per second that the tagging controller processes. 0: no limit."),
};
