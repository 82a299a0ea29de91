/** The state of targets: what health checks found, and what else keeps a target from being used. */
import type { TargetHealth, TargetHealthReasonEnum, TargetHealthStateEnum } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Verdict } from "../balancing/checks.ts";
import { type Elbv2, loadBalancersOf, type Target, type TargetGroup } from "./state.ts";

/** The targets of a group; terminated instances drop out by themselves. */
export function targetsOf(elbv2: Elbv2, groupArn: string): readonly Target[] {
  return elbv2.found.targetsByGroup(groupArn).filter((target) => !isGone(elbv2, target));
}

/** A terminated instance is gone, registered or not. */
export function isGone({ account }: Elbv2, { id }: Target): boolean {
  return id.startsWith("i-") && (account.ec2.instances.get(id)?.state ?? "terminated") === "terminated";
}

/** The state of one target, as it is told. */
export function healthOf(elbv2: Elbv2, group: TargetGroup, target: Target): TargetHealth {
  if (target.drainingSince !== undefined)
    return told("draining", "Target.DeregistrationInProgress", "Target deregistration is in progress");
  const owners = loadBalancersOf(elbv2, group.arn).map((arn) => elbv2.loadBalancers.get(arn)!);
  if (owners.length === 0)
    return told("unused", "Target.NotInUse", "Target group is not configured to receive traffic from the load balancer");
  const instance = elbv2.account.ec2.instances.get(target.id);
  if (instance !== undefined && instance.state !== "running") {
    return told("unused", "Target.InvalidState", `Target is in the ${instance.state} state`);
  }
  const zone = instance?.zone ?? target.zone;
  if (zone !== undefined && zone !== "all" && !owners.some((owner) => owner.zones.some((mapping) => mapping.zone === zone))) {
    return told("unused", "Target.NotInUse", "Target is in an Availability Zone that is not enabled for the load balancer");
  }
  if (!group.check.enabled) return told("unavailable", "Target.HealthCheckDisabled", "Health checks are not enabled for this target");
  if (target.verdict.kind === "pending") {
    return target.checked
      ? told("initial", "Elb.InitialHealthChecking", "Initial health checks in progress")
      : told("initial", "Elb.RegistrationInProgress", "Target registration is in progress");
  }
  return target.verdict.kind === "healthy" ? { State: "healthy" } : unhealthy(group, target.verdict);
}

function unhealthy(group: TargetGroup, { failure }: Extract<Verdict, { kind: "unhealthy" }>): TargetHealth {
  if (typeof failure === "number") {
    return told("unhealthy", "Target.ResponseCodeMismatch", `Health checks failed with these codes: [${failure}]`);
  }
  // Of a connection that never came about AWS says the same, whether it was refused or ignored.
  if (failure === "timeout" && group.check.protocol !== "TCP") return told("unhealthy", "Target.Timeout", "Request timed out");
  return told("unhealthy", "Target.FailedHealthChecks", "Health checks failed");
}

/** A state with its reason. */
export function told(State: TargetHealthStateEnum, Reason: TargetHealthReasonEnum, Description: string): TargetHealth {
  return { State, Reason, Description };
}
