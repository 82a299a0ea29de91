/** Members of groups: looked up, ended, detached, put on standby; and the hooks they are held by. */
import { ServiceError } from "../errors.ts";
import { describeMember } from "./groups.ts";
import {
  type ActionInput,
  type HookInput,
  recordLifecycleActionHeartbeat as heartbeat,
  deleteLifecycleHook as removeHook,
  takeAction,
} from "./hooks.ts";
import { findGroup, findMember, page, tooLong } from "./lookups.ts";
import { actionOver, adjustSoon, expire, terminateMember } from "./scaling.ts";
import type { AutoScaling, Member } from "./state.ts";

const INSTANCE_PAGES = { usual: 50, max: 50 };
const MAX_IDS = 50;
const MAX_CHANGED = 20;

/** Members by instance id, or all. Ids that are members of nothing are left out. */
export function describeAutoScalingInstances(
  as: AutoScaling,
  input: { readonly InstanceIds?: readonly string[]; readonly MaxRecords?: number; readonly NextToken?: string } = {},
) {
  const ids = input.InstanceIds ?? [];
  if (ids.length > MAX_IDS) throw tooLong("instanceIds", `[${ids.join(", ")}]`, MAX_IDS);
  const asked = as.members.values().filter(({ instanceId }) => ids.length === 0 || ids.includes(instanceId));
  const { items, NextToken } = page(asked, ({ instanceId }) => instanceId, input, INSTANCE_PAGES);
  return { AutoScalingInstances: items.map((member) => ({ AutoScalingGroupName: member.group, ...describeMember(member) })), NextToken };
}

/** Lets an instance that a hook holds go on, or gives it up. */
export function completeLifecycleAction(as: AutoScaling, input: ActionInput & { readonly LifecycleActionResult: string }): void {
  const { LifecycleActionResult: result } = input;
  if (result !== "CONTINUE" && result !== "ABANDON")
    throw new ServiceError("ValidationError", `The LifecycleActionResult '${result}' is not valid.`);
  actionOver(as, takeAction(as, input), result);
}

export function recordLifecycleActionHeartbeat(as: AutoScaling, input: ActionInput): void {
  heartbeat(as, input, (action) => expire(as, action));
}

/** Removes a hook; what it holds goes on as if it had been continued. */
export function deleteLifecycleHook(as: AutoScaling, input: Pick<HookInput, "AutoScalingGroupName" | "LifecycleHookName">): void {
  for (const action of removeHook(as, input)) {
    as.actions.delete(action.token);
    actionOver(as, action, "CONTINUE");
  }
}

/** Ends a member through its hooks; a new one takes its place unless the capacity shrinks with it. */
export function terminateInstanceInAutoScalingGroup(
  as: AutoScaling,
  input: { readonly InstanceId: string; readonly ShouldDecrementDesiredCapacity: boolean },
): Member {
  const member = findMember(as, input.InstanceId);
  const group = findGroup(as, member.group);
  if (member.state.startsWith("Terminating")) return member;
  if (input.ShouldDecrementDesiredCapacity) shrink(as, member.group, 1);
  terminateMember(as, findGroup(as, group.name), member, "instance was taken out of service in response to a user request");
  adjustSoon(as, group.name, "an instance was taken out of service in response to a user request");
  return member;
}

/** Lets members leave their group and live on. */
export function detachInstances(as: AutoScaling, input: ChangeInput): void {
  const members = changed(as, input);
  if (input.ShouldDecrementDesiredCapacity) shrink(as, input.AutoScalingGroupName, members.length);
  const { instances } = as.account.ec2;
  for (const { instanceId } of members) {
    as.members.delete(instanceId);
    const instance = instances.get(instanceId);
    if (instance === undefined) continue;
    const { "aws:autoscaling:groupName": _, ...tags } = instance.tags;
    instances.update(instanceId, { tags });
  }
  adjustSoon(as, input.AutoScalingGroupName, "instances were detached in response to a user request");
}

