/** Groups: making, changing, tagging, describing and deleting them. */
import type { RunInstancesRequest } from "@aws-sdk/client-ec2";
import { arn } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { findGroup, livingMembers, membersOf, page } from "./lookups.ts";
import { adjustSoon, terminateMember, watchHealth } from "./scaling.ts";
import type { AutoScaling, Group, GroupTag, Member } from "./state.ts";

const GROUP_PAGES = { usual: 50, max: 100 };
const MAX_TAGS = 50;

/** A tag as requests and answers carry it. */
export interface TagInput {
  readonly ResourceId?: string;
  readonly ResourceType?: string;
  readonly Key: string;
  readonly Value?: string;
  readonly PropagateAtLaunch?: boolean;
}

interface Sizes {
  readonly MinSize?: number;
  readonly MaxSize?: number;
  readonly DesiredCapacity?: number;
}

/** What CreateAutoScalingGroup takes; `launch` stands for the configuration or the instance that a request names. */
export interface CreateGroupInput extends Sizes {
  readonly AutoScalingGroupName: string;
  /** Subnet ids with commas between them. */
  readonly VPCZoneIdentifier: string;
  readonly HealthCheckGracePeriod?: number;
  readonly NewInstancesProtectedFromScaleIn?: boolean;
  readonly Tags?: readonly TagInput[];
  readonly launch: RunInstancesRequest;
  readonly LaunchConfigurationName?: string;
}

/** Makes a group and lets it come to its capacity. */
export function createAutoScalingGroup(as: AutoScaling, input: CreateGroupInput): Group {
  const { AutoScalingGroupName: name } = input;
  if (as.groups.has(name)) {
    throw new ServiceError("AlreadyExists", `AutoScalingGroup by this name already exists - A group with the name ${name} already exists`);
  }
  const subnetIds = input.VPCZoneIdentifier.split(",").map((id) => id.trim());
  const unknown = subnetIds.filter((id) => !as.account.ec2.subnets.has(id));
  if (unknown.length > 0) throw new ServiceError("ValidationError", `The subnet ID '${unknown.join(", ")}' does not exist`);
  const { MinSize: min = 0, MaxSize: max = 0, DesiredCapacity: desired = min } = input;
  checkSizes(min, max, desired);
  const group = as.groups.put(name, {
    name,
    arn: arn(as.account, "autoscaling", `autoScalingGroup:${as.account.ids.uuid()}:autoScalingGroupName/${name}`),
    min,
    max,
    desired,
    subnetIds,
    launch: input.launch,
    launchConfiguration: input.LaunchConfigurationName,
    healthCheckGraceMs: (input.HealthCheckGracePeriod ?? 0) * 1000,
    newInstancesProtected: input.NewInstancesProtectedFromScaleIn ?? false,
    suspended: [],
    tags: withTags([], input.Tags ?? []),
    created: as.account.time.now(),
    deleting: false,
  });
  adjustSoon(as, name, `a user request created an AutoScalingGroup changing the desired capacity from 0 to ${desired}`);
  watchHealth(as, name);
  return group;
}

/** Changes the sizes of a group; a desired capacity outside the new limits moves to the nearer one. */
export function updateAutoScalingGroup(as: AutoScaling, input: Sizes & { readonly AutoScalingGroupName: string }): void {
  const group = findGroup(as, input.AutoScalingGroupName);
  const { MinSize: min = group.min, MaxSize: max = group.max } = input;
  const desired = input.DesiredCapacity ?? Math.min(max, Math.max(min, group.desired));
  checkSizes(min, max, desired);
  as.groups.update(group.name, { min, max, desired });
  adjustSoon(as, group.name, `a user request changed the desired capacity from ${group.desired} to ${desired}`);
}

