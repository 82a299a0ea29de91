/** From options to what the controller decides by. */
import type { InterruptionSettings } from "../../interruptions/settings.ts";
import type { Options } from "./flags.ts";
import { policiesOf } from "./options.ts";

/** The settings that options mean. */
export function settingsOf(options: Options): InterruptionSettings {
  const queueMode = options["enable-sqs-termination-draining"];
  const interval = options["heartbeat-interval"];
  return {
    policies: policiesOf(options),
    drain: {
      ignoreDaemonSets: options["ignore-daemon-sets"],
      deleteLocalData: options["delete-local-data"],
      podGraceSeconds: options["pod-termination-grace-period"],
      ownPod: { name: options["pod-name"], namespace: options["pod-namespace"] },
      overrideBudgetsMs: before(options["override-budgets-before-deadline-seconds"]),
      shortenGraceMs: before(options["force-delete-before-deadline-seconds"]),
    },
    graceMs: options["node-termination-grace-period"] * 1000,
    scheduleMaintenance: options["schedule-maintenance"],
    taintEffect: options["taint-node"] ? options["taint-effect"] : undefined,
    excludeFromLoadBalancers: options["exclude-from-load-balancers"],
    loadBalancerWaitMs: options["load-balancer-wait-seconds"] * 1000,
    outOfServiceTaint: options["enable-out-of-service-taint"],
    heartbeat: interval === -1 ? undefined : { intervalMs: interval * 1000, untilMs: options["heartbeat-until"] * 1000 },
    completionDelayMs: Math.max(0, options["complete-lifecycle-action-delay-seconds"]) * 1000,
    restartLabels: !queueMode,
    webhook: options["webhook-url"] !== "",
    podEvents: options["emit-kubernetes-events"],
  };
}

function before(seconds: number): number | undefined {
  return seconds < 0 ? undefined : seconds * 1000;
}