/** Takes members out of service for a while; they are neither counted nor checked. */
export function enterStandby(as: AutoScaling, input: ChangeInput): void {
  const members = changed(as, input);
  const away = members.find(({ state }) => state !== "InService");
  if (away !== undefined) throw new ServiceError("ValidationError", `The instance ${away.instanceId} is not in InService.`);
  if (input.ShouldDecrementDesiredCapacity) shrink(as, input.AutoScalingGroupName, members.length);
  for (const { instanceId } of members) as.members.update(instanceId, { state: "Standby" });
  adjustSoon(as, input.AutoScalingGroupName, "instances were moved to standby in response to a user request");
}

export function exitStandby(as: AutoScaling, input: Omit<ChangeInput, "ShouldDecrementDesiredCapacity">): void {
  const members = changed(as, input);
  const away = members.find(({ state }) => state !== "Standby");
  if (away !== undefined) throw new ServiceError("ValidationError", `The instance ${away.instanceId} is not in Standby.`);
  const group = findGroup(as, input.AutoScalingGroupName);
  as.groups.update(group.name, { desired: Math.min(group.max, group.desired + members.length) });
  for (const { instanceId } of members) as.members.update(instanceId, { state: "InService" });
}

/** Says of a member what a health check would have found. A young one is left alone for its grace period, unless told otherwise. */
export function setInstanceHealth(
  as: AutoScaling,
  input: { readonly InstanceId: string; readonly HealthStatus: string; readonly ShouldRespectGracePeriod?: boolean },
): void {
  const { HealthStatus: status } = input;
  if (status !== "Healthy" && status !== "Unhealthy")
    throw new ServiceError("ValidationError", "Valid instance health states are: [Healthy, Unhealthy].");
  const { instanceId, group, launched } = findMember(as, input.InstanceId);
  const { healthCheckGraceMs } = findGroup(as, group);
  if (input.ShouldRespectGracePeriod !== false && as.account.time.now() < launched + healthCheckGraceMs) return;
  as.members.update(instanceId, { healthy: status === "Healthy" });
}

export function setInstanceProtection(
  as: AutoScaling,
  input: { readonly AutoScalingGroupName: string; readonly InstanceIds: readonly string[]; readonly ProtectedFromScaleIn: boolean },
): void {
  findGroup(as, input.AutoScalingGroupName);
  if (input.InstanceIds.length > MAX_IDS) throw tooLong("instanceIds", `[${input.InstanceIds.join(", ")}]`, MAX_IDS);
  for (const id of input.InstanceIds) as.members.update(findMember(as, id).instanceId, { protected: input.ProtectedFromScaleIn });
}

interface ChangeInput {
  readonly AutoScalingGroupName: string;
  readonly InstanceIds: readonly string[];
  readonly ShouldDecrementDesiredCapacity?: boolean;
}

function changed(as: AutoScaling, input: ChangeInput): readonly Member[] {
  const group = findGroup(as, input.AutoScalingGroupName);
  if (input.InstanceIds.length > MAX_CHANGED) throw tooLong("instanceIds", `[${input.InstanceIds.join(", ")}]`, MAX_CHANGED);
  return input.InstanceIds.map((id) => {
    const member = findMember(as, id);
    if (member.group !== group.name) {
      throw new ServiceError("ValidationError", `The instance ${id} is not part of Auto Scaling group ${group.name}.`);
    }
    return member;
  });
}

function shrink(as: AutoScaling, name: string, by: number): void {
  const group = findGroup(as, name);
  const desired = group.desired - by;
  if (desired < group.min) {
    throw new ServiceError(
      "ValidationError",
      `Currently, desiredSize equals minSize (${group.min}). Terminating instance without replacement will violate group's min size constraint.`,
    );
  }
  as.groups.update(name, { desired });
}
