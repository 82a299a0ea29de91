/** Health checks of targets, round after round, and the operation that tells what they found. */
import {
  DescribeTargetHealth$,
  type DescribeTargetHealthInput,
  type DescribeTargetHealthOutput,
  type TargetHealthDescription,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { guarded } from "../balancing/firewall.ts";
import { type Operations, read } from "../service.ts";
import type { Table } from "../store.ts";
import { balancerProbe } from "../traffic/balancer-probe.ts";
import { acceptsStatus } from "./health-check.ts";
import { healthOf, isGone, targetsOf, told } from "./health-state.ts";
import { interfacesOf, placeOf } from "./places.ts";
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
  const { check } = group;
  const place = { ...placeOf(elbv2, group, target), port: check.port === "traffic-port" ? target.port : Number(check.port) };
  const asked = {
    protocol: check.protocol,
    path: check.path,
    healthyThreshold: check.healthyThreshold,
    unhealthyThreshold: check.unhealthyThreshold,
    accepts: (status: number) => acceptsStatus(check.codes, status),
    grpc: group.version === "GRPC",
  };
  const { account } = elbv2;
  const probe = group.targetType === "alb" ? balancerProbe(elbv2) : guarded(account, interfacesOf(elbv2, group.arn), account.probe);
  const verdict = elbv2.checks.ask(key, place, asked, checks, target.verdict, probe);
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
