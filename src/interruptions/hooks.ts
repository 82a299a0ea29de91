/** Lifecycle hooks of Auto Scaling: how long they hold, telling them to hold on, and letting go. */
import type { Cloud } from "../aws/cloud.ts";
import { isAwsError } from "../aws/errors.ts";
import { completeLifecycleAction, describeLifecycleHooks, recordLifecycleActionHeartbeat } from "../aws/queue-actions.ts";
import type { Log } from "../runtime/log.ts";
import type { Clock } from "../runtime/world.ts";
import type { HookRef } from "./event.ts";
import type { InterruptionSettings } from "./settings.ts";

const cause = "interruptions";
/** A hook's settings are asked for again after this long. */
const rememberMs = 10 * 60_000;

/** However many heartbeats come, Auto Scaling waits for 48 hours, or for a hundred times the hook's timeout. */
const maxHoldMs = 48 * 3_600_000;
const maxTimeouts = 100;

/** How long a hook holds: its own timeout, or longer where heartbeats come before that. */
export function holdMs(timeoutMs: number, heartbeat: InterruptionSettings["heartbeat"]): number {
  if (heartbeat === undefined || heartbeat.intervalMs >= timeoutMs) return timeoutMs;
  return Math.max(timeoutMs, Math.min(heartbeat.untilMs, maxTimeouts * timeoutMs, maxHoldMs));
}

/** What became of a call about an action: `over` is one that Auto Scaling does not wait for any more. */
export type ActionOutcome = "done" | "over";

export class Hooks {
  readonly #cloud: Cloud;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #timeouts = new Map<string, { readonly ms: Promise<number | undefined>; readonly until: number }>();

  constructor(cloud: Cloud, clock: Clock, log: Log) {
    this.#cloud = cloud;
    this.#clock = clock;
    this.#log = log;
  }

  /** How long a hook holds without a heartbeat; undefined when that cannot be found out. */
  timeout({ group, hook }: HookRef, signal: AbortSignal): Promise<number | undefined> {
    const key = `${group} ${hook}`;
    const known = this.#timeouts.get(key);
    if (known !== undefined && this.#clock.monotonic() < known.until) return known.ms;
    const ms = this.#ask(group, hook, signal);
    this.#timeouts.set(key, { ms, until: this.#clock.monotonic() + rememberMs });
    return ms;
  }

  /** Lets the instance go on. An action that is over already is as good as one that was completed. */
  async complete(ref: HookRef, result: "CONTINUE" | "ABANDON", signal: AbortSignal): Promise<ActionOutcome> {
    const input = { ...this.#named(ref), LifecycleActionResult: result };
    const target = `${ref.instanceId} in ${ref.group}/${ref.hook}`;
    return this.#orOver(this.#cloud.call(completeLifecycleAction, input, { cause, signal, urgency: "user", target, repeatable: true }));
  }

  async heartbeat(ref: HookRef, signal: AbortSignal): Promise<ActionOutcome> {
    const target = `${ref.instanceId} in ${ref.group}/${ref.hook}`;
    const options = { cause, signal, urgency: "user" as const, target, repeatable: true };
    return this.#orOver(this.#cloud.call(recordLifecycleActionHeartbeat, this.#named(ref), options));
  }

  #named({ group, hook, token, instanceId }: HookRef) {
    return {
      AutoScalingGroupName: group,
      LifecycleHookName: hook,
      InstanceId: instanceId,
      ...(token !== undefined && { LifecycleActionToken: token }),
    };
  }

  async #ask(group: string, hook: string, signal: AbortSignal): Promise<number | undefined> {
    try {
      const input = { AutoScalingGroupName: group, LifecycleHookNames: [hook] };
      const { LifecycleHooks: [found] = [] } = await this.#cloud.call(describeLifecycleHooks, input, { cause, signal });
      return found?.HeartbeatTimeout === undefined ? undefined : found.HeartbeatTimeout * 1000;
    } catch (error) {
      signal.throwIfAborted();
      this.#log.warn("cannot find out how long a lifecycle hook waits", { group, hook, error });
      return undefined;
    }
  }

  async #orOver(call: Promise<unknown>): Promise<ActionOutcome> {
    try {
      await call;
      return "done";
    } catch (error) {
      // Of a group, a hook or an action that is gone Auto Scaling says the same: the request is not valid.
      if (isAwsError(error) && error.code === "ValidationError") return "over";
      throw error;
    }
  }
}
