import { Clouds } from "../../src/aws/cloud.ts";
import { describeInstances } from "../../src/aws/ec2-actions.ts";
import {
  changeMessageVisibilityBatch,
  completeLifecycleAction,
  deleteMessageBatch,
  describeLifecycleHooks,
  receiveMessage,
  recordLifecycleActionHeartbeat,
} from "../../src/aws/queue-actions.ts";
import { noSettings } from "../../src/aws/settings.ts";
import { openGate } from "../../src/runtime/gate.ts";
import type { Host } from "../../src/runtime/host.ts";
import { openLogs } from "../../src/runtime/logs.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import { virtualWorld } from "../../src/sandbox/virtual-clock.ts";

/** Credentials that the simulated account takes. */
export const environment = { AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE", AWS_SECRET_ACCESS_KEY: "of-no-worth" };

let loaded: Promise<void> | undefined;

/** The SDK's code is read from files, for which virtual time does not wait. */
export function loadSdk(): Promise<void> {
  loaded ??= (async () => {
    const world = virtualWorld(1, { environment });
    const host: Host = {
      world,
      log: openLogs(world.clock, { format: "json", verbosity: 0, destination: { write() {}, flush() {} } }).log,
      metrics: newRegistry(),
    };
    const clouds = new Clouds({
      host,
      transport: () => Promise.reject(new Error("asks nobody")),
      gate: openGate(),
      settings: noSettings,
      version: "v0",
    });
    const cloud = clouds.in("us-east-1");
    const actions = [
      describeInstances,
      receiveMessage,
      deleteMessageBatch,
      changeMessageVisibilityBatch,
      completeLifecycleAction,
      recordLifecycleActionHeartbeat,
      describeLifecycleHooks,
    ];
    for (const action of actions) await cloud.preload(action);
  })();
  return loaded;
}
