/** This machine with a clock that runs faster: what waits for AWS waits for a fraction of the time, and for the same on its own clock. */
import assert from "node:assert/strict";
import { realWorld, type World } from "../../src/runtime/world.ts";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { eventually } from "./eventually.ts";

/** A world in which `factor` seconds pass in each second. */
export function hurriedWorld(factor: number, environment: World["environment"]): World {
  const real = realWorld();
  const [wall, start] = [real.clock.now(), real.clock.monotonic()];
  const passed = () => (real.clock.monotonic() - start) * factor;
  return {
    ...real,
    environment,
    hostname: "node",
    clock: {
      now: () => wall + passed(),
      monotonic: passed,
      after: (ms, callback) => real.clock.after(ms / factor, callback),
    },
  };
}

/** Waits until the instances run: EC2 attaches no volume to one that has not booted. */
export async function booted(aws: Cloud, instances: readonly Instance[]): Promise<void> {
  await eventually(() => {
    aws.account.time.settle();
    for (const { id } of instances) assert.equal(aws.account.ec2.instances.get(id)?.state, "running");
  });
}