export function setDesiredCapacity(
  as: AutoScaling,
  input: { readonly AutoScalingGroupName: string; readonly DesiredCapacity: number },
): void {
  const group = findGroup(as, input.AutoScalingGroupName);
  const { DesiredCapacity: desired } = input;
  if (desired < group.min)
    throw new ServiceError(
      "ValidationError",
      `New SetDesiredCapacity value ${desired} is below min value ${group.min} for the AutoScalingGroup.`,
    );
  if (desired > group.max)
    throw new ServiceError(
      "ValidationError",
      `New SetDesiredCapacity value ${desired} is above max value ${group.max} for the AutoScalingGroup.`,
    );
  as.groups.update(group.name, { desired });
  adjustSoon(as, group.name, `a user request changed the desired capacity from ${group.desired} to ${desired}`);
}

/** Deletes a group that is empty; by force it ends its instances first. */
export function deleteAutoScalingGroup(
  as: AutoScaling,
  input: { readonly AutoScalingGroupName: string; readonly ForceDelete?: boolean },
): void {
  const group = findGroup(as, input.AutoScalingGroupName);
  const members = membersOf(as, group.name);
  if (members.length > 0 && !input.ForceDelete) {
    throw new ServiceError(
      "ResourceInUse",
      "You cannot delete an AutoScalingGroup while there are instances or pending Spot instance request(s) still in the group.",
    );
  }
  for (const hook of as.hooks.values()) if (hook.group === group.name) as.hooks.delete(`${group.name} ${hook.name}`);
  if (members.length === 0) as.groups.delete(group.name);
  else {
    const deleting = as.groups.update(group.name, { min: 0, desired: 0, deleting: true });
    for (const member of livingMembers(as, group.name))
      terminateMember(as, deleting, member, "a user request force-deleted the AutoScalingGroup");
  }
}

/** The processes that the model has. */
export type Process = "Launch" | "Terminate" | "ReplaceUnhealthy";

interface ProcessInput {
  readonly AutoScalingGroupName: string;
  readonly ScalingProcesses: readonly Process[];
}

export function suspendProcesses(as: AutoScaling, input: ProcessInput): void {
  const { name, suspended } = findGroup(as, input.AutoScalingGroupName);
  as.groups.update(name, { suspended: [...new Set([...suspended, ...input.ScalingProcesses])] });
}

/** Lets processes run again; what they left undone they do now. */
export function resumeProcesses(as: AutoScaling, input: ProcessInput): void {
  const { name, suspended } = findGroup(as, input.AutoScalingGroupName);
  as.groups.update(name, { suspended: suspended.filter((process) => !input.ScalingProcesses.includes(process as Process)) });
  adjustSoon(as, name, "processes were resumed in response to a user request");
}

/** Groups by name, or all; a name that is unknown is left out. Filters are those of tags. */
export function describeAutoScalingGroups(
  as: AutoScaling,
  input: {
    readonly AutoScalingGroupNames?: readonly string[];
    readonly Filters?: readonly { readonly Name: string; readonly Values: readonly string[] }[];
    readonly MaxRecords?: number;
    readonly NextToken?: string;
  } = {},
) {
  const most = input.MaxRecords ?? GROUP_PAGES.usual;
  if ((input.AutoScalingGroupNames?.length ?? 0) > most)
    throw new ServiceError("ValidationError", `The number of group names that may be given is limited to ${most}`);
  const named = as.groups.values().filter(({ name }) => !input.AutoScalingGroupNames?.length || input.AutoScalingGroupNames.includes(name));
  const matching = named.filter((group) => (input.Filters ?? []).every((filter) => group.tags.some((tag) => passes(tag, filter))));
  const { items, NextToken } = page(matching, ({ name }) => name, input, GROUP_PAGES);
  return { AutoScalingGroups: items.map((group) => describe(as, group)), NextToken };
}

/** Puts tags on groups; each names its own. */
export function createOrUpdateTags(as: AutoScaling, input: { readonly Tags: readonly TagInput[] }): void {
  for (const tag of input.Tags) {
    const group = findGroup(as, tag.ResourceId ?? "");
    as.groups.update(group.name, { tags: withTags(group.tags, [tag]) });
  }
}

export function deleteTags(as: AutoScaling, input: { readonly Tags: readonly TagInput[] }): void {
  for (const { ResourceId = "", Key } of input.Tags) {
    const group = findGroup(as, ResourceId);
    as.groups.update(group.name, { tags: group.tags.filter(({ key }) => key !== Key) });
  }
}

