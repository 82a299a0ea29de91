/** Lifecycle hooks: they hold an instance on its way in or out until somebody says go on, or their time is over. */
import { ServiceError } from "../errors.ts";
import { emit } from "../events/bus.ts";
import { lifecycleAction } from "../events/shapes.ts";
import { deliver } from "../sqs/messages.ts";
import { findGroup, findMember } from "./lookups.ts";
import type { AutoScaling, Group, Hook, LifecycleAction, Member, Transition } from "./state.ts";

const HEARTBEAT_SECONDS = { min: 30, max: 7200, usual: 3600 };
/** However many heartbeats come: 48 hours, or a hundred times the timeout. */
const MAX_HOLD_SECONDS = 172_800;
const MAX_TIMEOUTS = 100;
const MAX_HOOKS = 50;

/** What PutLifecycleHook takes. */
export interface HookInput {
  readonly AutoScalingGroupName: string;
  readonly LifecycleHookName: string;
  readonly LifecycleTransition?: string;
  readonly HeartbeatTimeout?: number;
  readonly DefaultResult?: string;
  readonly NotificationTargetARN?: string;
  readonly RoleARN?: string;
  readonly NotificationMetadata?: string;
}

/** Makes a hook or changes it: what is not given of one that exists stays. A target gets a test notification. */
export function putLifecycleHook(as: AutoScaling, input: HookInput): void {
  const group = findGroup(as, input.AutoScalingGroupName);
  const key = `${group.name} ${input.LifecycleHookName}`;
  const current = as.hooks.get(key);
  const transition = input.LifecycleTransition ?? current?.transition;
  if (transition !== "autoscaling:EC2_INSTANCE_LAUNCHING" && transition !== "autoscaling:EC2_INSTANCE_TERMINATING") {
    throw new ServiceError("ValidationError", `The LifecycleTransition '${transition}' is not valid.`);
  }
  const heartbeatSeconds = input.HeartbeatTimeout ?? current?.heartbeatSeconds ?? HEARTBEAT_SECONDS.usual;
  if (heartbeatSeconds < HEARTBEAT_SECONDS.min || heartbeatSeconds > HEARTBEAT_SECONDS.max) {
    throw new ServiceError(
      "ValidationError",
      `HeartbeatTimeout must be between ${HEARTBEAT_SECONDS.min} and ${HEARTBEAT_SECONDS.max} seconds.`,
    );
  }
  const defaultResult = input.DefaultResult ?? current?.defaultResult ?? "ABANDON";
  if (defaultResult !== "CONTINUE" && defaultResult !== "ABANDON")
    throw new ServiceError("ValidationError", `The DefaultResult '${defaultResult}' is not valid.`);
  if (current === undefined && hooksOf(as, group.name).length >= MAX_HOOKS) {
    throw new ServiceError("LimitExceeded", `An Auto Scaling group can have ${MAX_HOOKS} lifecycle hooks.`);
  }
  const hook = as.hooks.put(key, {
    name: input.LifecycleHookName,
    group: group.name,
    transition,
    heartbeatSeconds,
    defaultResult,
    targetArn: input.NotificationTargetARN ?? current?.targetArn,
    roleArn: input.RoleARN ?? current?.roleArn,
    metadata: input.NotificationMetadata ?? current?.metadata,
  });
  if (input.NotificationTargetARN)
    tell(as, hook, { AutoScalingGroupARN: group.arn, AutoScalingGroupName: group.name, Event: "autoscaling:TEST_NOTIFICATION" });
}

/** Removes a hook; instances that it holds go on. */
export function deleteLifecycleHook(
  as: AutoScaling,
  input: Pick<HookInput, "AutoScalingGroupName" | "LifecycleHookName">,
): readonly LifecycleAction[] {
  findGroup(as, input.AutoScalingGroupName);
  const key = `${input.AutoScalingGroupName} ${input.LifecycleHookName}`;
  if (!as.hooks.has(key)) throw new ServiceError("ValidationError", `No Lifecycle Hook found with name ${input.LifecycleHookName}`);
  as.hooks.delete(key);
  return as.actions.values().filter(({ group, hook }) => group === input.AutoScalingGroupName && hook === input.LifecycleHookName);
}

export function describeLifecycleHooks(
  as: AutoScaling,
  input: { readonly AutoScalingGroupName: string; readonly LifecycleHookNames?: readonly string[] },
) {
  findGroup(as, input.AutoScalingGroupName);
  const hooks = hooksOf(as, input.AutoScalingGroupName).filter(({ name }) => input.LifecycleHookNames?.includes(name) ?? true);
  return {
    LifecycleHooks: hooks.map((hook) => ({
      LifecycleHookName: hook.name,
      AutoScalingGroupName: hook.group,
      LifecycleTransition: hook.transition,
      NotificationTargetARN: hook.targetArn,
      RoleARN: hook.roleArn,
      NotificationMetadata: hook.metadata,
      HeartbeatTimeout: hook.heartbeatSeconds,
      GlobalTimeout: globalSeconds(hook),
      DefaultResult: hook.defaultResult,
    })),
  };
}

