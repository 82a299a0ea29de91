/** How targets fare: what health checks found, and what else keeps a target from being used. */
import {
  DescribeTargetHealth$,
  type DescribeTargetHealthInput,
  type DescribeTargetHealthOutput,
  type TargetHealth,
  type TargetHealthDescription,
  type TargetHealthReasonEnum,
  type TargetHealthStateEnum,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Verdict } from "../balancing/checks.ts";
import { type Operations, read } from "../service.ts";
import type { Table } from "../store.ts";
import { acceptsStatus } from "./health-check.ts";
import {
  type Elbv2,
  groupsIn,
  keyMeant,
  type Listener,
  loadBalancersOf,
  type Rule,
  type Target,
  type TargetGroup,
  targetGroupAt,
  targetKey,
} from "./state.ts";

/** The operation that tells it. */
export function targetHealthOperations(elbv2: Elbv2): Operations {
  return [
    read<DescribeTargetHealthInput, DescribeTargetHealthOutput>(DescribeTargetHealth$, (input) => {
      const group = targetGroupAt(elbv2, input.TargetGroupArn);
      const present = targetsOf(elbv2, group.arn);
      if (!input.Targets?.length) return { TargetHealthDescriptions: present.map((target) => describe(elbv2, group, target)) };
      const byKey = new Map(present.map((target) => [targetKey(target), target]));
      return {
        TargetHealthDescriptions: input.Targets.map((asked) => {
          const target = byKey.get(keyMeant(group, asked));
          if (target !== undefined) return describe(elbv2, group, target);
          const health = told("unused", "Target.NotRegistered", "Target is not registered to the target group");
          return { Target: { Id: asked.Id, Port: asked.Port ?? group.port }, TargetHealth: health };
        }),
      };
    }),
  ];
}

/** The targets of a group; terminated instances drop out by themselves. */
export function targetsOf(elbv2: Elbv2, groupArn: string): readonly Target[] {
  return elbv2.found.targetsByGroup(groupArn).filter((target) => !isGone(elbv2, target));
}

/** Keeps something that forwards. Groups that come into use with it start being checked; those used before go on as they are. */
export function put<T extends Pick<Listener | Rule, "arn" | "actions">>(elbv2: Elbv2, table: Table<T>, record: T): T {
  const fresh = groupsIn(record.actions).filter((group) => loadBalancersOf(elbv2, group).length === 0);
  table.put(record.arn, record);
  for (const group of fresh) beginChecks(elbv2, group);
  return record;
}

/** A group that came into use: what was known of its targets before says nothing now. */
function beginChecks(elbv2: Elbv2, groupArn: string): void {
  for (const target of targetsOf(elbv2, groupArn)) {
    elbv2.checks.forget(targetKey(target));
    elbv2.targets.update(targetKey(target), { verdict: { kind: "pending" }, checked: false });
  }
  watchTargets(elbv2, groupArn);
}

/** Keeps checking the targets of a group while it is in use. */
export function watchTargets(elbv2: Elbv2, groupArn: string): void {
  elbv2.checks.start(
    groupArn,
    () => {
      const group = elbv2.targetGroups.get(groupArn);
      const used = group !== undefined && loadBalancersOf(elbv2, groupArn).length > 0;
      return used && group.check.enabled && targetsOf(elbv2, groupArn).length > 0 ? group.check.interval : undefined;
    },
    (checks) => round(elbv2, elbv2.targetGroups.get(groupArn)!, checks),
  );
}

function round(elbv2: Elbv2, group: TargetGroup, checks: number): void {
  const active = loadBalancersOf(elbv2, group.arn).some((arn) => elbv2.loadBalancers.get(arn)?.state === "active");
  for (const target of elbv2.found.targetsByGroup(group.arn)) {
    if (isGone(elbv2, target)) elbv2.targets.delete(targetKey(target));
    else if (active) ask(elbv2, group, target, checks);
  }
}

function isGone({ account }: Elbv2, { id }: Target): boolean {
  return id.startsWith("i-") && (account.ec2.instances.get(id)?.state ?? "terminated") === "terminated";
}

function ask(elbv2: Elbv2, group: TargetGroup, target: Target, checks: number): void {
  if (target.drainingSince !== undefined) return;
  const { ec2 } = elbv2.account;
  const key = targetKey(target);
  const instance = ec2.instances.get(target.id);
  if (group.targetType === "instance" && instance?.state !== "running") {
    elbv2.checks.forget(key);
    if (target.checked) elbv2.targets.update(key, { verdict: { kind: "pending" }, checked: false });
    return;
  }
  const networkInterface = instance && ec2.interfaces.get(instance.interfaceIds[0] ?? "");
  const addresses = group.ipAddressType === "ipv6" ? networkInterface?.ipv6Addresses : networkInterface?.privateAddresses;
  const { check } = group;
  const place = {
    instanceId: instance?.id,
    address: instance === undefined ? target.id : (addresses?.[0] ?? ""),
    port: check.port === "traffic-port" ? target.port : Number(check.port),
  };
  const asked = {
    protocol: check.protocol,
    path: check.path,
    healthyThreshold: check.healthyThreshold,
    unhealthyThreshold: check.unhealthyThreshold,
    accepts: (status: number) => acceptsStatus(check.codes, status),
    grpc: group.version === "GRPC",
  };
  const verdict = elbv2.checks.ask(key, place, asked, checks, target.verdict);
  if (verdict !== target.verdict && (verdict.kind !== target.verdict.kind || verdict.kind === "unhealthy")) {
    elbv2.targets.update(key, { verdict, checked: true });
  } else if (!target.checked) elbv2.targets.update(key, { checked: true });
}

function describe(elbv2: Elbv2, group: TargetGroup, target: Target): TargetHealthDescription {
  const { check } = group;
  if (group.targetType === "lambda") return { Target: { Id: target.id }, TargetHealth: healthOf(elbv2, group, target) };
  return {
    Target: { Id: target.id, Port: target.port, AvailabilityZone: target.zone, QuicServerId: target.quicServerId },
    HealthCheckPort: check.port === "traffic-port" ? String(target.port) : check.port,
    TargetHealth: healthOf(elbv2, group, target),
  };
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

function told(State: TargetHealthStateEnum, Reason: TargetHealthReasonEnum, Description: string): TargetHealth {
  return { State, Reason, Description };
}
