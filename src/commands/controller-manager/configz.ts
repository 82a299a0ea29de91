import { goDuration } from "../../runtime/flags-go.ts";
import { canonicalSelection } from "./controller-names.ts";
import type { Options } from "./flags.ts";

/** What `/configz` answers: the effective configuration, in the shape of the reference's configuration object. */
export function configz(options: Options): Readonly<Record<string, unknown>> {
  return {
    "cloudcontrollermanager.config.k8s.io": {
      kind: "CloudControllerManagerConfiguration",
      apiVersion: "cloudcontrollermanager.config.k8s.io/v1alpha1",
      Generic: generic(options),
      KubeCloudShared: {
        CloudProvider: { Name: options["cloud-provider"], CloudConfigFile: options["cloud-config"] },
        ExternalCloudVolumePlugin: options["external-cloud-volume-plugin"],
        UseServiceAccountCredentials: options["use-service-account-credentials"],
        AllowUntaggedCloud: options["allow-untagged-cloud"],
        RouteReconciliationPeriod: decided(options["route-reconciliation-period"], goDuration),
        ClusterName: options["cluster-name"],
        ClusterCIDR: options["cluster-cidr"],
        AllocateNodeCIDRs: options["allocate-node-cidrs"],
        CIDRAllocatorType: options["cidr-allocator-type"],
        ConfigureCloudRoutes: options["configure-cloud-routes"],
        NodeSyncPeriod: goDuration(options["node-sync-period"]),
      },
      NodeController: {
        ConcurrentNodeSyncs: decided(options["concurrent-node-syncs"]),
        ConcurrentNodeStatusUpdates: decided(options["concurrent-node-status-updates"]),
      },
      NodeLifecycleController: {
        NodeMonitorPeriod: goDuration(options["node-monitor-period"]),
        ConcurrentNodeLifecycleSyncs: decided(options["concurrent-node-lifecycle-syncs"]),
      },
      ServiceController: { ConcurrentServiceSyncs: decided(options["concurrent-service-syncs"]) },
      NodeStatusUpdateFrequency: goDuration(options["node-status-update-frequency"]),
      Webhook: { Webhooks: options.webhooks },
    },
  };
}

function generic(options: Options): object {
  return {
    // Of the insecure port, which is gone.
    Port: 0,
    Address: "0.0.0.0",
    MinResyncPeriod: goDuration(options["min-resync-period"]),
    ClientConnection: {
      kubeconfig: options.kubeconfig,
      acceptContentTypes: "",
      contentType: "application/json",
      qps: decided(options["kube-api-qps"]),
      burst: decided(options["kube-api-burst"]),
    },
    ControllerStartInterval: goDuration(options["controller-start-interval"]),
    LeaderElection: {
      leaderElect: options["leader-elect"],
      leaseDuration: goDuration(options["leader-elect-lease-duration"]),
      renewDeadline: goDuration(options["leader-elect-renew-deadline"]),
      retryPeriod: goDuration(options["leader-elect-retry-period"]),
      resourceLock: options["leader-elect-resource-lock"],
      resourceName: leaseName(options),
      resourceNamespace: options["leader-elect-resource-namespace"],
    },
    Controllers: canonicalSelection(options.controllers),
    Debugging: { enableProfiling: options.profiling, enableContentionProfiling: options["contention-profiling"] },
    LeaderMigrationEnabled: options["enable-leader-migration"],
  };
}

/** The Lease this process competes for. A dry run must never hold up, or be held up by, those in charge. */
export function leaseName(options: Options): string {
  const name = options["leader-elect-resource-name"];
  return options["dry-run"] ? `${name}-dry-run` : name;
}

/** `null` where nobody said and Fairlead decides. */
function decided<T>(value: T | undefined, show: (value: T) => unknown = (shown) => shown): unknown {
  return value === undefined ? null : show(value);
}