/** What was done to a group, newest first. */
export function describeScalingActivities(as: AutoScaling, input: { readonly AutoScalingGroupName?: string } = {}) {
  const activities = as.activities
    .values()
    .filter(({ group }) => input.AutoScalingGroupName === undefined || group === input.AutoScalingGroupName);
  return {
    Activities: activities.reverse().map((activity) => ({
      ActivityId: activity.id,
      AutoScalingGroupName: activity.group,
      Description: activity.description,
      Cause: activity.cause,
      StartTime: new Date(activity.started),
      EndTime: activity.ended === undefined ? undefined : new Date(activity.ended),
      StatusCode: activity.status,
      Progress: activity.ended === undefined ? 50 : 100,
    })),
  };
}

function describe(as: AutoScaling, group: Group) {
  return {
    AutoScalingGroupName: group.name,
    AutoScalingGroupARN: group.arn,
    MinSize: group.min,
    MaxSize: group.max,
    DesiredCapacity: group.desired,
    DefaultCooldown: 300,
    TerminationPolicies: ["Default"],
    ServiceLinkedRoleARN: serviceRole(as),
    CapacityRebalance: false,
    LaunchConfigurationName: group.launchConfiguration,
    AvailabilityZones: group.subnetIds.map((id) => as.account.ec2.subnets.get(id)?.zone ?? ""),
    VPCZoneIdentifier: group.subnetIds.join(","),
    HealthCheckType: "EC2",
    HealthCheckGracePeriod: group.healthCheckGraceMs / 1000,
    NewInstancesProtectedFromScaleIn: group.newInstancesProtected,
    SuspendedProcesses: group.suspended.map((ProcessName) => ({ ProcessName })),
    CreatedTime: new Date(group.created),
    Status: group.deleting ? "Delete in progress" : undefined,
    Instances: membersOf(as, group.name).map(describeMember),
    Tags: group.tags.map(({ key, value, propagate }) => ({
      ResourceId: group.name,
      ResourceType: "auto-scaling-group",
      Key: key,
      Value: value,
      PropagateAtLaunch: propagate,
    })),
  };
}

function serviceRole({ account }: AutoScaling): string {
  return `arn:${account.partition}:iam::${account.id}:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling`;
}

/** A member as answers show it. */
export function describeMember(member: Member) {
  return {
    InstanceId: member.instanceId,
    InstanceType: member.type,
    AvailabilityZone: member.zone,
    LifecycleState: member.state,
    HealthStatus: member.healthy ? "Healthy" : "Unhealthy",
    ProtectedFromScaleIn: member.protected,
  };
}

function checkSizes(min: number, max: number, desired: number): void {
  if (min < 0 || max < min)
    throw new ServiceError("ValidationError", "Max bound, min bound and desired capacity must be such that min <= max.");
  if (desired < min || desired > max) {
    throw new ServiceError(
      "ValidationError",
      `Desired capacity:${desired} must be between the specified min size:${min} and max size:${max}`,
    );
  }
}

function withTags(tags: readonly GroupTag[], added: readonly TagInput[]): readonly GroupTag[] {
  const merged = new Map(tags.map((tag) => [tag.key, tag]));
  for (const { Key: key, Value: value = "", PropagateAtLaunch: propagate = false } of added) {
    if (key === "" || key.length > 128 || key.startsWith("aws:"))
      throw new ServiceError("ValidationError", `Tag key '${key}' is not valid.`);
    merged.set(key, { key, value, propagate });
  }
  if (merged.size > MAX_TAGS) throw new ServiceError("LimitExceeded", `An Auto Scaling group can have ${MAX_TAGS} tags.`);
  return [...merged.values()];
}

function passes(tag: GroupTag, { Name, Values }: { readonly Name: string; readonly Values: readonly string[] }): boolean {
  if (Name === "tag-key") return Values.includes(tag.key);
  if (Name === "tag-value") return Values.includes(tag.value);
  if (Name.startsWith("tag:")) return tag.key === Name.slice(4) && Values.includes(tag.value);
  throw new ServiceError("ValidationError", `Filter type ${Name} is not correct.`);
}
