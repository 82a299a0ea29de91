/** What Auto Scaling does by itself: launches, terminates, replaces, and goes on when a hook lets it. */
import { terminate } from "../ec2/instance-lifecycle.ts";
import { runInstances } from "../ec2/run-instances.ts";
import type { Instance } from "../ec2/state.ts";
import { ServiceError } from "../errors.ts";
import { holdInHooks } from "./hooks.ts";
import { livingMembers, membersOf } from "./lookups.ts";
import type { Activity, AutoScaling, Group, LifecycleAction, Member } from "./state.ts";

/** From a change of the wanted capacity to what follows from it. */
const REACTION_MS = 2000;
/** A launched instance is looked at after this long. */
const LAUNCH_MS = 20_000;
/** EC2 needs this long to end an instance. */
const TERMINATION_MS = 45_000;
/** Between two looks at the health of all members. */
const HEALTH_MS = 30_000;
const MEMORY_OF_ACTIVITIES_MS = 42 * 24 * 3_600_000;

/** Lets a group come to its desired capacity, in a moment. */
export function adjustSoon(as: AutoScaling, name: string, cause: string): void {
  as.account.time.after(REACTION_MS, () => {
    const group = as.groups.get(name);
    if (group !== undefined) adjust(as, group, cause);
  });
}

/** Looks after the health of a group's members for as long as it exists. The rounds keep their pace at unlimited speed. */
export function watchHealth(as: AutoScaling, name: string): void {
  as.account.time.forgetAfter(HEALTH_MS, () => {
    const group = as.groups.get(name);
    if (group === undefined) return;
    for (const member of livingMembers(as, name)) {
      if (member.state !== "InService" && member.state !== "Pending:Wait") continue;
      const { healthy } = as.members.update(member.instanceId, { healthy: member.healthy && isRunning(as, member.instanceId) });
      if (!healthy && !group.suspended.includes("ReplaceUnhealthy")) {
        terminateMember(as, group, member, "an instance was taken out of service in response to an EC2 health check");
      }
    }
    adjust(as, group, "an instance was taken out of service");
    watchHealth(as, name);
  });
}

/** Moves one instance from the fullest zone to the emptiest: the new one is in service before the old one goes. */
export function rebalanceZones(as: AutoScaling, group: Group): void {
  const counts = zoneCounts(as, group);
  const [fullest] = [...counts].sort((a, b) => b[1] - a[1]);
  const old = livingMembers(as, group.name).find(({ zone, state }) => zone === fullest?.[0] && state === "InService");
  if (old !== undefined) launch(as, group, "instances were launched to balance the zones", old.instanceId);
}

/** Starts the end of a member, through its hooks. */
export function terminateMember(as: AutoScaling, group: Group, member: Member, cause: string): void {
  const activity = record(as, group.name, member.instanceId, `Terminating EC2 instance: ${member.instanceId}`, cause);
  dropActions(as, member.instanceId);
  const leaving = as.members.update(member.instanceId, { state: "Terminating" });
  const held = holdInHooks(as, group, leaving, "autoscaling:EC2_INSTANCE_TERMINATING", (action) => expire(as, action));
  if (held) {
    as.members.update(member.instanceId, { state: "Terminating:Wait" });
    as.activities.update(activity.id, { status: "MidLifecycleAction" });
  } else end(as, leaving, "Terminating");
}

/** An action is over, with a result. The last one lets the instance go on; an abandoned launch ends it. */
export function actionOver(as: AutoScaling, action: LifecycleAction, result: "CONTINUE" | "ABANDON"): void {
  const member = as.members.get(action.instanceId);
  const group = as.groups.get(action.group);
  if (member === undefined || group === undefined) return;
  if (result === "ABANDON") dropActions(as, member.instanceId);
  if (as.actions.values().some(({ instanceId }) => instanceId === member.instanceId)) return;
  if (action.transition === "autoscaling:EC2_INSTANCE_TERMINATING") end(as, member, "Terminating:Proceed");
  else if (result === "CONTINUE") enterService(as, group, member);
  else abandonLaunch(as, group, member);
}

function abandonLaunch(as: AutoScaling, group: Group, member: Member): void {
  finish(as, member.instanceId, "Cancelled");
  record(
    as,
    group.name,
    member.instanceId,
    `Terminating EC2 instance: ${member.instanceId}`,
    "the launch was abandoned by a lifecycle hook",
  );
  end(as, member, "Terminating:Proceed");
}

/** The time of an action is over: what the hook says by default happens. */
export function expire(as: AutoScaling, action: LifecycleAction): void {
  const hook = as.hooks.get(`${action.group} ${action.hook}`);
  as.actions.delete(action.token);
  actionOver(as, action, hook?.defaultResult ?? "ABANDON");
}

/** Launches or terminates as many as it takes. */
function adjust(as: AutoScaling, group: Group, cause: string): void {
  const living = livingMembers(as, group.name).filter(({ state, replaces }) => state !== "Standby" && replaces === undefined);
  const missing = group.desired - living.length;
  if (missing > 0 && !group.deleting && !group.suspended.includes("Launch")) {
    for (let index = 0; index < missing; index++) if (!launch(as, group, cause)) return;
  }
  if (missing < 0 && !group.suspended.includes("Terminate")) {
    for (let index = 0; index < -missing; index++) {
      const victim = scaleInVictim(as, group);
      if (victim !== undefined) terminateMember(as, group, victim, cause);
    }
  }
}

/** Of the zone that has the most, the oldest that is not protected. */
function scaleInVictim(as: AutoScaling, group: Group): Member | undefined {
  const counts = zoneCounts(as, group);
  return livingMembers(as, group.name)
    .filter((member) => (!member.protected || group.deleting) && member.state !== "Standby")
    .sort((a, b) => (counts.get(b.zone) ?? 0) - (counts.get(a.zone) ?? 0) || a.launched - b.launched)[0];
}

