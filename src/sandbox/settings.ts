/** How the sandbox differs from a real installation: it is in a hurry, because somebody is watching. */
import type { CanonicalName } from "../commands/controller-manager/controller-names.ts";

export const region = "us-east-1";

/** What the controllers know the cluster by, and mark things in AWS with. */
export const clusterName = "sandbox";

/** Access keys that open nothing but the simulated cloud. They tell apart who calls it. */
export const keys = { fairlead: "AKIAFAIRLEADFAIRLEAD", user: "AKIASANDBOXSANDBOX00", secret: "sandbox" } as const;

export const pace = {
  /** Machines boot, stop and end so many times faster than on AWS. */
  cloudSpeed: 20,
  cloudLatency: { minMs: 15, maxMs: 45 },
  /** What a new network load balancer takes, before the speed above: less than AWS, where it can be minutes. */
  provisioningMs: 40_000,
  /** Ten seconds on a real node. */
  heartbeatMs: 1_000,
  /** How long a kubelet may be silent; 50 seconds in a real cluster. */
  graceMs: 3_000,
  /** How often sockets for clients are brought up to date. */
  followMs: 250,
  lease: { duration: "6s", renewDeadline: "4s", retryPeriod: "1s" },
  nodeMonitorPeriod: "1s",
} as const;

/** The flags Fairlead runs with: those of production, but with shorter periods. */
export function fairleadFlags(podNetwork: string, controllers: ReadonlySet<CanonicalName>): readonly string[] {
  const routes = controllers.has("node-route-controller");
  return [
    "--cloud-provider=aws",
    `--leader-elect-lease-duration=${pace.lease.duration}`,
    `--leader-elect-renew-deadline=${pace.lease.renewDeadline}`,
    `--leader-elect-retry-period=${pace.lease.retryPeriod}`,
    `--node-monitor-period=${pace.nodeMonitorPeriod}`,
    `--configure-cloud-routes=${routes}`,
    ...(routes ? ["--allocate-node-cidrs=true", `--cluster-cidr=${podNetwork}`] : []),
    "--logging-format=json",
    "--v=2",
  ];
}