/** How calls name an action: by its token, or by the instance that is held. */
export interface ActionInput {
  readonly AutoScalingGroupName: string;
  readonly LifecycleHookName: string;
  readonly LifecycleActionToken?: string;
  readonly InstanceId?: string;
}

/** Starts the timeout of an action anew, never beyond the hook's global one. */
export function recordLifecycleActionHeartbeat(as: AutoScaling, input: ActionInput, expire: (action: LifecycleAction) => void): void {
  const action = findAction(as, input);
  const hook = as.hooks.get(`${action.group} ${action.hook}`);
  if (hook === undefined) throw noAction(input);
  hold(as, { ...action, deadline: Math.min(action.lastDeadline, as.account.time.now() + hook.heartbeatSeconds * 1000) }, expire);
}

/** Takes an action off: the caller lets the instance go on its way. */
export function takeAction(as: AutoScaling, input: ActionInput): LifecycleAction {
  const action = findAction(as, input);
  as.actions.delete(action.token);
  return action;
}

/** Holds a member in every hook of a transition and tells so. Answers whether there is any. */
export function holdInHooks(
  as: AutoScaling,
  group: Group,
  member: Member,
  transition: Transition,
  expire: (action: LifecycleAction) => void,
): boolean {
  const hooks = hooksOf(as, group.name).filter((hook) => hook.transition === transition);
  for (const hook of hooks) {
    const now = as.account.time.now();
    const token = as.account.ids.uuid();
    const { instanceId } = member;
    const lastDeadline = now + globalSeconds(hook) * 1000;
    hold(
      as,
      { token, group: group.name, hook: hook.name, instanceId, transition, deadline: now + hook.heartbeatSeconds * 1000, lastDeadline },
      expire,
    );
    const detail = {
      LifecycleActionToken: token,
      AutoScalingGroupName: group.name,
      LifecycleHookName: hook.name,
      EC2InstanceId: instanceId,
      LifecycleTransition: transition,
      NotificationMetadata: hook.metadata,
      ...ends(transition),
    };
    emit(as.account, lifecycleAction(group.arn, detail));
    tell(as, hook, detail);
  }
  return hooks.length > 0;
}

/** Dates of hooks are not bent by the speed of the cloud: who completes them lives on the world's clock. */
function hold(as: AutoScaling, action: LifecycleAction, expire: (action: LifecycleAction) => void): void {
  as.actions.put(action.token, action);
  as.account.time.at(action.deadline, () => {
    if (as.actions.get(action.token)?.deadline === action.deadline) expire(action);
  });
}

function hooksOf(as: AutoScaling, group: string): readonly Hook[] {
  return as.hooks.values().filter((hook) => hook.group === group);
}

function globalSeconds({ heartbeatSeconds }: Hook): number {
  return Math.min(MAX_HOLD_SECONDS, MAX_TIMEOUTS * heartbeatSeconds);
}

function findAction(as: AutoScaling, input: ActionInput): LifecycleAction {
  findGroup(as, input.AutoScalingGroupName);
  if (!as.hooks.has(`${input.AutoScalingGroupName} ${input.LifecycleHookName}`)) {
    throw new ServiceError("ValidationError", `No Lifecycle Hook found with name ${input.LifecycleHookName}`);
  }
  if (input.LifecycleActionToken === undefined && input.InstanceId === undefined) {
    throw new ServiceError("ValidationError", "Either LifecycleActionToken or InstanceId must be provided.");
  }
  if (input.InstanceId !== undefined) findMember(as, input.InstanceId);
  const action = as.actions
    .values()
    .find(
      ({ group, hook, token, instanceId }) =>
        group === input.AutoScalingGroupName &&
        hook === input.LifecycleHookName &&
        (input.LifecycleActionToken ?? token) === token &&
        (input.InstanceId ?? instanceId) === instanceId,
    );
  if (action === undefined) throw noAction(input);
  return action;
}

function noAction({ LifecycleActionToken: token, InstanceId: instanceId }: ActionInput): ServiceError {
  const what = token === undefined ? `instance ID ${instanceId}` : `token ${token}`;
  return new ServiceError("ValidationError", `No active Lifecycle Action found with ${what}`);
}

function ends(transition: Transition) {
  const [inside, outside] = ["AutoScalingGroup", "EC2"];
  return transition.endsWith("LAUNCHING") ? { Origin: outside, Destination: inside } : { Origin: inside, Destination: outside };
}

/** The notification that goes to the hook's own target, which has no envelope. */
function tell({ account }: AutoScaling, hook: Hook, content: object): void {
  if (hook.targetArn === undefined || hook.targetArn === "") return;
  const message = {
    AccountId: account.id,
    RequestId: account.ids.uuid(),
    Service: "AWS Auto Scaling",
    Time: account.time.date().toISOString(),
    ...content,
  };
  deliver(account.sqs, hook.targetArn, JSON.stringify(message));
}
