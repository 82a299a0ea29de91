/** What the tests of the simulated cloud share: a world whose time they move, and the codes of refusals. */
import assert from "node:assert/strict";
import { EC2Client } from "@aws-sdk/client-ec2";
import { silentLog } from "../../runtime/log.ts";
import type { Clock, World } from "../../runtime/world.ts";
import { seededRandom } from "../seeded-random.ts";
import { type Cloud, type CloudOptions, createCloud } from "./cloud.ts";
import { ServiceError } from "./errors.ts";
import { type Network, type NetworkOptions, standardNetwork } from "./network.ts";
import { Shapes } from "./protocol/shapes.ts";
import { sdkConfig } from "./sdk-handler.ts";

/** A world on virtual time: `pass(ms)` moves the clock and fires what is due; `timers()` counts what still waits. */
export function testWorld(start = Date.UTC(2026, 0, 1)): World & { pass(ms: number): void; timers(): number } {
  let now = start;
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  const clock: Clock = {
    now: () => now,
    monotonic: () => now - start,
    after(ms, callback) {
      const timer = { at: now + ms, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  return {
    clock,
    random: seededRandom(7),
    files: {
      read: (path) => Promise.reject(new Error(`no file ${path} in this world`)),
      list: (path) => Promise.reject(new Error(`no folder ${path} in this world`)),
      write: (path) => Promise.reject(new Error(`no file ${path} in this world`)),
    },
    environment: {},
    hostname: "test",
    timers: () => timers.size,
    pass(ms) {
      now += ms;
      for (const timer of [...timers].sort((a, b) => a.at - b.at)) {
        if (timer.at > now) continue;
        timers.delete(timer);
        timer.callback();
      }
    },
  };
}

/** A cloud to test, its world, and a client in it. */
export interface CloudBed {
  readonly world: ReturnType<typeof testWorld>;
  readonly cloud: Cloud;
  readonly ec2: EC2Client;
}

/** A cloud on virtual time with an EC2 client plugged into it. */
export function cloudBed(options: Partial<CloudOptions> = {}): CloudBed {
  const world = testWorld();
  const cloud = createCloud({ world, log: silentLog, shapes: new Shapes(), ...options });
  return { world, cloud, ec2: new EC2Client(sdkConfig(cloud)) };
}

/** Asserts that a call is refused with this code, and returns the error's message. */
export async function refused(call: Promise<unknown>, code: string, status?: number): Promise<string> {
  try {
    await call;
  } catch (error) {
    const { name, message, $metadata } = error as Error & { readonly $metadata?: { readonly httpStatusCode?: number } };
    assert.equal(name, code, `refused with ${name} (${message}), not ${code}`);
    if (status !== undefined) assert.equal($metadata?.httpStatusCode, status);
    return message;
  }
  assert.fail(`the call went through; it should have been refused with ${code}`);
}

/** Asserts that a function over the store refuses with this code, and returns the error's message. */
export function refusal(call: () => unknown, code: string): string {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof ServiceError, String(error));
    assert.equal(error.code, code, error.message);
    return error.message;
  }
  assert.fail(`the call went through; it should have been refused with ${code}`);
}

/** A cloud with the standard network of a cluster named `test`. */
export function networkBed(
  options: Partial<NetworkOptions> = {},
  cloudOptions: Partial<CloudOptions> = {},
): CloudBed & { readonly network: Network } {
  const bed = cloudBed(cloudOptions);
  return { ...bed, network: standardNetwork(bed.cloud, { clusterId: "test", ...options }) };
}