/** Launches one instance where the group has the fewest. What EC2 refuses is an activity that failed. */
function launch(as: AutoScaling, group: Group, cause: string, replaces?: string): boolean {
  const { ec2, time } = as.account;
  const counts = zoneCounts(as, group);
  const [subnetId] = [...group.subnetIds].sort((a, b) => (counts.get(zoneOf(as, a)) ?? 0) - (counts.get(zoneOf(as, b)) ?? 0));
  let instance: Instance;
  try {
    [instance] = runInstances(ec2, { ...group.launch, SubnetId: subnetId, MinCount: 1, MaxCount: 1, ClientToken: undefined }) as [Instance];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    record(
      as,
      group.name,
      "",
      `Launching a new EC2 instance. Status Reason: ${error.message} Launching EC2 instance failed.`,
      cause,
      "Failed",
    );
    return false;
  }
  const propagated = group.tags.filter(({ propagate }) => propagate).map(({ key, value }) => [key, value]);
  ec2.instances.update(instance.id, {
    tags: { ...instance.tags, ...Object.fromEntries(propagated), "aws:autoscaling:groupName": group.name },
  });
  as.members.put(instance.id, {
    instanceId: instance.id,
    group: group.name,
    zone: instance.zone,
    type: instance.type,
    state: "Pending",
    healthy: true,
    protected: group.newInstancesProtected,
    launched: time.now(),
    replaces,
  });
  record(as, group.name, instance.id, `Launching a new EC2 instance: ${instance.id}`, cause);
  time.after(LAUNCH_MS, () => launched(as, instance.id));
  return true;
}

/** The instance runs: hooks hold it, or it is in service. */
function launched(as: AutoScaling, instanceId: string): void {
  const member = as.members.get(instanceId);
  const group = member && as.groups.get(member.group);
  if (group === undefined || member?.state !== "Pending") return;
  if (!isRunning(as, instanceId)) {
    finish(as, instanceId, "Failed");
    dropMember(as, instanceId);
    adjustSoon(as, group.name, "a launched instance did not come to run");
    return;
  }
  const waiting = as.members.update(instanceId, { state: "Pending:Wait" });
  const held = holdInHooks(as, group, waiting, "autoscaling:EC2_INSTANCE_LAUNCHING", (action) => expire(as, action));
  if (held) setStatus(as, instanceId, "MidLifecycleAction");
  else enterService(as, group, waiting);
}

function enterService(as: AutoScaling, group: Group, member: Member): void {
  as.members.update(member.instanceId, { state: "InService", replaces: undefined });
  finish(as, member.instanceId, "Successful");
  const old = member.replaces === undefined ? undefined : as.members.get(member.replaces);
  if (old !== undefined && !old.state.startsWith("Terminating"))
    terminateMember(as, group, old, "an instance was replaced to balance the zones");
}

/** Nothing holds the member any more: EC2 ends it, and the group forgets it. */
function end(as: AutoScaling, member: Member, state: Member["state"]): void {
  const { ec2, time } = as.account;
  as.members.update(member.instanceId, { state });
  const instance = ec2.instances.get(member.instanceId);
  if (instance !== undefined) terminate(ec2, instance);
  time.after(TERMINATION_MS, () => {
    finish(as, member.instanceId, "Successful");
    dropMember(as, member.instanceId);
    const group = as.groups.get(member.group);
    if (group === undefined) return;
    if (group.deleting && membersOf(as, group.name).length === 0) as.groups.delete(group.name);
    else adjust(as, group, "an instance was terminated");
  });
}

function dropMember(as: AutoScaling, instanceId: string): void {
  dropActions(as, instanceId);
  as.members.delete(instanceId);
}

function dropActions(as: AutoScaling, instanceId: string): void {
  for (const action of as.actions.values()) if (action.instanceId === instanceId) as.actions.delete(action.token);
}

function isRunning(as: AutoScaling, instanceId: string): boolean {
  const state = as.account.ec2.instances.get(instanceId)?.state;
  return state === "running";
}

function zoneOf(as: AutoScaling, subnetId: string): string {
  return as.account.ec2.subnets.get(subnetId)?.zone ?? "";
}

function zoneCounts(as: AutoScaling, group: Group): ReadonlyMap<string, number> {
  const counts = new Map(group.subnetIds.map((id) => [zoneOf(as, id), 0]));
  for (const { zone } of livingMembers(as, group.name)) counts.set(zone, (counts.get(zone) ?? 0) + 1);
  return counts;
}

function record(
  as: AutoScaling,
  group: string,
  instanceId: string,
  description: string,
  cause: string,
  status: Activity["status"] = "InProgress",
): Activity {
  const { ids, time } = as.account;
  const id = ids.uuid();
  const now = time.now();
  time.forgetAfter(MEMORY_OF_ACTIVITIES_MS, () => as.activities.delete(id));
  return as.activities.put(id, {
    id,
    group,
    description,
    cause: `At ${new Date(now).toISOString()} ${cause}.`,
    status,
    instanceId,
    started: now,
    ended: status === "Failed" ? now : undefined,
  });
}

function setStatus(as: AutoScaling, instanceId: string, status: Activity["status"]): void {
  for (const activity of running(as, instanceId)) as.activities.update(activity.id, { status });
}

function finish(as: AutoScaling, instanceId: string, status: Activity["status"]): void {
  for (const activity of running(as, instanceId)) as.activities.update(activity.id, { status, ended: as.account.time.now() });
}

function running(as: AutoScaling, instanceId: string): readonly Activity[] {
  return as.activities.values().filter((activity) => activity.instanceId === instanceId && activity.ended === undefined);
}
